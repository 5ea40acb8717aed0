/// A stream whose frames an app pushes itself, for instance because they come from the app's own media engine.
///
/// Frames are numbered and passed on in the order of the calls, on the caller's thread. Any thread may push.
public final class StreamInput: Sendable {
  private struct State {
    var sequenceNumber: UInt64 = 0
    /// What the app has said of the last planes that were copied, and the description that was made of it.
    var copied: (said: (PixelFormat, PictureSize, Colorimetry?, Int, Int), description: VideoFormatDescription)?
  }

  /// The ID of the stream.
  public let streamID: StreamID
  private let consumer: any SampleBufferConsumer
  private let pool: PixelBufferPool
  private let state = Locked(State())

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

  /// Pushes a frame with its `timing:` and `orientation:`, without copying it. The frame may come from a
  /// ``PixelBufferPool``, from memory that the app lends (``PixelBuffer/init(unsafeLending:_:release:)``), or from a
  /// GStreamer pipeline of the app (``PixelBuffer/init(unsafeGstSample:)``).
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
    state.withLock { state in
      state.sequenceNumber += 1
      sampleBuffer.sequenceNumber = state.sequenceNumber
      consumer.consume(sampleBuffer)
    }
  }

  /// Pushes a frame with its `timing:` and `orientation:` from planes that are valid during the call only. They are
  /// copied once, into memory of the pool.
  ///
  /// - Parameters:
  ///   - planes: the planes of the format, in its order. What is between their rows may be read, and is not shown.
  ///   - format: the pixel format.
  ///   - size: the size in pixels, which may be odd.
  ///   - timing: when the frame is to be shown. A frame without times is shown at once.
  ///   - orientation: how the picture is to be rotated or mirrored when it is shown.
  ///   - colorimetry: how YUV values are converted to RGB; nil for GStreamer's default for the size.
  ///   - pixelAspectRatio: the width of a pixel divided by its height, as a fraction.
  /// - Throws: the errors of ``VideoFormatDescription/make(_:size:frameRate:pixelAspectRatio:colorimetry:)``,
  ///   ``PixelBufferPool/makePixelBuffer(_:)`` and ``PixelBuffer/init(unsafeLending:_:release:)``. The frame is not
  ///   pushed then.
  @inlinable  // so that the caller's array needs no memory of its own
  public func push(
    copying planes: [UnsafeLentPlane], format: PixelFormat, size: PictureSize, timing: SampleTiming = .invalid,
    orientation: VideoOrientation = .upright, colorimetry: Colorimetry? = nil,
    pixelAspectRatio: (numerator: Int, denominator: Int) = (1, 1)
  ) throws(PipSinkError) {
    try push(planes.span, format, size, timing, orientation, colorimetry, pixelAspectRatio)
  }

  @usableFromInline
  func push(
    _ planes: Span<UnsafeLentPlane>, _ pixelFormat: PixelFormat, _ size: PictureSize, _ timing: SampleTiming,
    _ orientation: VideoOrientation, _ colorimetry: Colorimetry?, _ ratio: (numerator: Int, denominator: Int)
  ) throws(PipSinkError) {
    let said = (pixelFormat, size, colorimetry, ratio.numerator, ratio.denominator)
    let format = try state.withLock { state throws(PipSinkError) in
      if let copied = state.copied, copied.said == said { return copied.description }
      let description = try VideoFormatDescription.make(
        pixelFormat, size: size, pixelAspectRatio: ratio,
        colorimetry: pixelFormat.isRGB ? nil : colorimetry?.capsValue)
      state.copied = (said, description)
      return description
    }
    var frame = try pool.makePixelBuffer(format)
    try frame.copy(planes)
    push(frame.finish(), timing: timing, orientation: orientation)
  }
}
