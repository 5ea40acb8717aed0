/// Passes a stream's frames to an observer, and then to the next consumer if there is one.
public final class VideoFrameObservation: SampleBufferConsumer {
  /// The counts of the observed frames.
  package struct Statistics: Equatable, Sendable {
    /// The number of frames delivered to the observer.
    package internal(set) var delivered: UInt64 = 0
    /// The number of delivered frames that were converted, because the pipeline could not deliver the wanted kind.
    package internal(set) var converted: UInt64 = 0
    /// The number of frames that were not delivered, because they could not be read or converted.
    package internal(set) var skipped: UInt64 = 0
  }

  /// The ID of the stream.
  package let streamID: StreamID
  /// The kind of pixels that the observer wants.
  public let formatSeries: FrameFormatSeries
  private let receiver: VideoFrameReceiver
  private let next: (any SampleBufferConsumer)?
  private let converter = PixelConverter()
  private let state = Locked(State())

  private struct State {
    var statistics = Statistics()
    /// The strides of the last frame, so that equal ones need no new array.
    var strides: [Int] = []
  }

  /// Makes an observation of one stream.
  ///
  /// - Parameters:
  ///   - streamID: the ID of the stream.
  ///   - receiver: gets the frames.
  ///   - formatSeries: the kind of pixels that the receiver wants. It is negotiated with the pipeline at its start. If
  ///     the pipeline cannot deliver it, frames are converted, to BGRA for RGB and to I420 for YUV. Frames that would
  ///     have to be converted to a ten-bit format are skipped.
  ///   - next: gets every frame unchanged, after the receiver.
  public init(
    of streamID: StreamID, by receiver: VideoFrameReceiver, formatSeries: FrameFormatSeries = .any,
    next: (any SampleBufferConsumer)? = nil
  ) {
    self.streamID = streamID
    self.receiver = receiver
    self.formatSeries = formatSeries
    self.next = next
  }

  /// The counts of the frames so far.
  package var statistics: Statistics { state.withLock { $0.statistics } }

  /// Passes a frame to the receiver and the next consumer, on the caller's thread.
  public func consume(_ sampleBuffer: SampleBuffer) {
    do throws(PipSinkError) {
      try observe(sampleBuffer)
    } catch {
      state.withLock { $0.statistics.skipped += 1 }
    }
    next?.consume(sampleBuffer)
  }

  private func observe(_ sampleBuffer: SampleBuffer) throws(PipSinkError) {
    var pixelBuffer = sampleBuffer.pixelBuffer
    let fits = formatSeries.contains(pixelBuffer.pixelFormat)
    if !fits { pixelBuffer = try converter.convert(pixelBuffer, to: .init(pixelFormat: formatSeries.fallback)) }
    try pixelBuffer.withMappedFrame { frame throws(PipSinkError) in
      let parameters = VideoFrameParameters(
        pixelFormat: pixelBuffer.pixelFormat, size: frame.visible.size, orientation: sampleBuffer.orientation,
        strides: strides(of: frame), timing: sampleBuffer.timing)
      switch receiver {
      case .pixelBuffers(let observer):
        observer.streamDidDeliver(pixelBuffer, parameters: parameters, streamID: streamID)
      case .rawData(let observer):
        observer.streamDidDeliver(RawVideoFrame(frame), parameters: parameters, streamID: streamID)
      }
    }
    state.withLock { state in
      state.statistics.delivered += 1
      if !fits { state.statistics.converted += 1 }
    }
  }

  private func strides(of frame: MappedFrame) -> [Int] {
    let count = frame.formatDescription.planeCount
    return state.withLock { state in
      let isUnchanged =
        state.strides.count == count
        && (0..<count).allSatisfy { state.strides[$0] == frame.plane($0).layout.bytesPerRow }
      if !isUnchanged { state.strides = (0..<count).map { frame.plane($0).layout.bytesPerRow } }
      return state.strides
    }
  }
}
