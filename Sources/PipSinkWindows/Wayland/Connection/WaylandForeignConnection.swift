import CWindows
import PipSink

/// Another one's connection to a Wayland compositor, as a toolkit has it: surfaces can only be made on the connection
/// that has the window.
///
/// Objects of our own belong to a queue of their own, which a thread of our own reads, as libwayland lets several do on
/// one connection.
package final class WaylandForeignConnection: Sendable {
  let loop: WaylandEventLoop
  let globals: WaylandGlobals
  private let thread: WorkerThread?
  private let tileHandlers = Locked<[ObjectIdentifier: @MainActor @Sendable () -> Void]>([:])

  /// Waits for the compositor.
  ///
  /// - Parameter display: a wl_display, which has to live until ``leave()`` has returned.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  package init(_ display: OpaquePointer) throws(PipSinkError) {
    guard let loop = WaylandEventLoop(foreign: display) else {
      throw .system(.displayUnavailable(reason: "libwayland has no memory for another queue"))
    }
    self.loop = loop
    globals = WaylandGlobals(loop, hasInput: false)
    thread = WorkerThread(name: "pip-wl-foreign") { loop.run() }
    guard thread != nil else {
      throw .system(.displayUnavailable(reason: "the system refuses another thread"))
    }
    globals.ask()
    guard loop.synchronize(), loop.synchronize(), WaylandTile.Globals(globals) != nil else {
      leave()
      throw .system(.displayUnavailable(reason: "the Wayland compositor does not answer, or has no subsurfaces"))
    }
  }

  deinit { leave() }

  var isLost: Bool { loop.isLost }

  /// Shows a window of the toolkit's because of what ``WaylandActivation/token(_:)`` has got.
  package func activate(_ surface: OpaquePointer, token: String) {
    globals.activation?.send(2, .text(token), .object(surface))
    loop.flush()
  }

  /// Calls `handler` when a picture's surface has come to one of the toolkit's windows, on top of what was there.
  func watchTiles(_ key: ObjectIdentifier, _ handler: (@MainActor @Sendable () -> Void)?) {
    tileHandlers.withLock { $0[key] = handler }
  }

  @MainActor
  func didAddTile() {
    for handler in tileHandlers.withLock({ Array($0.values) }) { handler() }
  }

  /// Uses the display no more, once all tiles have left: when this returns, it may be disconnected.
  func leave() {
    globals.forget()
    loop.end()
    thread?.join()
    loop.leaveDisplay()
  }
}
