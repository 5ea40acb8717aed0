import CWindows
import PipSink

/// A toolkit's connection to a Wayland compositor. PipSink uses it to put its pictures into the toolkit's windows,
/// because subsurfaces must be created on the connection that has the window.
///
/// PipSink's objects belong to an event queue of their own, which a thread of PipSink's reads. libwayland allows
/// several threads to read one connection in this way.
package final class WaylandForeignConnection: Sendable {
  let loop: WaylandEventLoop
  let globals: WaylandGlobals
  private let thread: WorkerThread?
  private let tileHandlers = Locked<[ObjectIdentifier: @MainActor @Sendable () -> Void]>([:])

  /// Binds the objects that tiles need, and waits for the compositor.
  ///
  /// - Parameter display: the toolkit's `wl_display`. It must stay connected until ``leave()`` has returned.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the compositor does not answer or has
  ///   no subsurfaces.
  package init(_ display: OpaquePointer) throws(PipSinkError) {
    guard let loop = WaylandEventLoop(foreign: display) else {
      throw .system(.displayUnavailable(reason: "libwayland cannot allocate memory for another queue"))
    }
    self.loop = loop
    globals = WaylandGlobals(loop, hasInput: false)
    thread = WorkerThread(name: "pip-wl-foreign") { loop.run() }
    guard thread != nil else {
      throw .system(.displayUnavailable(reason: "the system cannot start another thread"))
    }
    globals.ask()
    guard loop.synchronize(), loop.synchronize(), WaylandTile.Globals(globals, .processor) != nil else {
      leave()
      throw .system(.displayUnavailable(reason: "the Wayland compositor does not answer, or has no subsurfaces"))
    }
  }

  deinit { leave() }

  var isLost: Bool { loop.isLost }

  /// Brings one of the toolkit's windows to the user, with a token from ``WaylandActivation/token()``.
  package func activate(_ surface: OpaquePointer, token: String) {
    globals.activation?.activate(token, WaylandReference(surface))
    loop.flush()
  }

  /// Sets a handler that is called when a tile has been added on top of one of the toolkit's windows; nil removes it.
  func watchTiles(_ key: ObjectIdentifier, _ handler: (@MainActor @Sendable () -> Void)?) {
    tileHandlers.withLock { $0[key] = handler }
  }

  /// Calls the handlers for an added tile.
  @MainActor
  func didAddTile() {
    for handler in tileHandlers.withLock({ Array($0.values) }) { handler() }
  }

  /// Stops using the display. All tiles must have left their windows before. When this returns, the display may be
  /// disconnected.
  func leave() {
    globals.forget()
    loop.end()
    thread?.join()
    loop.leaveDisplay()
  }
}
