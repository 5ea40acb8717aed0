import CLibYUV
import CWindows
import PipSink

/// A picture with transparency that is drawn once, when it is made.
///
/// `@unchecked Sendable`: Cairo's surface is not changed afterwards, and is read by one thread at a time behind the lock.
final class OverlayImage: @unchecked Sendable {
  let size: PictureSize
  private let surface: OpaquePointer?
  private let lock = Locked(())

  /// - Parameters:
  ///   - size: in pixels.
  ///   - scale: pixels for one unit of what `draw` draws in.
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

  /// Not where Cairo had no memory for it.
  var hasPixels: Bool { cairo_image_surface_get_data(surface) != nil }

  /// Puts it over a picture as it is.
  ///
  /// - Parameters:
  ///   - pixels: BGRx, `stride` bytes a row.
  ///   - area: where the picture is in the window, in pixels.
  ///   - x: where this is in the window, as `y`.
  func blend(on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect, x: Int, y: Int) {
    guard let source = cairo_image_surface_get_data(surface) else { return }
    let sourceStride = Int(cairo_image_surface_get_stride(surface))
    let (left, top) = (max(x, area.x), max(y, area.y))
    let width = min(x + size.width, area.x + area.width) - left
    let height = min(y + size.height, area.y + area.height) - top
    guard width > 0, height > 0 else { return }
    let target = pixels.advanced(by: (top - area.y) * stride + (left - area.x) * 4)
    // Cairo's ARGB32 is libyuv's ARGB, with the colours multiplied by alpha in both.
    ARGBBlend(
      source.advanced(by: (top - y) * sourceStride + (left - x) * 4), Int32(sourceStride), target, Int32(stride),
      target,
      Int32(stride), Int32(width), Int32(height))
  }

  func paint(on context: OpaquePointer?, x: Int, y: Int, _ opacity: Double) {
    lock.withLock { _ in
      cairo_set_source_surface(context, surface, Double(x), Double(y))
      cairo_paint_with_alpha(context, opacity)
      // The context lets the surface go.
      cairo_set_source_rgb(context, 0, 0, 0)
    }
  }
}
