import CLibYUV
import CWindows
import PipSink

/// An image with transparency that is drawn once, when it is created.
///
/// `@unchecked Sendable`: the cairo surface is not changed afterwards, and the lock lets one thread at a time paint
/// from it.
final class OverlayImage: @unchecked Sendable {
  /// The image's size, in pixels.
  let size: PictureSize
  private let surface: OpaquePointer?
  private let lock = Locked(())

  /// - Parameters:
  ///   - size: the image's size, in pixels.
  ///   - scale: the number of pixels in a unit of the coordinates that `draw` uses.
  ///   - draw: draws the image. Its argument is a `cairo_t`, or nil when cairo could not allocate one.
  init(_ size: PictureSize, scale: Double, draw: (_ context: OpaquePointer?) -> Void) {
    self.size = size
    surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, Int32(size.width), Int32(size.height))
    let context = cairo_create(surface)
    cairo_scale(context, scale, scale)
    draw(context)
    cairo_destroy(context)
    cairo_surface_flush(surface)
  }

  deinit { cairo_surface_destroy(surface) }

  /// Whether the image has pixels. It has none when cairo could not allocate memory for them.
  var hasPixels: Bool { cairo_image_surface_get_data(surface) != nil }

  /// The rectangles in which the image has anything: bands of rows with such pixels, as wide as necessary. Few empty rows
  /// do not divide a band.
  var visibleBands: [PictureRect] {
    guard let pixels = cairo_image_surface_get_data(surface) else { return [] }
    let stride = Int(cairo_image_surface_get_stride(surface))
    var bands: [PictureRect] = []
    for y in 0..<size.height {
      // Colours are multiplied by alpha, so that transparent pixels are 0.
      let row = UnsafeBufferPointer(start: pixels + y * stride, count: size.width * 4)
      guard let first = row.firstIndex(where: { $0 != 0 }), let last = row.lastIndex(where: { $0 != 0 }) else {
        continue
      }
      let (left, right) = (first / 4, last / 4 + 1)
      if let band = bands.last, y - band.y - band.height < 8 {
        let (start, end) = (min(band.x, left), max(band.x + band.width, right))
        bands[bands.count - 1] = PictureRect(x: start, y: band.y, width: end - start, height: y + 1 - band.y)
      } else {
        bands.append(PictureRect(x: left, y: y, width: right - left, height: 1))
      }
    }
    return bands
  }

  /// A part of the image.
  func cropped(to rectangle: PictureRect) -> OverlayImage {
    OverlayImage(rectangle.size, scale: 1) { paint(on: $0, x: -rectangle.x, y: -rectangle.y, 1) }
  }

  /// Blends the image over a picture at full opacity.
  ///
  /// - Parameters:
  ///   - pixels: the picture's BGRx pixels, with `stride` bytes in each row.
  ///   - area: the picture's rectangle in the window, in pixels.
  ///   - x: the left edge of this image in the window, in pixels.
  ///   - y: the upper edge of this image in the window, in pixels.
  func blend(on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect, x: Int, y: Int) {
    guard let source = cairo_image_surface_get_data(surface) else { return }
    let sourceStride = Int(cairo_image_surface_get_stride(surface))
    let (left, top) = (max(x, area.x), max(y, area.y))
    let width = min(x + size.width, area.x + area.width) - left
    let height = min(y + size.height, area.y + area.height) - top
    guard width > 0, height > 0 else { return }
    let target = pixels.advanced(by: (top - area.y) * stride + (left - area.x) * 4)
    // Cairo's ARGB32 is the same as libyuv's ARGB; in both, the colours are multiplied by alpha.
    ARGBBlend(
      source.advanced(by: (top - y) * sourceStride + (left - x) * 4), Int32(sourceStride), target, Int32(stride),
      target,
      Int32(stride), Int32(width), Int32(height))
  }

  /// Paints the image with its upper left corner at a position, in the context's pixels.
  func paint(on context: OpaquePointer?, x: Int, y: Int, _ opacity: Double) {
    lock.withLock { _ in
      cairo_set_source_surface(context, surface, Double(x), Double(y))
      cairo_paint_with_alpha(context, opacity)
      // Setting another source makes the context release the surface.
      cairo_set_source_rgb(context, 0, 0, 0)
    }
  }
}
