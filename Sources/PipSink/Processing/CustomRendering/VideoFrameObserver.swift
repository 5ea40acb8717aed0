/// Gets a stream's frames to look at, or to show them by its own means.
///
/// Called on the stream's streaming thread, one frame at a time and in their order; the pipeline's branch stands still
/// meanwhile.
public protocol VideoFrameObserver: AnyObject, Sendable {
  /// One frame: a reference, which may be kept.
  func streamDidDeliver(_ pixelBuffer: PixelBuffer, parameters: VideoFrameParameters, streamID: StreamID)
}

/// Gets the bytes of a stream's frames, under the same conditions as a ``VideoFrameObserver``.
public protocol RawVideoFrameObserver: AnyObject, Sendable {
  /// The bytes of one frame, which end with the call.
  func streamDidDeliver(_ rawFrame: borrowing RawVideoFrame, parameters: VideoFrameParameters, streamID: StreamID)
}

/// Who gets a stream's frames, and in which kind of buffer.
public enum VideoFrameReceiver: Sendable {
  case pixelBuffers(any VideoFrameObserver)
  case rawData(any RawVideoFrameObserver)
}

/// What a frame is like.
public struct VideoFrameParameters: Hashable, Sendable {
  public let pixelFormat: PixelFormat
  /// The visible picture as it lies in memory, in pixels.
  public let size: PictureSize
  /// How it has to be turned to be upright.
  public let orientation: VideoOrientation
  /// Bytes from one row to the next, by plane.
  public let strides: [Int]
  public let timing: SampleTiming
}

/// The bytes of a frame, by plane, for the time of one call.
public struct RawVideoFrame: ~Copyable {
  private let frame: MappedFrame

  init(_ frame: MappedFrame) {
    self.frame = frame
  }

  public var planeCount: Int { frame.formatDescription.planeCount }

  /// Calls `body` with the bytes of one plane, from the first visible row's first sample to the last row's end.
  ///
  /// - Throws: ``PipSinkError/Frame/noSuchPlane(index:count:)``.
  public borrowing func withPlane<Result>(
    _ index: Int, _ body: (RawSpan, PixelBuffer.PlaneLayout) -> Result
  ) throws(PipSinkError) -> Result {
    guard (0..<planeCount).contains(index) else { throw .frame(.noSuchPlane(index: index, count: planeCount)) }
    let plane = frame.plane(index)
    return body(UnsafeRawBufferPointer(start: plane.data, count: plane.byteCount).bytes, plane.layout)
  }
}

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
