/// A picture in memory that several renderers share. Each has a rectangle of it.
///
/// A display layer is attached to each renderer. ``rectangles`` may change while frames flow: renderers with a new size
/// ask their layers for the newest frame. Any thread may use it.
package final class OffscreenTiles: Sendable {
  /// The size of the whole picture in pixels.
  package let size: PictureSize
  /// The renderers. Where rectangles overlap, the later one is above.
  package let renderers: [OffscreenRenderer]
  private let places: Locked<[PictureRect?]>

  /// Makes a picture whose first renderer has all of it.
  ///
  /// - Parameters:
  ///   - size: the size of the whole picture in pixels.
  ///   - count: the number of renderers, at least 1.
  ///   - scalingFilter: how frames are scaled.
  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  package init(size: PictureSize, count: Int, scalingFilter: ScalingFilter = .automatic) throws(PipSinkError) {
    self.size = size
    var renderers = [try OffscreenRenderer(size: size, scalingFilter: scalingFilter)]
    for _ in 1..<max(2, count) where renderers.count < count {
      // It gets its size with its rectangle.
      let renderer = try OffscreenRenderer(size: PictureSize(width: 1, height: 1), scalingFilter: scalingFilter)
      renderer.isVisible = false
      renderers.append(renderer)
    }
    self.renderers = renderers
    let whole = PictureRect(x: 0, y: 0, width: size.width, height: size.height)
    places = Locked(renderers.indices.map { $0 == 0 ? whole : nil })
  }

  /// The renderers' rectangles in the picture, in pixels; nil for those that show nothing. A rectangle without pixels
  /// counts as none, as does one for which there is no memory.
  package var rectangles: [PictureRect?] {
    get { places.withLock { $0 } }
    set {
      places.withLock { places in
        for (index, renderer) in renderers.enumerated() {
          let wanted = index < newValue.count ? newValue[index] : nil
          let isThere = wanted.map { (try? renderer.resize(to: $0.size)) != nil } ?? false
          places[index] = isThere ? wanted : nil
          renderer.isVisible = isThere
        }
      }
    }
  }

  /// A copy of the whole picture, which is black where a renderer has no picture.
  package func image() -> BGRAImage {
    BGRAImage(
      size: size,
      parts: zip(renderers, rectangles).compactMap { renderer, place in
        place.flatMap { place in renderer.image().map { ($0, place) } }
      })
  }
}
