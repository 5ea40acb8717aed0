import PipSink

extension WaylandObject where Interface == WLCompositor {
  /// Creates a part of a surface, from its upper left corner, for the time of a call. A surface copies it.
  ///
  /// - Parameters:
  ///   - size: the part's size, in the surface's units; nil for no part.
  ///   - body: makes the request. It is not called when libwayland cannot allocate memory.
  func withRegion(_ size: PictureSize?, _ body: (WaylandReference<WLRegion>) -> Void) {
    guard let region = self.createRegion() else { return }
    if let size { region.add(0, 0, size.width, size.height) }
    body(region.reference)
    region.destroy()
  }
}
