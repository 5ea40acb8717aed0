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

  /// In the kind of memory that the display server takes without another copy (X11's shared memory) where it has one.
  /// On GTK's thread.
  ///
  /// - Parameter window: the GdkWindow that it will be painted on.
  /// - Returns: nil when there is no memory for it.
  init?(size: PictureSize, for window: OpaquePointer) {
    guard size.isValid,
      let surface = gdk_window_create_similar_image_surface(
        window, CAIRO_FORMAT_RGB24, gint(size.width), gint(size.height), 1)
    else { return nil }
    guard cairo_surface_get_type(surface) == CAIRO_SURFACE_TYPE_IMAGE,
      let pixels = cairo_image_surface_get_data(surface)
    else {
      cairo_surface_destroy(surface)
      return nil
    }
    cairo_surface_flush(surface)
    self.size = size
    self.surface = surface
    self.pixels = pixels
    stride = Int(cairo_image_surface_get_stride(surface))
  }

  deinit {
    let surface = surface
    // It may be X11's memory, and the last reference any thread's.
    g_idle_add_full(
      G_PRIORITY_DEFAULT_IDLE,
      { surface in
        if let surface, !MainActor.assumeIsolated({ GTKDisplay.isLost }) {
          cairo_surface_destroy(OpaquePointer(surface))
        }
        return sourceEnds
      }, UnsafeMutableRawPointer(surface), nil)
  }
}
