import CGTK
import Glibc
import PipSink

/// Sees that the display server has gone, and keeps GTK and Xlib from ending the program in their own way.
///
/// GDK ends the program when its connection breaks, wherever it notices, and a call of GTK's that has lost its server
/// cannot be gone on with. So what follows depends on whose the process is:
///
/// - Where ``MainLoop/run()`` is the program's main loop, the handlers of ``GTKDisplay/onLoss(_:)`` are called on the
///   spot, within whatever the main thread was doing, and the program ends. The main actor's jobs are not run from there:
///   one of them may be what GTK was called by.
/// - In a program of somebody else's, GTK's calls return with their failures, nothing of GTK is used any more, and the
///   handlers of ``onLossInHost(_:)`` are told.
@MainActor
enum DisplayWatch {
  private static var descriptor: Int32 = -1
  /// Called when the display has gone, where the main loop is ours, the newest first.
  static var handlers: [@MainActor () -> Void] = []

  private struct State {
    /// Xlib's connections that GDK has opened for us.
    var own: Set<UInt> = []
    var isLost = false
    /// Set when the main loop is ours.
    var mainThread: pthread_t?
    /// GDK is connecting, or has another one's connection for its own.
    var isOpening = false
    var hostHandlers: [@Sendable () -> Void] = []
    var previous: IOErrorHandler?
  }

  private typealias IOErrorHandler = @convention(c) (OpaquePointer?) -> Int32

  private nonisolated static let state = Locked(State())
  private nonisolated static let handler: IOErrorHandler = { DisplayWatch.handle($0) }

  nonisolated static var isLost: Bool { state.withLock { $0.isLost } }

  /// How long the handlers may take to end the program, in seconds.
  private nonisolated static let patience: UInt32 = 10

  // MARK: - The display

  /// To be called before GDK connects.
  static func prepare() {
    // GDK sets handlers of its own when it makes this class, and not again.
    g_type_class_ref(gdk_x11_display_get_type())
    install()
    state.withLock { $0.isOpening = true }
  }

  /// To be called when GDK has connected, or has failed to.
  ///
  /// - Parameter isHosts: whether the program had opened the display before; then its end is the program's business.
  static func begin(_ display: OpaquePointer?, isHosts: Bool) {
    state.withLock { $0.isOpening = false }
    guard let display, !isHosts else { return }
    descriptor = pipsink_display_descriptor(display)
    if pipsink_is_x11_display(display) != 0 {
      watch(gdk_x11_display_get_xdisplay(display))
      install()
    }
  }

  private static func watch(_ connection: OpaquePointer) {
    _ = state.withLock { $0.own.insert(UInt(bitPattern: connection)) }
    // Xlib's own one ends the program.
    XSetIOErrorExitHandler(connection, { display, _ in DisplayWatch.silence(display) }, nil)
  }

  private static func install() {
    let previous = XSetIOErrorHandler(handler)
    let address = { (handler: IOErrorHandler?) in handler.map { unsafeBitCast($0, to: UInt.self) } }
    guard address(previous) != address(handler) else { return }
    state.withLock { $0.previous = previous }
  }

  // MARK: - Noticing

  /// Called by Xlib when a connection has broken, on the thread whose call has found out.
  private nonisolated static func handle(_ connection: OpaquePointer?) -> Int32 {
    let key = connection.map { UInt(bitPattern: $0) }
    let (isOwn, isOpening, previous) = state.withLock { state in
      (key.map { state.own.contains($0) } ?? false, state.isOpening, state.previous)
    }
    if isMainThread { MainActor.assumeIsolated { lose() } }
    // While it connects in a program of somebody else's, there is no way to keep Xlib from ending that.
    guard isOwn, !isOpening, let connection else { return previous?(connection) ?? 0 }
    // Xlib keeps the connection locked for this thread; others that call it, such as a library's destructor at the end
    // of the program, would wait for ever.
    XUnlockDisplay(connection)
    if isHosted { noteLossInHost() }
    return 0
  }

  /// Whether the process is a program of somebody else's.
  private nonisolated static var isHosted: Bool { state.withLock { $0.mainThread == nil } }

