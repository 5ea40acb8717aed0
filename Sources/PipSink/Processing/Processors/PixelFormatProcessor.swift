/// Converts frames to one pixel format, for consumers such as encoders or GPUs that support nothing else.
///
/// Frames in that format pass unchanged. The size stays the same. Memory comes from a pool, which follows the stream's
/// size. Conversion to a ten-bit format is not supported: such frames are dropped and counted.
public final class PixelFormatProcessor: PoolingProcessor {
  /// The pixel format of the processed frames.
  let pixelFormat: PixelFormat
  private let converter: PixelConverter

  /// Makes a processor.
  ///
  /// - Parameters:
  ///   - pixelFormat: the pixel format of the processed frames.
  ///   - pool: provides the frames' memory; a new pool by default.
  public init(_ pixelFormat: PixelFormat, pool: PixelBufferPool = PixelBufferPool()) {
    self.pixelFormat = pixelFormat
    converter = PixelConverter(pool: pool)
  }

  /// The pool that the frames' memory comes from.
  package var pool: PixelBufferPool { converter.pool }

  /// The effect: all frames have one pixel format.
  public var effect: FrameEffect { FrameEffect(pixelFormat: pixelFormat) }

  /// Returns the frame in the pixel format.
  ///
  /// - Throws: the errors of ``PixelConverter/convert(_:to:)-(PixelBuffer,_)``.
  public func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
    if sampleBuffer.pixelBuffer.pixelFormat == pixelFormat { return sampleBuffer }
    return sampleBuffer.replacing(try converter.convert(sampleBuffer.pixelBuffer, to: .init(pixelFormat: pixelFormat)))
  }
}
