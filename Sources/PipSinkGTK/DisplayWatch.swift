import CGTK
import Glibc
import PipSink

/// Sees that the display server has gone before GTK does.
///
/// GDK ends the program when its connection breaks, wherever it notices. This looks at the connection after every wait
/// of ``MainLoop/run()``, at Xlib's errors, and at what GDK has to say before it ends the program; then GTK is left
/// alone, the main actor goes on, and the program can end in its own way.
@MainActor
enum DisplayWatch {
  private static var descriptor: Int32 = -1
  private static var handlers: [@MainActor () -> Void] = []
  private(set) static var isLost = false

  static func begin(_ display: OpaquePointer) {
    descriptor = pipsink_display_descriptor(display)
    if pipsink_is_x11_display(display) != 0 {
      let handler = XSetIOErrorHandler { display in
        // Those of our own connections have a way to go on.
        if X11Connection.isOwn(display) || PictureInPictureDisplay.isOwn(display) { return 0 }
        // The others are the program's, where it has a main loop of its own.
        guard DisplayWatch.mainThread.withLock({ $0 }) != nil else {
          return DisplayWatch.previousHandler.withLock { $0 }?(display) ?? 0
        }
        // It must not return: Xlib would end the program.
        MainActor.assumeIsolated { () -> Void in DisplayWatch.lose() }
        return 0
      }
      previousHandler.withLock { $0 = handler }
    }
  }

  /// On Wayland GDK says "Error flushing display", or reading from it, and calls `_exit` in the next line. To be called
  /// once, by ``MainLoop/run()``: GLib takes one writer in a program's life.
  nonisolated static func watchMessages() {
    mainThread.withLock { $0 = pthread_self() }
    g_log_set_writer_func(
      { level, fields, count, data in
        if level.rawValue & G_LOG_LEVEL_MESSAGE.rawValue != 0, DisplayWatch.isMainThread() {
          MainActor.assumeIsolated { DisplayWatch.loseIfBroken() }
        }
        return g_log_writer_default(level, fields, count, data)
      }, nil, nil)
  }

  private nonisolated static let previousHandler = Locked<(@convention(c) (OpaquePointer?) -> Int32)?>(nil)
  /// Set when the main loop is ours.
  private nonisolated static let mainThread = Locked<pthread_t?>(nil)

  private nonisolated static func isMainThread() -> Bool {
    mainThread.withLock { $0.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  private static func loseIfBroken() {
    guard descriptor >= 0, !handlers.isEmpty else { return }
    var poll = pollfd(fd: descriptor, events: 0, revents: 0)
    _ = Glibc.poll(&poll, 1, 0)
    if Int32(poll.revents) & (POLLHUP | POLLERR) != 0 { lose() }
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
