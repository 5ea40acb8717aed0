/// Hands a stream's frames to an observer, and on to the next consumer if there is one.
public final class VideoFrameObservation: SampleBufferConsumer {
  /// Counts of frames.
  public struct Statistics: Equatable, Sendable {
    public internal(set) var delivered: UInt64 = 0
    /// Those of them that had to be converted, since the pipeline could not deliver the wanted kind.
    public internal(set) var converted: UInt64 = 0
    /// Left out because they could not be read or converted.
    public internal(set) var skipped: UInt64 = 0
  }

  public let streamID: StreamID
  public let formatSeries: FrameFormatSeries
  private let receiver: VideoFrameReceiver
  private let next: (any SampleBufferConsumer)?
  private let converter = PixelConverter()
  private let state = Locked(State())

  private struct State {
    var statistics = Statistics()
    /// The last frame's, so that equal ones need no new array.
    var strides: [Int] = []
  }

  /// - Parameters:
  ///   - formatSeries: RGB, YUV or one pixel format. It is negotiated with the pipeline when it starts; where the
  ///     pipeline cannot deliver it, frames are converted (RGB is BGRA then, and YUV I420). Ten-bit formats are not
  ///     made of others: such frames are skipped.
  ///   - next: gets every frame as it came, after the receiver.
  public init(
    of streamID: StreamID, by receiver: VideoFrameReceiver, formatSeries: FrameFormatSeries = .any,
    next: (any SampleBufferConsumer)? = nil
  ) {
    self.streamID = streamID
    self.receiver = receiver
    self.formatSeries = formatSeries
    self.next = next
  }

  public var statistics: Statistics { state.withLock { $0.statistics } }

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
