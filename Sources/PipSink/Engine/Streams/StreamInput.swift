/// The way in for an app that has an engine of its own: it pushes a stream's frames itself.
///
/// Frames are numbered and handed on in the order of the calls, on the caller's thread; any thread may call.
public final class StreamInput: Sendable {
  public let streamID: StreamID
  private let consumer: any SampleBufferConsumer
  private let pool: PixelBufferPool
  private let sequenceNumber = Locked<UInt64>(0)

  /// - Parameters:
  ///   - consumer: a router's for this stream, for instance.
  ///   - pool: where frames are copied to.
  public init(
    streamID: StreamID, deliveringTo consumer: any SampleBufferConsumer, pool: PixelBufferPool = PixelBufferPool()
  ) {
    self.streamID = streamID
    self.consumer = consumer
    self.pool = pool
  }

  /// Hands on a frame: one of an app's own pool, one that it lends (``PixelBuffer/init(unsafeLending:_:release:)``), or
  /// one of a pipeline of its own (``PixelBuffer/init(unsafeGstSample:)``).
  public func push(
    _ pixelBuffer: PixelBuffer, timing: SampleTiming = .invalid, orientation: VideoOrientation = .upright
  ) {
    var sampleBuffer = SampleBuffer(pixelBuffer: pixelBuffer, timing: timing)
    sampleBuffer.orientation = orientation
    if FrameTimes.areTaken { sampleBuffer.receivedAt = CounterClock.now }
    // The lock keeps frames in their order.
    sequenceNumber.withLock { number in
      number += 1
      sampleBuffer.sequenceNumber = number
      consumer.consume(sampleBuffer)
    }
  }

  /// Copies a frame: `copy` fills memory of the pool, plane by plane.
  ///
  /// - Throws: ``PipSinkError/Frame/poolExhausted(limit:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``, and what
  ///   `copy` throws.
  public func push(
    _ format: VideoFormatDescription, timing: SampleTiming = .invalid, orientation: VideoOrientation = .upright,
    copying copy: (inout MutablePixelBuffer) throws(PipSinkError) -> Void
  ) throws(PipSinkError) {
    var frame = try pool.makePixelBuffer(format)
    try copy(&frame)
    push(frame.finish(), timing: timing, orientation: orientation)
  }
}
