/// A stream whose frames an app pushes itself, for instance because they come from the app's own media engine.
///
/// Frames are numbered and passed on in the order of the calls, on the caller's thread. Any thread may push.
public final class StreamInput: Sendable {
  /// The ID of the stream.
  public let streamID: StreamID
  private let consumer: any SampleBufferConsumer
  private let pool: PixelBufferPool
  private let sequenceNumber = Locked<UInt64>(0)

  /// Makes the input of one stream.
  ///
  /// - Parameters:
  ///   - streamID: the ID of the stream.
  ///   - consumer: gets the frames; for instance ``FrameRouter/input(for:)``.
  ///   - pool: provides the memory that frames are copied into.
  public init(
    streamID: StreamID, deliveringTo consumer: any SampleBufferConsumer, pool: PixelBufferPool = PixelBufferPool()
  ) {
    self.streamID = streamID
    self.consumer = consumer
    self.pool = pool
  }

  /// Pushes a frame without copying it. The frame may come from a ``PixelBufferPool``, from memory that the app lends
  /// (``PixelBuffer/init(unsafeLending:_:release:)``), or from a GStreamer pipeline of the app
  /// (``PixelBuffer/init(unsafeGstSample:)``).
  ///
  /// - Parameters:
  ///   - pixelBuffer: the frame's pixels.
  ///   - timing: when the frame is to be shown. A frame without times is shown at once.
  ///   - orientation: how the picture is to be rotated or mirrored when it is shown.
  public func push(
    _ pixelBuffer: PixelBuffer, timing: SampleTiming = .invalid, orientation: VideoOrientation = .upright
  ) {
    var sampleBuffer = SampleBuffer(pixelBuffer: pixelBuffer, timing: timing)
    sampleBuffer.orientation = orientation
    sampleBuffer.receivedAt = .now
    // The lock keeps frames in their order.
    sequenceNumber.withLock { number in
      number += 1
      sampleBuffer.sequenceNumber = number
      consumer.consume(sampleBuffer)
    }
  }

  /// Pushes a frame that `copy` writes into memory of the pool.
  ///
  /// - Parameters:
  ///   - format: the format of the frame.
  ///   - timing: when the frame is to be shown. A frame without times is shown at once.
  ///   - orientation: how the picture is to be rotated or mirrored when it is shown.
  ///   - copy: writes the pixels, plane by plane. It is called once, on the caller's thread.
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
