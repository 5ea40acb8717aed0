import CGTK
import PipSink

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

  /// The same pixels for the X server; nil elsewhere.
  let sharedImage: SharedMemoryImage?

  /// - Returns: nil when there is no memory for it.
  init?(size: PictureSize) {
    guard size.isValid,
      let surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, Int32(size.width), Int32(size.height)),
      let pixels = cairo_image_surface_get_data(surface)
    else { return nil }
    self.size = size
    self.surface = surface
    self.pixels = pixels
    sharedImage = nil
    stride = Int(cairo_image_surface_get_stride(surface))
  }

  /// Over memory that the X server has, too.
  init?(_ image: SharedMemoryImage) {
    guard
      let surface = cairo_image_surface_create_for_data(
        image.pixels, CAIRO_FORMAT_RGB24, Int32(image.size.width), Int32(image.size.height), Int32(image.stride)),
      cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS
    else { return nil }
    size = image.size
    self.surface = surface
    pixels = image.pixels
    sharedImage = image
    stride = image.stride
  }

  deinit {
    // Cairo may still hold the surface for what it is to draw; it has no pixels from here on.
    cairo_surface_finish(surface)
    cairo_surface_destroy(surface)
  }
}
