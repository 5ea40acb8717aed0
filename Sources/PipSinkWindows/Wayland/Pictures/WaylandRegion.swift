import PipSink

extension WaylandObject where Interface == WLCompositor {
  /// Creates a part of a surface, from its upper left corner, for the time of a call. A surface copies it.
  ///
  /// - Parameters:
  ///   - size: the part's size, in the surface's units; nil for no part.
  ///   - body: makes the request. It is not called when libwayland cannot allocate memory.
  func withRegion(_ size: PictureSize?, _ body: (WaylandReference<WLRegion>) -> Void) {
    withRegion(size.map { PictureRect(x: 0, y: 0, width: $0.width, height: $0.height) }, body)
  }

  /// Creates a part of a surface for the time of a call. A surface copies it.
  ///
  /// - Parameters:
  ///   - area: the part, in the surface's units; nil for no part.
  ///   - body: makes the request. It is not called when libwayland cannot allocate memory.
  func withRegion(_ area: PictureRect?, _ body: (WaylandReference<WLRegion>) -> Void) {
    guard let region = self.createRegion() else { return }
    if let area { region.add(area.x, area.y, area.width, area.height) }
    body(region.reference)
    region.destroy()
  }
}
