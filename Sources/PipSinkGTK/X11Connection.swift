import CGTK
import PipSink

/// A connection of our own to an X server, beside GTK's, whose errors end nothing.
///
/// Xlib's error handlers are the whole program's. Ours look whose connection it is, note errors of these, and hand
/// others on to whoever was there before.
///
/// `@unchecked Sendable`: Xlib is called within ``use(_:)`` alone, and the rest is behind a lock. Xlib's own locking is
/// not enough: when the server goes away in the middle of one thread's call, another thread that calls meanwhile waits
/// for ever (libX11 1.8.4).
final class X11Connection: @unchecked Sendable {
  /// What Xlib has reported about a connection.
  struct Failure {
    /// The code of the last X error; 0 for none.
    var errorCode: UInt8 = 0
    var isBroken = false
  }

  let display: OpaquePointer
  /// Recursive: memory that the server shares is let go wherever its last user is.
  private let mutex = UnsafeMutablePointer<GRecMutex>.allocate(capacity: 1)

  private struct Registry {
    var failures: [OpaquePointer: Failure] = [:]
    var previous: (@convention(c) (OpaquePointer?, UnsafeMutablePointer<XErrorEvent>?) -> Int32)?
    var previousIO: (@convention(c) (OpaquePointer?) -> Int32)?
    var isInstalled = false
  }

  private static let registry = Locked(Registry())

  /// - Returns: nil when the server cannot be reached.
  init?(_ name: String?) {
    XInitThreads()
    guard let display = XOpenDisplay(name) else { return nil }
    self.display = display
    mutex.initialize(to: GRecMutex())
    g_rec_mutex_init(mutex)
    Self.registry.withLock { registry in
      registry.failures[display] = Failure()
      guard !registry.isInstalled else { return }
      registry.isInstalled = true
      registry.previous = XSetErrorHandler { display, event in X11Connection.handle(display, event) }
      registry.previousIO = XSetIOErrorHandler { display in X11Connection.handleBroken(display) }
    }
    // Otherwise Xlib ends the program when the server has gone.
    XSetIOErrorExitHandler(display, { display, _ in X11Connection.noteBroken(display) }, nil)
  }

  deinit {
    let isBroken = Self.registry.withLock { $0.failures.removeValue(forKey: display) }?.isBroken ?? false
    // Closing a broken connection would speak to the server once more.
    if !isBroken { XCloseDisplay(display) }
    g_rec_mutex_clear(mutex)
    mutex.deallocate()
  }

  /// Calls Xlib, one thread at a time.
  ///
  /// - Returns: nil, without a call, when the server has gone.
  func use<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result? {
    g_rec_mutex_lock(mutex)
    defer { g_rec_mutex_unlock(mutex) }
    return isBroken ? nil : try body()
  }

  /// Whether a connection is one of these.
  static func isOwn(_ display: OpaquePointer?) -> Bool {
    guard let display else { return false }
    return registry.withLock { $0.failures[display] != nil }
  }

  /// Whether the server has gone.
  var isBroken: Bool { Self.registry.withLock { $0.failures[display]?.isBroken ?? false } }

  /// What went wrong since the last time, and forgets the error.
  func takeFailure() -> Failure {
    Self.registry.withLock { registry in
      let failure = registry.failures[display] ?? Failure()
      registry.failures[display]?.errorCode = 0
      return failure
    }
  }

  private static func handle(_ display: OpaquePointer?, _ event: UnsafeMutablePointer<XErrorEvent>?) -> Int32 {
    let previous = registry.withLock { registry in
      guard let display, registry.failures[display] != nil else { return registry.previous }
      registry.failures[display]?.errorCode = event?.pointee.error_code ?? 1
      return nil
    }
    return previous?(display, event) ?? 0
  }

  private static func handleBroken(_ display: OpaquePointer?) -> Int32 {
    let previous = registry.withLock { registry in
      display.flatMap { registry.failures[$0] } == nil ? registry.previousIO : nil
    }
    return previous?(display) ?? 0
  }

  private static func noteBroken(_ display: OpaquePointer?) {
    guard let display else { return }
    registry.withLock { $0.failures[display]?.isBroken = true }
  }
}
