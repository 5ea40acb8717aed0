import PipSink

/// Creates tiles in a toolkit's Wayland surface. Each tile is a subsurface.
package final class WaylandForeignWindow: WindowTileMaker {
  private let connection: WaylandForeignConnection
  private let surface: OpaquePointer
  private var tiles: [WaylandTile] = []

  /// - Parameters:
  ///   - connection: the toolkit's connection.
  ///   - surface: the window's wl_surface on this connection. It must exist until ``leave()`` has returned.
  package init(_ connection: WaylandForeignConnection, surface: OpaquePointer) {
    (self.connection, self.surface) = (connection, surface)
  }

  isolated deinit { leave() }

  /// The number of pixels in a unit.
  package var scale = 1.0 {
    didSet { for tile in tiles { tile.setScale(scale) } }
  }

  /// The position of the tiles' area in the surface, in units. Tiles that are shown follow with the surface's next
  /// commit.
  package var origin: (x: Int, y: Int) = (0, 0) {
    didSet {
      guard origin != oldValue else { return }
      for tile in tiles {
        tile.setOrigin(x: origin.x, y: origin.y)
        tile.rectangle = tile.rectangle
      }
    }
  }

  /// Whether the compositor has gone.
  package var isBroken: Bool { connection.isLost }

  /// Creates a tile as a subsurface. The toolkit's next commit of the surface adds it to the window.
  package func makeTile(decoration: WindowOverlay, renderer: WindowRenderer) throws(PipSinkError) -> any WindowTile {
    guard let globals = WaylandTile.Globals(connection.globals, renderer) else {
      throw .system(.displayUnavailable(reason: "the Wayland compositor has gone"))
    }
    let tile = WaylandTile(globals, connection.loop, decoration: decoration, isForeign: true)
    tile.setScale(scale)
    tile.setOrigin(x: origin.x, y: origin.y)
    tiles.append(tile)
    tile.attach(to: WaylandReference(surface))
    connection.didAddTile()
    return tile
  }

  /// Removes a tile from the surface.
  package func remove(_ tile: any WindowTile) {
    tile.leaveWindow()
    tiles.removeAll { $0 === tile }
  }

  /// Sends all pending requests to the compositor.
  package func flush() { connection.loop.flush() }

  /// Stops using the surface.
  package func leave() {
    for tile in tiles { tile.leaveWindow() }
    tiles = []
  }
}