  /// Main loops in which GDK looks at a dead connection's descriptor find it readable for ever. Nobody reads it any more,
  /// so that another file can take its place. In our own program nothing waits for it any more.
  nonisolated static func silence(_ connection: OpaquePointer?) {
    guard isHosted, isLost, let connection else { return }
    let quiet = eventfd(0, Int32(EFD_CLOEXEC))
    guard quiet >= 0 else { return }
    dup2(quiet, XConnectionNumber(connection))
    close(quiet)
  }

  /// On Wayland GDK says "Error flushing display", or reading from it, and calls `_exit` in the next line. To be called
  /// once, by ``MainLoop/run()``: GLib takes one writer in a program's life.
  nonisolated static func watchMessages() {
    state.withLock { $0.mainThread = pthread_self() }
    g_log_set_writer_func(
      { level, fields, count, data in
        if level.rawValue & G_LOG_LEVEL_MESSAGE.rawValue != 0, DisplayWatch.isMainThread {
          let isEnd = fields.map { DisplayWatch.isEnd($0, count: Int(count)) } ?? false
          MainActor.assumeIsolated { if isEnd || DisplayWatch.isBroken { DisplayWatch.lose() } }
        }
        return g_log_writer_default(level, fields, count, data)
      }, nil, nil)
  }

  private nonisolated static var isMainThread: Bool {
    state.withLock { state in state.mainThread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  /// While it connects, and where the compositor has refused a request, GDK's words are all there is to go by.
  private nonisolated static func isEnd(_ fields: UnsafePointer<GLogField>, count: Int) -> Bool {
    let texts = (0..<count).reduce(into: [String: String]()) { texts, index in
      let field = fields[index]
      // Others' values may be any bytes.
      guard let key = field.key.map({ String(cString: $0) }), ["GLIB_DOMAIN", "MESSAGE"].contains(key),
        field.length < 0,
        let value = field.value
      else { return }
      texts[key] = String(cString: value.assumingMemoryBound(to: CChar.self))
    }
    guard texts["GLIB_DOMAIN"] == "Gdk", let message = texts["MESSAGE"] else { return false }
    return message.hasPrefix("Error ") || message.hasPrefix("Lost connection ")
  }

  private static var isBroken: Bool {
    guard descriptor >= 0 else { return false }
    var poll = pollfd(fd: descriptor, events: 0, revents: 0)
    _ = Glibc.poll(&poll, 1, 0)
    return Int32(poll.revents) & (POLLHUP | POLLERR) != 0
  }

  static func look(at descriptors: UnsafeMutablePointer<GPollFD>?, count: Int) {
    guard descriptor >= 0, let descriptors else { return }
    for index in 0..<count where descriptors[index].fd == descriptor {
      let events = Int32(descriptors[index].revents)
      if events & (POLLHUP | POLLERR) != 0 { lose() }
    }
  }

  // MARK: - What follows

  /// Calls `handler` once when the display has gone, in a program of somebody else's, on whichever thread finds out.
  nonisolated static func onLossInHost(_ handler: @escaping @Sendable () -> Void) {
    state.withLock { $0.hostHandlers.append(handler) }
  }

  private nonisolated static func noteLossInHost() {
    let handlers = state.withLock { state in
      defer { state.isLost = true }
      return state.isLost ? [] : state.hostHandlers
    }
    for handler in handlers { handler() }
  }

  private static func lose() -> Never {
    let wasLost = state.withLock { state in
      defer { state.isLost = true }
      return state.isLost
    }
    // Else a handler has used GTK all the same.
    if !wasLost {
      limitTime()
      for handler in handlers.reversed() { handler() }
    }
    end()
  }

  /// Without the libraries' cleaning up, some of which would wait for locks that Xlib never lets go.
  private nonisolated static func end() -> Never {
    fflush(nil)
    _exit(EX_UNAVAILABLE)
  }

  /// A handler may need what the thread that it has interrupted holds.
  private nonisolated static func limitTime() {
    _ = WorkerThread(name: "pip-display-end") {
      var rest = patience
      while rest > 0 { rest = sleep(rest) }
      _exit(EX_UNAVAILABLE)
    }
  }
}
