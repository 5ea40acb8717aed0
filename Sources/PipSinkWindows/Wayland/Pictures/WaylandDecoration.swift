import PipSink

/// What is drawn over a frame that the compositor reads itself: a surface over the tile's, with pixels that have alpha.
struct WaylandDecoration {
  private let globals: WaylandTile.Globals
  private let parent: WaylandReference<WLSurface>
  private let tile: WaylandReference<WLSurface>
  private var surface: WaylandSubsurface?
  private var image: WaylandImage?
  /// What the compositor shows; nil for nothing.
  private var layer: DecorationLayer?

  /// - Parameters:
  ///   - globals: the compositor's objects.
  ///   - parent: the window's wl_surface.
  ///   - tile: the surface of the tile's pictures.
  init(_ globals: WaylandTile.Globals, over parent: WaylandReference<WLSurface>, _ tile: WaylandReference<WLSurface>) {
    (self.globals, self.parent, self.tile) = (globals, parent, tile)
  }

  /// Shows another decoration, at once.
  ///
  /// - Parameters:
  ///   - layer: the decoration; nil shows nothing.
  ///   - place: the tile's place.
  ///   - scale: the number of pixels in a unit.
  mutating func show(_ layer: DecorationLayer?, over place: WaylandTile.Place, scale: Double) {
    guard layer !== self.layer else { return }
    self.layer = layer
    guard let layer, layer.rectangle.size.isValid, let made = Self.place(layer.rectangle, in: place, scale: scale),
      let image = WaylandImage(globals.sharedMemory, size: made.place.pixels, isOpaque: false)
    else {
      surface?.hide()
      image = nil
      return
    }
    image.pixels.update(repeating: 0, count: image.byteCount)
    layer.pixels.withUnsafeBufferPointer { pixels in
      guard let pixels = pixels.baseAddress else { return }
      let width = layer.rectangle.width * 4
      for row in 0..<layer.rectangle.height {
        let target = image.pixels + (made.offset.y + row) * image.stride + made.offset.x * 4
        target.update(from: pixels + row * width, count: width)
      }
    }
    if surface == nil { surface = makeSurface() }
    let units = made.place.units
    surface?.move(toX: units.x, y: units.y)
    surface?.setSize(units.size, pixels: image.size)
    if let surface {
      image.attach(to: surface.surface)
      surface.surface.commit()
    }
    parent.commit()
    self.image = image
  }

  func destroy() { surface?.destroy() }

  /// Other tiles may lie over this one, and so over its decoration.
  private func makeSurface() -> WaylandSubsurface? {
    let surface = WaylandSubsurface(globals, over: parent)
    surface?.place(above: tile)
    return surface
  }

  /// The place of a part of a tile. A surface begins and ends at whole units, so that it may have more pixels than the
  /// part.
  ///
  /// - Parameter part: the part, in pixels from the tile's upper left corner.
  /// - Returns: the place, and the position of the part in it, in pixels. It is nil for a scale that is impossible.
  static func place(
    _ part: PictureRect, in tile: WaylandTile.Place, scale: Double
  ) -> (place: WaylandTile.Place, offset: (x: Int, y: Int))? {
    guard scale > 0 else { return nil }
    /// The units that contain some pixels, and the pixels of their edges.
    func cover(_ unit: Int, _ start: Int, _ count: Int) -> (first: Int, end: Int, left: Int, right: Int, offset: Int) {
      let edge = { (unit: Int) in Int(nearest: Double(unit) * scale) }
      let pixel = edge(unit) + start
      var (first, end) = (Int(nearest: Double(pixel) / scale), Int(nearest: Double(pixel + count) / scale))
      while edge(first) > pixel { first -= 1 }
      while edge(end) < pixel + count { end += 1 }
      return (first, end, edge(first), edge(end), pixel - edge(first))
    }
    let x = cover(tile.units.x, part.x, part.width)
    let y = cover(tile.units.y, part.y, part.height)
    let units = PictureRect(x: x.first, y: y.first, width: x.end - x.first, height: y.end - y.first)
    let pixels = PictureSize(width: x.right - x.left, height: y.right - y.left)
    return (WaylandTile.Place(units: units, pixels: pixels), (x.offset, y.offset))
  }
}
