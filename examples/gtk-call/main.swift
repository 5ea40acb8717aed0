// A GTK 3 app with two streams of a call. Its button, or minimising it, shows them in picture-in-picture windows.
import CGTK
import PipSink
import PipSinkGTK

var call: CallWindow?

@MainActor
final class CallWindow: PictureInPictureControllerDelegate {
  private let engine: VideoEngine
  private let router = FrameRouter()
  private let grid: GridVideoView
  private let window: UnsafeMutablePointer<GtkWidget>
  private var controllers: [PictureInPictureController] = []
  private var background: BackgroundMonitor?

  init(_ pipeline: PipelineDescription) throws {
    engine = try VideoEngine(pipeline)
    grid = try GridVideoView()
    window = gtk_window_new(GTK_WINDOW_TOPLEVEL)
    for id in engine.streamIDs {
      // In the app: a view whose layer takes the stream's frames.
      let view = try RemoteVideoView(streamID: id)
      view.placeholder = nil
      grid.add(view)
      router.addStream(id, inApp: view.layer)
      // In picture-in-picture: a window with a controller of its own. Its place is not remembered.
      let controller = PictureInPictureController(
        contentSource: ContentSource(router: router, streamID: id),
        window: try PictureInPictureWindow(placementPath: nil))
      controller.delegate = self
      controller.handledActions = [.playPause]
      controller.startsAutomatically = true
      controllers.append(controller)
    }
    buildWindow()
    try engine.start { [router] in router.consumer(for: $0) }
  }

  private func buildWindow() {
    let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)
    let button = gtk_button_new_with_label("Picture in picture")
    gtk_box_pack_start(cast(box), cast(grid.unsafeGtkWidget), 1, 1, 0)
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
    background = BackgroundMonitor(gtkWindow: UnsafeMutableRawPointer(window)) { [weak self] isInBackground in
      for controller in self?.controllers ?? [] {
        isInBackground ? controller.applicationDidEnterBackground() : controller.applicationWillEnterForeground()
      }
    }
    gtk_widget_show_all(window)
  }

  private func toggle() {
    for controller in controllers { do { try controller.toggle() } catch { print("\(error)") } }
  }

  /// Every thread of the engine's ends, and the windows go with their controllers.
  private func stop() {
    controllers = []
    engine.stop()
  }

  func pictureInPictureControllerRestoreUserInterface(_ controller: PictureInPictureController) async -> Bool {
    gtk_window_present(cast(window))
    return true
  }

  func pictureInPictureController(_ controller: PictureInPictureController, didReceive action: PictureInPictureAction) {
    engine.isPaused.toggle()
    for controller in controllers { controller.isPaused = engine.isPaused }
  }
}

/// What GTK's cast macros do.
func cast<Widget>(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Widget>? {
  pointer?.assumingMemoryBound(to: Widget.self)
}

do {
  try GTKDisplay.open()
  MainLoop.attachMainActor()
  call = try CallWindow(
    "videotestsrc ! video/x-raw,framerate=30/1 ! appsink name=anna videotestsrc pattern=ball ! appsink name=ben")
  gtk_main()
} catch {
  print("\(error)")
}
