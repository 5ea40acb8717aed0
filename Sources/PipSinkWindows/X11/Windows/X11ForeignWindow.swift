import CWindows
import PipSink

/// Windows for pictures in an X11 window of another toolkit's.
package final class X11ForeignWindow: WindowTileMaker {
  private let connection: X11Connection
  private let display: String?
  private let window: UInt32
  private let tileWindows = X11TileWindows()
  private let loop: X11EventLoop
  private let thread: WorkerThread?

  /// - Parameters:
  ///   - windowID: of a window that the server knows.
  ///   - display: the server, as in DISPLAY.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  package init(windowID: UInt, display: String?) throws(PipSinkError) {
    guard let connection = X11Connection(display), let window = UInt32(exactly: windowID) else {
      throw .system(.displayUnavailable(reason: "the X server \(display ?? "that DISPLAY names") cannot be reached"))
    }
    (self.connection, self.display, self.window) = (connection, display, window)
    let loop = X11EventLoop(connection) { [tileWindows] event in
      guard let event else { return false }
      _ = tileWindows.note(event)
      return true
    }
    self.loop = loop
    thread = WorkerThread(name: "pip-x11-window") { loop.run() }
  }

  deinit {
    loop.end()
    thread?.join()
  }

  package var isBroken: Bool { connection.isBroken }

  /// Says whether the window around this one is minimised, of which the server tells nobody here.
  package func note(isMinimized: Bool) { tileWindows.note(isMapped: !isMinimized) }

  package func makeTile(decoration: WindowOverlay) throws(PipSinkError) -> any WindowTile {
    let tile = try X11Tile(connection, parent: window, display: display, decoration: decoration)
    tileWindows.add(tile)
    return tile
  }

  package func remove(_ tile: any WindowTile) {
    tile.leaveWindow()
    if let tile = tile as? X11Tile { tileWindows.remove(tile.window) }
  }

  package func flush() { connection.flush() }
}
