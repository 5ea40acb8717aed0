/// Something that is done to a stream's frames before they are routed: a filter, an effect, a thinning out.
///
/// An instance belongs to one stream. It is called on that stream's streaming thread, one frame at a time; while it works
/// the stream's branch of the pipeline stands still.
public protocol FrameProcessor: AnyObject, Sendable {
  /// The frames that follow have this format. Called before the first frame and at every change.
  func formatDidChange(to format: VideoFormatDescription)

  /// - Returns: the frame to go on with, which may be the same one; nil to drop it.
  /// - Throws: ``PipSinkError`` when it cannot be done. The frame is then dropped rather than shown unprocessed, and counted.
  func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer?
}

extension FrameProcessor {
  public func formatDidChange(to format: VideoFormatDescription) {}
}
