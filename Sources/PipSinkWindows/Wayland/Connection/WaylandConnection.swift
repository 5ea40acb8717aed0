import CWindows
import PipSink

/// A connection of our own to a Wayland compositor, and what the compositor offers.
///
/// All windows of the program's share it, so that what the user does in one counts for another. A compositor that dies
/// is ``WindowEvent/lost`` for each of them.
final class WaylandConnection: Sendable {
  let loop: WaylandEventLoop
  let globals: WaylandGlobals
  private let thread: WorkerThread?

  private final class Weak {
    weak var connection: WaylandConnection?
  }

  @MainActor private static var known: [String?: Weak] = [:]

  /// The connection that the program's windows share.
  ///
  /// - Parameter name: the compositor's socket, as in WAYLAND_DISPLAY; nil for that of the environment.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  @MainActor
  static func shared(_ name: String? = nil) throws(PipSinkError) -> WaylandConnection {
    if let connection = known[name]?.connection, !connection.loop.isLost { return connection }
    let connection = try WaylandConnection(name)
    let entry = Weak()
    entry.connection = connection
    known[name] = entry
    return connection
  }

  /// The one that windows share now, if there are any.
  @MainActor static var current: WaylandConnection? {
    known[nil]?.connection.flatMap { $0.loop.isLost ? nil : $0 }
  }

  /// Waits for the compositor.
  private init(_ name: String?) throws(PipSinkError) {
    let server = name ?? "that WAYLAND_DISPLAY names"
    guard let loop = WaylandEventLoop(name) else {
      throw .system(.displayUnavailable(reason: "the Wayland compositor \(server) cannot be reached"))
    }
    self.loop = loop
    globals = WaylandGlobals(loop)
    thread = WorkerThread(name: "pip-wayland") { loop.run() }
    guard thread != nil else {
      throw .system(.displayUnavailable(reason: "the system refuses another thread"))
    }
    globals.ask()
    // The second answer comes after those to what was bound when the first one came.
    guard loop.synchronize(), loop.synchronize() else {
      throw .system(.displayUnavailable(reason: "the Wayland compositor \(server) does not answer"))
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
