/// Makes NV12 frames of all others that have eight bits, for consumers that take nothing else (encoders, GPUs).
///
/// NV12 passes as it is. The size stays; memory comes from a pool, which follows the stream's size.
public final class NV12Processor: FrameProcessor {
  private let converter: PixelConverter

  /// - Parameter pool: where the frames' memory comes from; one of its own by default.
  public init(pool: PixelBufferPool = PixelBufferPool()) {
    converter = PixelConverter(pool: pool)
  }

  public var pool: PixelBufferPool { converter.pool }

  public func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
    if sampleBuffer.pixelBuffer.pixelFormat == .nv12 { return sampleBuffer }
    return sampleBuffer.replacing(try converter.convert(sampleBuffer.pixelBuffer, to: .init(pixelFormat: .nv12)))
  }
}
