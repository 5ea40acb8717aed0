/// What becomes of a picture-in-picture window whose stream has come to its end.
public enum PictureInPictureEndAction: String, CaseIterable, Sendable {
  /// The stream that the selector chooses next takes the window. Where no stream is left, picture-in-picture stops, with
  /// ``PictureInPictureStopReason/sourceEnded``.
  case nextStream = "next"
  /// The window stays, and says that there is no picture, until another stream is chosen or the stream comes back.
  case placeholder
  /// Picture-in-picture stops, with ``PictureInPictureStopReason/sourceEnded``.
  case stop
}

extension PictureInPictureController {
  public struct Configuration: Sendable {
    /// The window's shape, whatever the stream's is; nil takes the stream's, and follows it.
    public var preferredContentSize: PictureSize?
    /// How a stream's pictures are fitted to the window; a display layer has its own.
    public var videoGravity = VideoGravity.resizeAspect
    /// What is done about a window that cannot be made or that dies, while the stream is shown in the app; nil leaves it
    /// at that. A desktop that has no such windows is not asked again.
    public var retryPolicy: RetryPolicy? = RetryPolicy()
    /// What becomes of the window when the stream in it ends, fails or is removed from the ``streamSelector``.
    public var endAction = PictureInPictureEndAction.nextStream
    /// How far the skip buttons go.
    public var skipInterval = Duration.seconds(15)
    /// For how long a change between background and foreground has to hold before anything follows from it.
    public var backgroundDelay = Duration.milliseconds(50)
    /// How long the first picture is waited for; without it `didStart` is reported all the same.
    public var firstPictureTimeout = Duration.seconds(2)
    /// Whether the engine decodes nothing else while the window is open, also while the app is in the foreground.
    public var decodesOnlyPictureInPictureStream = false
    /// How long the app may take to restore its user interface.
    public var restoreTimeout = Duration.seconds(5)

    public init() {}
  }
}
