import CGTK
import Glibc

/// Sees that the display server has gone before GTK does.
///
/// GDK ends the program when its connection breaks, wherever it notices. This looks at the connection after every wait
/// of ``MainLoop/run()``, and at Xlib's errors; then GTK is left alone, the main actor goes on, and the program can end
/// in its own way.
@MainActor
enum DisplayWatch {
  private static var descriptor: Int32 = -1
  private static var handlers: [@MainActor () -> Void] = []
  private(set) static var isLost = false

  static func begin(_ display: OpaquePointer) {
    descriptor = pipsink_display_descriptor(display)
    if pipsink_is_x11_display(display) != 0 {
      // It must not return: Xlib would end the program.
      XSetIOErrorHandler { display in
        // Those of our own connections have a way to go on.
        if X11Connection.isOwn(display) || PictureInPictureDisplay.isOwn(display) { return 0 }
        MainActor.assumeIsolated { () -> Void in DisplayWatch.lose() }
        return 0
      }
    }
  }

  /// Calls `handler` when the display has gone. GTK must not be used from then on.
  static func onLoss(_ handler: @escaping @MainActor () -> Void) {
    handlers.append(handler)
  }

  static func look(at descriptors: UnsafeMutablePointer<GPollFD>?, count: Int) {
    guard descriptor >= 0, let descriptors else { return }
    for index in 0..<count where descriptors[index].fd == descriptor {
      let events = Int32(descriptors[index].revents)
      if events & (POLLHUP | POLLERR) != 0 { lose() }
    }
  }

  private static func lose() -> Never {
    if !isLost {
      isLost = true
      // Xlib may hold the connection's lock for ever now, and libraries that clean up at the end would wait for it.
      endWithoutCleanup()
      for handler in handlers { handler() }
    }
    MainLoop.runWithoutDisplay()
  }

  /// From any thread: whoever calls `exit`.
  private nonisolated static func endWithoutCleanup() {
    on_exit(
      { status, _ in
        fflush(nil)
        _exit(status)
      }, nil)
  }
}
