import CLibYUV
import CWindows
import PipSink

extension BGRAImage {
  /// Draws the image.
  ///
  /// - Parameters:
  ///   - context: a `cairo_t`.
  ///   - x: the left edge, in the context's coordinates.
  ///   - y: the upper edge.
  ///   - scale: the width and height of one of the image's pixels, in the context's coordinates.
  func draw(on context: OpaquePointer, x: Double, y: Double, scale: (x: Double, y: Double)) {
    let (width, height) = (Int32(size.width), Int32(size.height))
    let surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height)
    defer { cairo_surface_destroy(surface) }
    guard let pixels = cairo_image_surface_get_data(surface) else { return }
    // Cairo's colours are multiplied by alpha.
    ARGBAttenuate(bytes, width * 4, pixels, cairo_image_surface_get_stride(surface), width, height)
    cairo_surface_mark_dirty(surface)
    cairo_save(context)
    cairo_translate(context, x, y)
    cairo_scale(context, scale.x, scale.y)
    cairo_set_source_surface(context, surface, 0, 0)
    // The edges of an image that becomes larger do not become transparent.
    cairo_pattern_set_extend(cairo_get_source(context), CAIRO_EXTEND_PAD)
    cairo_rectangle(context, 0, 0, Double(width), Double(height))
    cairo_fill(context)
    cairo_restore(context)
  }
}
