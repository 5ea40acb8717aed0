import CWindows
import PipSink

extension WaylandTile {
  /// Where it is in its window.
  struct Place: Equatable, Sendable {
    /// In the window, in units.
    var units: PictureRect
    /// Of the picture.
    var pixels: PictureSize

    init(units: PictureRect, pixels: PictureSize) { (self.units, self.pixels) = (units, pixels) }

    /// The compositor knows surfaces by whole units, and puts their edges on the nearest pixels: a picture of just as
    /// many is shown as it is.
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
