import CWindows
import PipSink

/// Creates tiles in an X11 window that belongs to another toolkit. Each tile is a child window.
package final class X11ForeignWindow: WindowTileMaker {
  private let connection: X11Connection
  private let display: String?
  private let window: UInt32
  private let tileWindows = X11TileWindows()
  private let loop: X11EventLoop

  /// Connects to the window's server.
  ///
  /// - Parameters:
  ///   - windowID: the window's XID. The server must know the window already.
  ///   - display: the server, as in `DISPLAY`; nil for the one that the environment names.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the server cannot be reached.
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
    _ = WorkerThread(name: "pip-x11-window") { loop.run() }
  }

  deinit { loop.end() }

  /// Whether the X server has gone.
  package var isBroken: Bool { connection.isBroken }

  /// Records whether the toolkit's window is minimised, which the server does not report on this connection.
  package func note(isMinimized: Bool) { tileWindows.note(isMapped: !isMinimized) }

  /// Creates a tile as a child window.
  package func makeTile(decoration: WindowOverlay) throws(PipSinkError) -> any WindowTile {
    let tile = try X11Tile(connection, parent: window, display: display, decoration: decoration)
    tileWindows.add(tile)
    return tile
  }

  /// Removes a tile from the window.
  package func remove(_ tile: any WindowTile) {
    tile.leaveWindow()
    if let tile = tile as? X11Tile { tileWindows.remove(tile.window) }
  }

  /// Sends all pending requests to the server.
  package func flush() { connection.flush() }
}
