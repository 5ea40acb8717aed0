import CWindows
import PipSink

/// A part of a surface, from its upper left corner (wl_region). A surface copies it, so it exists only for a request.
enum WaylandRegion {
  /// Creates a region for the time of a call.
  ///
  /// - Parameters:
  ///   - size: the region's size, in the surface's units; nil for an empty region.
  ///   - compositor: the wl_compositor.
  ///   - body: makes the request. It is not called when libwayland cannot allocate memory.
  static func with(_ size: PictureSize?, _ compositor: WaylandProxy, _ body: (OpaquePointer) -> Void) {
    guard let region = wl_compositor_create_region(compositor.pointer) else { return }
    if let size { wl_region_add(region, 0, 0, Int32(clamping: size.width), Int32(clamping: size.height)) }
    body(region)
    wl_region_destroy(region)
  }
}
