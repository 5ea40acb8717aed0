/// Counts the frames that custom rendering is given, by stream.
public final class FrameTally: VideoFrameObserver {
  /// Of one stream.
  public struct Count: Equatable, Sendable {
    public var frames: UInt64 = 0
    /// Of the newest frame.
    public var parameters: VideoFrameParameters
  }

  private let counts = Locked<[StreamID: Count]>([:])

  public init() {}

  /// Since the start of each stream.
  public subscript(streamID: StreamID) -> Count? { counts.withLock { $0[streamID] } }

  public func streamDidDeliver(_ pixelBuffer: PixelBuffer, parameters: VideoFrameParameters, streamID: StreamID) {
    counts.withLock { counts in
      counts[streamID, default: Count(parameters: parameters)].frames += 1
      counts[streamID]?.parameters = parameters
    }
  }
}
