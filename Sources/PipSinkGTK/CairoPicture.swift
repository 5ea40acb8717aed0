import CGTK
import PipSink

/// Pixels that Cairo draws from: BGRx rows, as its RGB24 format has them on little-endian machines.
///
/// `@unchecked Sendable`: one thread at a time has it; ``GTKVideoSurface`` hands it over behind its lock.
final class CairoPicture: @unchecked Sendable {
  let size: PictureSize
  let stride: Int
  let pixels: UnsafeMutablePointer<UInt8>
  /// A cairo_surface_t over the pixels.
  let surface: OpaquePointer

  /// - Returns: nil when there is no memory for it.
  init?(size: PictureSize) {
    stride = Int(cairo_format_stride_for_width(CAIRO_FORMAT_RGB24, Int32(size.width)))
    guard size.isValid, stride > 0,
      let memory = g_try_malloc(gsize(stride * size.height))
    else { return nil }
    self.size = size
    pixels = memory.assumingMemoryBound(to: UInt8.self)
    guard
      let surface = cairo_image_surface_create_for_data(
        pixels, CAIRO_FORMAT_RGB24, Int32(size.width), Int32(size.height), Int32(stride))
    else {
      g_free(memory)
      return nil
    }
    self.surface = surface
  }

  deinit {
    cairo_surface_finish(surface)
    cairo_surface_destroy(surface)
    g_free(pixels)
  }
}
