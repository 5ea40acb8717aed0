/// Processes a stream's frames before they are routed, for instance as a filter or an effect, or by dropping some.
///
/// An instance belongs to one stream. It is called on that stream's streaming thread, for one frame at a time. The
/// stream's branch of the pipeline waits for it.
public protocol FrameProcessor: AnyObject, Sendable {
  /// Tells the processor the format of the following frames. Called before the first frame and at every change. The
  /// default implementation does nothing.
  func formatDidChange(to format: VideoFormatDescription)

  /// How the processor changes the format of its frames; `FrameEffect()`, which is no change, by default.
  ///
  /// A filter element negotiates its output with it. If the processor's frames then have another format, the element
  /// negotiates again with the first of them.
  var effect: FrameEffect { get }

  /// Processes one frame.
  ///
  /// - Parameter sampleBuffer: the frame.
  /// - Returns: the processed frame, which may be the same one; nil to drop it.
  /// - Throws: ``PipSinkError`` when the frame cannot be processed. It is then dropped and counted, and not shown
  ///   unprocessed.
  func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer?
}

extension FrameProcessor {
  /// The default implementation, which does nothing.
  public func formatDidChange(to format: VideoFormatDescription) {}

  /// The default: the processor does not change the format.
  public var effect: FrameEffect { .none }
}

/// A processor that makes frames in memory of a pool.
package protocol PoolingProcessor: FrameProcessor {
  /// The pool that the new frames' memory comes from.
  var pool: PixelBufferPool { get }
}
