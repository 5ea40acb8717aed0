import CWindows
import PipSink

/// PipSink's own connection to a Wayland compositor, and the objects that the compositor offers.
///
/// All of PipSink's windows in the program share it, so that the user's action in one window permits another to be
/// shown. When the compositor dies, each window gets ``WindowEvent/lost``.
final class WaylandConnection: Sendable {
  let loop: WaylandEventLoop
  let globals: WaylandGlobals
  private let thread: WorkerThread?

  /// A weak reference, so that a connection without windows is closed.
  private final class Weak {
    weak var connection: WaylandConnection?
  }

  @MainActor private static var known: [String?: Weak] = [:]

  /// The connection that the program was started with, once PipSink has used it.
  private static let inheritance = Locked<WaylandConnection?>(nil)

  /// Returns the connection to a compositor that the program was started with (`WAYLAND_SOCKET`), if there is one and
  /// its compositor lives. Such a connection can be used once, so it stays open when the last window closes. The first
  /// call waits for the compositor. It can be made on any thread.
  static func inherited() -> WaylandConnection? {
    inheritance.withLock { connection in
      // libwayland removes the variable when it uses the socket.
      if g_getenv("WAYLAND_SOCKET") != nil { connection = try? WaylandConnection(nil) }
      return connection.flatMap { $0.loop.isLost ? nil : $0 }
    }
  }

  /// Returns the connection that the program's windows share, and connects if there is none.
  ///
  /// - Parameter name: the compositor's socket, as in `WAYLAND_DISPLAY`; nil for the one that the environment names.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the compositor cannot be reached.
  @MainActor
  static func shared(_ name: String? = nil) throws(PipSinkError) -> WaylandConnection {
    if let connection = known[name]?.connection, !connection.loop.isLost { return connection }
    let inherited = name == nil ? inherited() : nil
    let connection = if let inherited { inherited } else { try WaylandConnection(name) }
    let entry = Weak()
    entry.connection = connection
    known[name] = entry
    return connection
  }

  /// The connection that windows share now, or nil when there are no windows.
  @MainActor static var current: WaylandConnection? {
    known[nil]?.connection.flatMap { $0.loop.isLost ? nil : $0 }
  }

  /// When compositors have not answered a new connection, by their names. For some seconds nobody else waits for them.
  private static let misses = Locked<[String: MonotonicTime]>([:])

  /// Connects, and waits for the compositor: five seconds at most for each of two answers.
  private init(_ name: String?) throws(PipSinkError) {
    let server = name ?? "that WAYLAND_DISPLAY names"
    let key = name ?? g_getenv("WAYLAND_DISPLAY").map { String(cString: $0) } ?? ""
    let silence = PipSinkError.system(
      .displayUnavailable(reason: "the Wayland compositor \(server) does not answer"))
    if let miss = Self.misses.withLock({ $0[key] }), miss.duration(to: .now) < .seconds(5) { throw silence }
    guard let loop = WaylandEventLoop(name) else {
      throw .system(.displayUnavailable(reason: "the Wayland compositor \(server) cannot be reached"))
    }
    self.loop = loop
    globals = WaylandGlobals(loop)
    thread = WorkerThread(name: "pip-wayland") { loop.run() }
    guard thread != nil else {
      throw .system(.displayUnavailable(reason: "the system cannot start another thread"))
    }
    globals.ask()
    // The first answer comes after the list of global objects, the second after the events of the objects bound by
    // then.
    guard loop.synchronize(), loop.synchronize() else {
      if !loop.isLost { Self.misses.withLock { $0[key] = .now } }
      throw silence
    }
    guard globals.compositor != nil, globals.sharedMemory != nil, globals.subcompositor != nil else {
      throw .system(
        .displayUnavailable(reason: "the Wayland compositor \(server) has no subsurfaces or no shared memory"))
    }
  }

  deinit {
    loop.end()
    thread?.join()
    globals.forget()
  }
}
