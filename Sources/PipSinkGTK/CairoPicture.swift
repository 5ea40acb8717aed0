import CGTK
import PipSink
import PipSinkWindows

/// Pixels that Cairo draws from: BGRx rows, as its RGB24 format has them on little-endian machines.
///
/// `@unchecked Sendable`: one thread at a time has it; ``GTKVideoSurface`` hands it over behind its lock. It is let go
/// on GTK's thread.
final class CairoPicture: @unchecked Sendable {
  let size: PictureSize
  let stride: Int
  let pixels: UnsafeMutablePointer<UInt8>
  /// A cairo_surface_t over the pixels.
  let surface: OpaquePointer

  /// Where the pixels are, when the display server has them, too; nil when they are Cairo's own.
  let memory: (any PictureMemory)?

  /// - Returns: nil when there is no memory for it.
  init?(size: PictureSize) {
    guard size.isValid,
      let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(size.width), Int32(size.height)),
      let pixels = cairo_image_surface_get_data(surface)
    else { return nil }
    self.size = size
    self.surface = surface
    self.pixels = pixels
    memory = nil
    stride = Int(cairo_image_surface_get_stride(surface))
  }

  init?(_ memory: any PictureMemory) {
    guard
      let surface = cairo_image_surface_create_for_data(
        memory.pixels, CAIRO_FORMAT_RGB24, Int32(memory.size.width), Int32(memory.size.height), Int32(memory.stride)),
      cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS
    else { return nil }
    size = memory.size
    self.surface = surface
    pixels = memory.pixels
    self.memory = memory
    stride = memory.stride
  }

  deinit {
    // Cairo may still hold the surface for what it is to draw; it has no pixels from here on.
    cairo_surface_finish(surface)
    cairo_surface_destroy(surface)
  }
}
