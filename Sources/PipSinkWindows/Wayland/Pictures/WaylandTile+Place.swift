import CWindows
import PipSink

extension WaylandTile {
  /// The tile's place in its window.
  struct Place: Equatable, Sendable {
    /// The rectangle in the window, in units.
    var units: PictureRect
    /// The size of the picture, in pixels.
    var pixels: PictureSize

    init(units: PictureRect, pixels: PictureSize) { (self.units, self.pixels) = (units, pixels) }

    /// Finds the place for a rectangle in pixels. Surfaces have whole units, and the compositor puts their edges on the
    /// nearest pixels. A picture with exactly as many pixels as lie between these edges is shown without scaling.
    init(pixels: PictureRect, scale: Double) {
      let (left, right) = (Self.nearest(pixels.x, scale), Self.nearest(pixels.x + pixels.width, scale))
      let (top, bottom) = (Self.nearest(pixels.y, scale), Self.nearest(pixels.y + pixels.height, scale))
      units = PictureRect(x: left, y: top, width: max(1, right - left), height: max(1, bottom - top))
      let edges = [left, left + units.width, top, top + units.height].map { Int(nearest: Double($0) * scale) }
      self.pixels = PictureSize(width: edges[1] - edges[0], height: edges[3] - edges[2])
    }

    private static func nearest(_ pixel: Int, _ scale: Double) -> Int { Int(nearest: Double(pixel) / scale) }
  }
}
