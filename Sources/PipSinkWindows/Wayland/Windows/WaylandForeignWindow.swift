import PipSink

/// Places for pictures in a Wayland surface of another toolkit's.
package final class WaylandForeignWindow: WindowTileMaker {
  private let connection: WaylandForeignConnection
  private let surface: OpaquePointer
  private var tiles: [WaylandTile] = []

  /// - Parameters:
  ///   - connection: the toolkit's.
  ///   - surface: a wl_surface of it, which has to live until ``leave()``.
  package init(_ connection: WaylandForeignConnection, surface: OpaquePointer) {
    (self.connection, self.surface) = (connection, surface)
  }

  isolated deinit { leave() }

  /// Pixels for each unit.
  package var scale = 1.0 {
    didSet { for tile in tiles { tile.setScale(scale) } }
  }

  /// Where the window's place begins in the surface, in units. What is shown follows with the surface's next commit.
  package var origin: (x: Int, y: Int) = (0, 0) {
    didSet {
      guard origin != oldValue else { return }
      for tile in tiles {
        tile.setOrigin(x: origin.x, y: origin.y)
        tile.frame = tile.frame
      }
    }
  }

  package var isBroken: Bool { connection.isLost }

  package func makeTile(decoration: WindowOverlay) throws(PipSinkError) -> any WindowTile {
    guard let globals = WaylandTile.Globals(connection.globals) else {
      throw .system(.displayUnavailable(reason: "the Wayland compositor has gone"))
    }
    let tile = WaylandTile(globals, connection.loop, decoration: decoration, isForeign: true)
    tile.setScale(scale)
    tile.setOrigin(x: origin.x, y: origin.y)
    tiles.append(tile)
    tile.attach(to: surface)
    connection.didAddTile()
    return tile
  }

  package func remove(_ tile: any WindowTile) {
    tile.leaveWindow()
    tiles.removeAll { $0 === tile }
  }

  package func flush() { connection.loop.flush() }

  /// Uses the surface no more.
  package func leave() {
    for tile in tiles { tile.leaveWindow() }
    tiles = []
  }
}
