/// Turns the pixels of every frame, by a fixed angle or as the frame itself says.
///
/// Turning 1080p costs more than a copy of it. Where pixels need not be upright before they are shown,
/// ``SampleBuffer/orientation`` and ``SampleBufferDisplayLayer/orientation`` do the same for nothing: surfaces turn
/// pictures after they have been made small.
///
/// Four-by-two-by-two chroma (I422, YUY2, UYVY) loses vertical resolution in quarter turns.
public final class RotationProcessor: PoolingProcessor {
  public enum Angle: Hashable, Sendable {
    /// Clockwise, besides what the frame says of its orientation.
    case fixed(VideoOrientation.Rotation)
    /// What the frame says: its stream's `image-orientation` tag, its affine meta.
    case automatic
  }

  public let angle: Angle
  private let converter = PixelConverter()

  public init(_ angle: Angle) {
    self.angle = angle
  }

  package var pool: PixelBufferPool { converter.pool }

  public var effect: FrameEffect {
    switch angle {
    case .automatic: FrameEffect(turn: .automatic)
    case .fixed(let rotation): FrameEffect(turn: .fixed(VideoOrientation(rotation: rotation)))
    }
  }

  public func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
    switch angle {
    case .automatic:
      return try converter.convert(sampleBuffer, to: .init())
    case .fixed(let rotation):
      return try sampleBuffer.turningPixels(by: VideoOrientation(rotation: rotation), with: converter)
    }
  }
}

/// Exchanges left and right, or top and bottom, of every frame's pixels.
public final class MirrorProcessor: PoolingProcessor {
  public enum Direction: String, CaseIterable, Sendable {
    /// Left and right exchanged, as in a mirror.
    case horizontal
    /// Top and bottom exchanged.
    case vertical
  }

  public let direction: Direction
  private let converter = PixelConverter()

  public init(_ direction: Direction = .horizontal) {
    self.direction = direction
  }

  package var pool: PixelBufferPool { converter.pool }

  public var effect: FrameEffect { FrameEffect(turn: .fixed(turn)) }

  private var turn: VideoOrientation { direction == .horizontal ? .mirrored : .flippedVertically }

  public func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
    try sampleBuffer.turningPixels(by: turn, with: converter)
  }
}

extension SampleBuffer {
  /// Turns the picture as it will be seen by `turn`, by turning the pixels. What the sample says of its orientation
  /// still comes afterwards, so the pixels are turned by what leads to the same: the turn as it looks before that.
  fileprivate func turningPixels(
    by turn: VideoOrientation, with converter: PixelConverter
  ) throws(PipSinkError) -> SampleBuffer {
    let before = orientation.followed(by: turn).followed(by: orientation.inverse)
    return replacing(try converter.convert(pixelBuffer, to: .init(orientation: before)))
  }
}
