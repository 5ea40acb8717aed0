/// How a picture is fitted to a surface with another aspect ratio, with the meaning of AVFoundation's
/// AVLayerVideoGravity.
public enum VideoGravity: String, CaseIterable, Sendable {
  /// The picture is stretched to fill the surface.
  case resize
  /// The whole picture is shown with its aspect ratio, between black bars.
  case resizeAspect
  /// The picture fills the surface with its aspect ratio, and is cropped at two sides.
  case resizeAspectFill

  /// Which part of the picture is shown in which part of the surface.
  struct Placement: Equatable {
    /// The part of the picture, in its pixels.
    var source: PictureRect
    /// The part of the surface, in its pixels.
    var target: PictureRect
  }

  /// Computes the placement of a picture on a surface.
  ///
  /// - Parameters:
  ///   - picture: the picture's size in pixels.
  ///   - displaySize: the picture's size on square pixels, of which only the aspect ratio counts.
  ///   - surface: the surface's size in pixels.
  func placement(of picture: PictureSize, displaySize: (width: Double, height: Double), in surface: PictureSize)
    -> Placement
  {
    var source = PictureRect(x: 0, y: 0, width: picture.width, height: picture.height)
    var target = PictureRect(x: 0, y: 0, width: surface.width, height: surface.height)
    let scaleX = Double(surface.width) / displaySize.width
    let scaleY = Double(surface.height) / displaySize.height
    switch self {
    case .resize:
      break
    case .resizeAspect:
      let scale = min(scaleX, scaleY)
      target.width = Self.rounded(displaySize.width * scale, limit: surface.width)
      target.height = Self.rounded(displaySize.height * scale, limit: surface.height)
      target.x = (surface.width - target.width) / 2
      target.y = (surface.height - target.height) / 2
    case .resizeAspectFill:
      let scale = max(scaleX, scaleY)
      source.width = Self.rounded(Double(picture.width) * scaleX / scale, limit: picture.width)
      source.height = Self.rounded(Double(picture.height) * scaleY / scale, limit: picture.height)
      source.x = (picture.width - source.width) / 2
      source.y = (picture.height - source.height) / 2
    }
    return Placement(source: source, target: target)
  }

  private static func rounded(_ value: Double, limit: Int) -> Int {
    max(1, min(limit, Int(nearest: value)))
  }
}

extension VideoGravity {
  /// The size that a surface would have for a frame to be shown without being enlarged, with the surface's shape. It is
  /// the surface's own size where the frame has nearly as many pixels as the surface, or more.
  package func sizeWithoutEnlarging(_ sampleBuffer: SampleBuffer, in surface: PictureSize) -> PictureSize {
    let visible = sampleBuffer.orientation.applied(to: sampleBuffer.pixelBuffer.visibleRect.size)
    let placement = placement(of: visible, displaySize: sampleBuffer.displaySize, in: surface)
    let factor = max(
      Double(placement.source.width) / Double(placement.target.width),
      Double(placement.source.height) / Double(placement.target.height))
    guard factor < 0.9 else { return surface }
    return PictureSize(
      width: Self.rounded(Double(surface.width) * factor, limit: surface.width),
      height: Self.rounded(Double(surface.height) * factor, limit: surface.height))
  }

  /// The part of an upright frame, in its pixels, that fills a surface; nil where there are bars of more than a pixel
  /// beside the picture.
  package func source(of sampleBuffer: SampleBuffer, filling surface: PictureSize) -> PictureRect? {
    let visible = sampleBuffer.pixelBuffer.visibleRect
    let placement = placement(of: visible.size, displaySize: sampleBuffer.displaySize, in: surface)
    guard surface.width - placement.target.width < 2, surface.height - placement.target.height < 2 else { return nil }
    var source = placement.source
    source.x += visible.x
    source.y += visible.y
    return source
  }

  /// The pixel of a frame that is shown at a point of a surface.
  ///
  /// - Parameters:
  ///   - point: a point on the surface, in pixels.
  ///   - surface: the surface's size in pixels.
  ///   - format: the frame's format.
  ///   - visible: the part of the frame that is shown; nil for all of it.
  ///   - orientation: how the frame is rotated and mirrored when it is shown.
  /// - Returns: a pixel of the frame as it is in memory. For a point beside the picture, it is
  ///   outside of the frame.
  package func pixel(
    at point: (x: Double, y: Double), of surface: PictureSize, in format: VideoFormatDescription,
    visible: PictureRect? = nil, orientation: VideoOrientation
  ) -> (x: Double, y: Double) {
    let visible = visible ?? PictureRect(x: 0, y: 0, width: format.size.width, height: format.size.height)
    let oriented = orientation.applied(to: visible.size)
    let display = format.displaySize(of: visible.size)
    let placement = placement(
      of: oriented, displaySize: orientation.swapsSides ? (display.height, display.width) : display, in: surface)
    let (source, target) = (placement.source, placement.target)
    let x = Double(source.x) + (point.x - Double(target.x)) * Double(source.width) / Double(target.width)
    let y = Double(source.y) + (point.y - Double(target.y)) * Double(source.height) / Double(target.height)
    // Coordinates far outside are clamped, so that sums do not overflow.
    let bound = 1 << 30
    let column = max(-bound, min(bound, Int(nearest: x.rounded(.down))))
    let row = max(-bound, min(bound, Int(nearest: y.rounded(.down))))
    let pixel = PictureRect(x: column, y: row, width: 1, height: 1)
    let found = orientation.inverse.applied(to: pixel, in: oriented)
    return (Double(visible.x + found.x), Double(visible.y + found.y))
  }

  /// Computes the placement of a frame that is rotated and mirrored before it is shown.
  ///
  /// - Returns: the placement, whose source is in pixels of the frame's visible part before the rotation.
  func placement(of frame: MappedFrame, orientation: VideoOrientation, in surface: PictureSize) -> Placement {
    let display = frame.formatDescription.displaySize(of: frame.visible.size)
    let oriented = orientation.applied(to: frame.visible.size)
    var placement = placement(
      of: oriented, displaySize: orientation.swapsSides ? (display.height, display.width) : display, in: surface)
    placement.source = orientation.inverse.applied(to: placement.source, in: oriented)
    return placement
  }
}
