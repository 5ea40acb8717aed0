/// Rotates the pixels of every frame, by a fixed angle or as the frame's orientation says.
///
/// Rotating a 1080p frame costs more than copying it. If pixels need not be upright before they are shown, use
/// ``SampleBuffer/orientation`` or ``SampleBufferDisplayLayer/orientation`` instead, which cost almost nothing:
/// renderers rotate pictures after they have scaled them down.
///
/// Formats with 4:2:2 chroma (I422, YUY2, UYVY, Y210) lose vertical chroma resolution in rotations by 90 and 270 degrees.
public final class RotationProcessor: PoolingProcessor {
  /// The angle of a rotation.
  public enum Angle: Hashable, Sendable {
    /// Every frame is rotated clockwise by this angle, in addition to its own orientation.
    case fixed(VideoOrientation.Rotation)
    /// Every frame is rotated and mirrored by its ``SampleBuffer/orientation``, which comes from the stream's
    /// `image-orientation` tag and the buffer's affine meta.
    case automatic
  }

  /// The angle by which frames are rotated.
  let angle: Angle
  private let converter = PixelConverter()

  /// Makes a processor that rotates by an angle.
  public init(_ angle: Angle) {
    self.angle = angle
  }

  package var pool: PixelBufferPool { converter.pool }

  /// The effect: pixels are rotated.
  public var effect: FrameEffect {
    switch angle {
    case .automatic: FrameEffect(orientationChange: .automatic)
    case .fixed(let rotation): FrameEffect(orientationChange: .fixed(VideoOrientation(rotation: rotation)))
    }
  }

  /// Returns the rotated frame.
  ///
  /// - Throws: the errors of ``PixelConverter/convert(_:to:)-(PixelBuffer,_)``.
  public func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
    switch angle {
    case .automatic:
      return try converter.convert(sampleBuffer, to: .init())
    case .fixed(let rotation):
      return try sampleBuffer.changingPixels(by: VideoOrientation(rotation: rotation), with: converter)
    }
  }
}

/// Mirrors the pixels of every frame, horizontally or vertically.
package final class MirrorProcessor: PoolingProcessor {
  /// The direction in which a picture is mirrored.
  package enum Direction: String, CaseIterable, Sendable {
    /// Left and right are exchanged, as in a mirror.
    case horizontal
    /// Top and bottom are exchanged.
    case vertical
  }

  /// The direction in which pictures are mirrored.
  package let direction: Direction
  private let converter = PixelConverter()

  /// Makes a processor that mirrors in a direction.
  package init(_ direction: Direction = .horizontal) {
    self.direction = direction
  }

  package var pool: PixelBufferPool { converter.pool }

  /// The effect: pixels are mirrored.
  package var effect: FrameEffect { FrameEffect(orientationChange: .fixed(change)) }

  private var change: VideoOrientation { direction == .horizontal ? .mirrored : .flippedVertically }

  /// Returns the mirrored frame.
  ///
  /// - Throws: the errors of ``PixelConverter/convert(_:to:)-(PixelBuffer,_)``.
  package func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
    try sampleBuffer.changingPixels(by: change, with: converter)
  }
}

extension SampleBuffer {
  /// Applies `change` to the picture as a viewer sees it, by changing the pixels. The frame's orientation is applied
  /// after that, so the pixels are changed by `change` as it looks before that orientation.
  fileprivate func changingPixels(
    by change: VideoOrientation, with converter: PixelConverter
  ) throws(PipSinkError) -> SampleBuffer {
    let before = orientation.followed(by: change).followed(by: orientation.inverse)
    return replacing(try converter.convert(pixelBuffer, to: .init(orientation: before)))
  }
}
