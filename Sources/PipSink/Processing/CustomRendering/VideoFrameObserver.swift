/// Receives the frames of streams for custom rendering, as pixel buffers.
public protocol VideoFrameObserver: AnyObject, Sendable {
  /// Receives one frame. It is called on the stream's streaming thread, for one frame at a time and in order. The
  /// stream's branch of the pipeline waits for it.
  ///
  /// - Parameters:
  ///   - pixelBuffer: the frame's pixels. The reference may be kept.
  ///   - parameters: the format, size, orientation and times of the frame.
  ///   - streamID: the ID of the stream.
  func streamDidDeliver(_ pixelBuffer: PixelBuffer, parameters: VideoFrameParameters, streamID: StreamID)
}

/// Receives the frames of streams for custom rendering, as bytes.
public protocol RawVideoFrameObserver: AnyObject, Sendable {
  /// Receives one frame. It is called on the stream's streaming thread, for one frame at a time and in order. The
  /// stream's branch of the pipeline waits for it.
  ///
  /// - Parameters:
  ///   - rawFrame: the frame's bytes, which are valid only during the call.
  ///   - parameters: the format, size, orientation and times of the frame.
  ///   - streamID: the ID of the stream.
  func streamDidDeliver(_ rawFrame: borrowing RawVideoFrame, parameters: VideoFrameParameters, streamID: StreamID)
}

/// The receiver of frames for custom rendering, and the kind of buffer that it gets.
public enum VideoFrameReceiver: Sendable {
  /// The observer gets pixel buffers, which it may keep.
  case pixelBuffers(any VideoFrameObserver)
  /// The observer gets the bytes of the frames.
  case rawData(any RawVideoFrameObserver)
}

/// The format, size, orientation and times of a frame for custom rendering.
public struct VideoFrameParameters: Hashable, Sendable {
  /// The pixel format.
  public let pixelFormat: PixelFormat
  /// The size of the visible picture in pixels, before ``orientation`` is applied.
  public let size: PictureSize
  /// How the picture has to be rotated and mirrored to be upright.
  public let orientation: VideoOrientation
  /// The number of bytes from one row to the next, for each plane.
  public let strides: [Int]
  /// When the frame should be shown, and for how long.
  public let timing: SampleTiming
}

/// The bytes of a frame, which are valid during one call of a ``RawVideoFrameObserver``.
public struct RawVideoFrame: ~Copyable {
  private let frame: MappedFrame

  init(_ frame: MappedFrame) {
    self.frame = frame
  }

  /// The number of planes.
  public var planeCount: Int { frame.formatDescription.planeCount }

  /// Calls `body` with the bytes of one plane, from the first visible sample to the end of the last visible row.
  ///
  /// - Parameters:
  ///   - index: the plane's index, from 0.
  ///   - body: gets the bytes and their layout. The span cannot leave the closure.
  /// - Returns: the result of `body`.
  /// - Throws: ``PipSinkError/Frame/noSuchPlane(index:count:)``.
  public borrowing func withPlane<Result>(
    _ index: Int, _ body: (RawSpan, PixelBuffer.PlaneLayout) -> Result
  ) throws(PipSinkError) -> Result {
    guard (0..<planeCount).contains(index) else { throw .frame(.noSuchPlane(index: index, count: planeCount)) }
    return frame.plane(index).withBytes(body)
  }
}

/// An observer for custom rendering that counts the frames of each stream.
package final class FrameTally: VideoFrameObserver {
  /// The count of one stream.
  package struct Count: Equatable, Sendable {
    /// The number of frames.
    package var frames: UInt64 = 0
    /// The parameters of the newest frame.
    package var parameters: VideoFrameParameters
  }

  private let counts = Locked<[StreamID: Count]>([:])

  /// Makes a tally without counts.
  package init() {}

  /// The count of a stream since its frames were first observed; nil for a stream without frames.
  package subscript(streamID: StreamID) -> Count? { counts.withLock { $0[streamID] } }

  /// Counts a frame.
  package func streamDidDeliver(_ pixelBuffer: PixelBuffer, parameters: VideoFrameParameters, streamID: StreamID) {
    counts.withLock { counts in
      counts[streamID, default: Count(parameters: parameters)].frames += 1
      counts[streamID]?.parameters = parameters
    }
  }
}
