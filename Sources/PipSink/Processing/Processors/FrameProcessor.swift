/// Something that is done to a stream's frames before they are routed: a filter, an effect, a thinning out.
///
/// An instance belongs to one stream. It is called on that stream's streaming thread, one frame at a time; while it
/// works the stream's branch of the pipeline stands still.
public protocol FrameProcessor: AnyObject, Sendable {
  /// The frames that follow have this format. Called before the first frame and at every change.
  func formatDidChange(to format: VideoFormatDescription)

  /// What it does to the format of its frames. ``FrameEffect/none`` unless it says otherwise.
  ///
  /// A filter element negotiates by it. A processor whose frames turn out to be of another format than that can be used
  /// there all the same: the format is negotiated anew with its first frame.
  var effect: FrameEffect { get }

  /// - Returns: the frame to go on with, which may be the same one; nil to drop it.
  /// - Throws: ``PipSinkError`` when it cannot be done. The frame is then dropped rather than shown unprocessed, and
  ///   counted.
  func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer?
}

extension FrameProcessor {
  public func formatDidChange(to format: VideoFormatDescription) {}

  public var effect: FrameEffect { .none }
}

/// A processor that makes frames in memory of a pool.
package protocol PoolingProcessor: FrameProcessor {
  var pool: PixelBufferPool { get }
}
