/// What the router hands frames to: a display layer. All calls return at once and come with a stream's lock held, so
/// they must not call the router.
protocol SampleBufferDestination: AnyObject, Sendable {
  /// Takes a stream's next frame.
  ///
  /// - Returns: whether a frame that was waiting here is replaced by it, and so will never be shown.
  @discardableResult
  func enqueue(_ sampleBuffer: SampleBuffer) -> Bool

  /// From here on the frames of another stream come. Drops what waits, and shows `latest` at once; with nothing to
  /// show, takes the last picture away.
  ///
  /// - Parameters:
  ///   - isFresh: whether `latest` has been shown nowhere yet, so that it counts when ``enqueue(_:)`` replaces it.
  ///   - presented: called once, after the first picture from here on has been presented, on the presenting thread.
  ///     Dropped without a call when nothing ever is.
  func begin(with latest: SampleBuffer?, isFresh: Bool, presented: (@Sendable (MonotonicTime) -> Void)?)

  /// From here on no frames come.
  ///
  /// - Returns: the frame that was waiting to be shown, which now will not be.
  func relinquish(removingImage: Bool) -> SampleBuffer?

  /// From here on `tally` counts what becomes of the frames, and says what colours they have: called before the first
  /// frame of its stream.
  func report(to tally: PresentationTally)

  /// Shows the picture once more, since something about its stream has changed.
  func redraw()

  /// The surface's size in pixels; nil without a surface, or while it has none.
  var bounds: PictureSize? { get }
}
