/// Makes frames of one pixel format of all others, for consumers that take nothing else (encoders, GPUs).
///
/// Those that have the format pass as they are. The size stays; memory comes from a pool, which follows the stream's
/// size. Ten-bit formats cannot be made of others: such frames are dropped and counted.
public final class PixelFormatProcessor: PoolingProcessor {
  public let pixelFormat: PixelFormat
  private let converter: PixelConverter

  /// - Parameter pool: where the frames' memory comes from; one of its own by default.
  public init(_ pixelFormat: PixelFormat, pool: PixelBufferPool = PixelBufferPool()) {
    self.pixelFormat = pixelFormat
    converter = PixelConverter(pool: pool)
  }

  public var pool: PixelBufferPool { converter.pool }

  public var effect: FrameEffect { FrameEffect(pixelFormat: pixelFormat) }

  public func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
    if sampleBuffer.pixelBuffer.pixelFormat == pixelFormat { return sampleBuffer }
    return sampleBuffer.replacing(try converter.convert(sampleBuffer.pixelBuffer, to: .init(pixelFormat: pixelFormat)))
  }
}
