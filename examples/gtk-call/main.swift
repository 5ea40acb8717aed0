// A GTK 3 app with two streams of a call, which its button and minimising show in picture-in-picture windows.
import CGTK
import PipSink
import PipSinkGTK
import PipSinkWindows

var call: CallWindow?

@MainActor
final class CallWindow {
  private let session: PictureInPictureSession
  private let window = gtk_window_new(GTK_WINDOW_TOPLEVEL)

  init(_ pipeline: PipelineDescription) throws {
    // The display is a widget in the app's window. The places of the picture-in-picture windows are not remembered.
    let display = try WidgetDisplay(placementPath: nil)
    session = try PictureInPictureSession(pipeline, display: display)
    if let window { display.setWindow(window) }
    // Each stream gets a picture-in-picture window of its own.
    for id in session.engine.streamIDs { try session.addPictureInPictureWindow(for: id) }
    session.startsAutomatically = true
    let (box, button) = (gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), gtk_button_new_with_label("Picture in picture"))
    gtk_window_set_title(cast(window), "Call")
    gtk_box_pack_start(cast(box), cast(display.unsafeGtkWidget), 1, 1, 0)
    gtk_box_pack_start(cast(box), button, 0, 0, 0)
    gtk_container_add(cast(window), box)
    gtk_window_set_default_size(cast(window), 800, 400)
    on(button, "clicked") { MainActor.assumeIsolated { call?.toggle() } }
    on(window, "destroy") {
      Task { @MainActor in
        await call?.session.invalidate()
        gtk_main_quit()
      }
    }
    gtk_widget_show_all(window)
    Task { [session] in do { try await session.start() } catch { print("\(error)") } }
  }

  private func toggle() {
    for id in session.engine.streamIDs { try? session.dedicatedControllers[id]?.toggle() }
  }
}

/// Casts a pointer to a GTK type, as GTK's cast macros do.
func cast<T>(_ object: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<T>? { object?.assumingMemoryBound(to: T.self) }

func on(_ widget: UnsafeMutableRawPointer?, _ signal: String, _ handler: @escaping @convention(c) () -> Void) {
  g_signal_connect_data(widget, signal, handler, nil, nil, GConnectFlags(0))
}

do {
  try GTKDisplay.open()
  MainLoop.attachToGLib()
  call = try CallWindow(
    "videotestsrc ! video/x-raw,framerate=30/1 ! appsink name=anna videotestsrc pattern=ball ! appsink name=ben")
  gtk_main()
} catch {
  print("\(error)")
}
