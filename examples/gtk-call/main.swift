// A GTK 3 app with two streams of a call. Its button, or minimising it, shows them in picture-in-picture windows.
import CGTK
import PipSink
import PipSinkGTK

var call: CallWindow?

@MainActor
final class CallWindow {
  private let session: PictureInPictureSession
  private let display: WidgetDisplay
  private let window: UnsafeMutablePointer<GtkWidget>

  init(_ pipeline: PipelineDescription) throws {
    // The streams' pictures are a widget of the app's. Where their windows were is not remembered.
    display = try WidgetDisplay(placementPath: nil)
    session = try PictureInPictureSession(pipeline, display: display)
    window = gtk_window_new(GTK_WINDOW_TOPLEVEL)
    display.setWindow(window)
    // Each stream has a picture-in-picture window for itself.
    for id in session.engine.streamIDs { try session.addPictureInPictureWindow(for: id) }
    session.startsAutomatically = true
    buildWindow()
    let session = session
    Task { do { try await session.start() } catch { print("\(error)") } }
  }

  private func buildWindow() {
    let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
    let button = gtk_button_new_with_label("Picture in picture")
    gtk_box_pack_start(cast(box), cast(display.unsafeGtkWidget), 1, 1, 0)
    gtk_box_pack_start(cast(box), button, 0, 0, 0)
    gtk_container_add(cast(window), box)
    gtk_window_set_title(cast(window), "Call")
    gtk_window_set_default_size(cast(window), 800, 400)
    let toggle: @convention(c) (UnsafeMutablePointer<GtkWidget>?, UnsafeMutableRawPointer?) -> Void = { _, _ in
      MainActor.assumeIsolated { call?.toggle() }
    }
    g_signal_connect_data(button, "clicked", unsafeBitCast(toggle, to: GCallback.self), nil, nil, GConnectFlags(0))
    let quit: @convention(c) (UnsafeMutablePointer<GtkWidget>?, UnsafeMutableRawPointer?) -> Void = { _, _ in
      MainActor.assumeIsolated { call?.stop() }
      gtk_main_quit()
    }
    g_signal_connect_data(window, "destroy", unsafeBitCast(quit, to: GCallback.self), nil, nil, GConnectFlags(0))
    gtk_widget_show_all(window)
  }

  private func toggle() {
    for id in session.engine.streamIDs {
      do { try session.dedicatedControllers[id]?.toggle() } catch { print("\(error)") }
    }
  }

  private func stop() {
    for controller in session.controllers { controller.uninitialize() }
    session.engine.stop()
  }
}

/// What GTK's cast macros do.
func cast<Widget>(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Widget>? {
  pointer?.assumingMemoryBound(to: Widget.self)
}

do {
  try GTKDisplay.open()
  GTKMainLoop.attachMainActor()
  call = try CallWindow(
    "videotestsrc ! video/x-raw,framerate=30/1 ! appsink name=anna videotestsrc pattern=ball ! appsink name=ben")
  gtk_main()
} catch {
  print("\(error)")
}
