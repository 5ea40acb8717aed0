/// A destination of the router's frames, which is a display layer. All methods must return at once, and must not call
/// the router, since they are called under a stream's lock.
protocol SampleBufferDestination: AnyObject, Sendable {
  /// Receives the next frame of a stream.
  ///
  /// - Returns: whether the frame replaces one that was waiting here, and that will never be shown.
  @discardableResult
  func enqueue(_ sampleBuffer: SampleBuffer) -> Bool

  /// Begins with the frames of another stream. Waiting frames are dropped, and `latest` is shown at once.
  ///
  /// - Parameters:
  ///   - latest: the stream's latest frame. With nil the last picture is removed.
  ///   - isFresh: whether `latest` has not been shown anywhere yet, so that it counts if ``enqueue(_:)`` replaces it.
  ///   - presented: is called once, on the presenting thread, with the moment when the first picture from now on was
  ///     presented. It is released without a call if that never happens.
  func begin(with latest: SampleBuffer?, isFresh: Bool, presented: (@Sendable (MonotonicTime) -> Void)?)

  /// Ends the frames of a stream.
  ///
  /// - Parameter removingImage: whether to remove the last picture.
  /// - Returns: the frame that was waiting and that will not be shown here.
  func relinquish(removingImage: Bool) -> SampleBuffer?

  /// Sets what the destination shares with others that show the same stream. Called before the stream's first frame.
  ///
  /// - Parameters:
  ///   - tally: counts what becomes of the stream's frames; nil for a destination that shows the stream in addition to its
  ///     surface.
  ///   - conversions: convert the stream's frames and have its colour balance.
  ///   - notice: is to be given when ``bounds`` or ``demand(countingHidden:)`` may have changed.
  func report(to tally: PresentationTally?, sharing conversions: FrameConversions, notifying notice: DemandNotice)

  /// Shows the current picture again, because something about its stream has changed.
  func redraw()

  /// The size of the layer's renderer in pixels; nil without a renderer, or while that has no size.
  var bounds: PictureSize? { get }

  /// How large the frames have to be for what shows them, in the orientation in which they come here.
  ///
  /// - Parameter countingHidden: whether a renderer counts that nobody can see now.
  func demand(countingHidden: Bool) -> StreamDemand
}
