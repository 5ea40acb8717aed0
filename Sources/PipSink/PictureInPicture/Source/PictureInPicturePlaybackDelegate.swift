/// The part of a medium that can be played: where it begins, and how long it is.
public struct MediaTimeRange: Equatable, Sendable {
  /// Where it begins.
  public var start: MediaTime
  /// How long it is; an infinity for a live source (``live``).
  public var duration: MediaTime

  /// Makes a range from its start and its duration.
  public init(start: MediaTime, duration: MediaTime) {
    self.start = start
    self.duration = duration
  }

  /// The range of a live source, which has no end and cannot be sought in.
  public static let live = MediaTimeRange(start: .zero, duration: .positiveInfinity)

  /// Whether the source is live, which it is when its duration is not numeric.
  var isLive: Bool { !duration.isNumeric }
}

/// Plays what a display layer shows, for the controls of its picture-in-picture window. Every method is called on the
/// main actor.
@MainActor
public protocol PictureInPicturePlaybackDelegate: AnyObject {
  /// Plays or pauses the source, because the user has used the window's play button.
  func pictureInPictureController(_ controller: PictureInPictureController, setPlaying isPlaying: Bool)
  /// Returns whether the source is paused. ``PictureInPictureController/invalidatePlaybackState()`` has it asked again.
  func pictureInPictureControllerIsPlaybackPaused(_ controller: PictureInPictureController) -> Bool
  /// Returns what can be played; ``MediaTimeRange/live`` hides the skip buttons.
  func pictureInPictureControllerTimeRange(_ controller: PictureInPictureController) -> MediaTimeRange
  /// Seeks by an interval, which is negative for a seek backward, because the user has used a skip button. The controls
  /// are updated when it returns.
  func pictureInPictureController(_ controller: PictureInPictureController, skipBy interval: MediaTime) async
  /// Called when the picture-in-picture window has a new size, in pixels.
  func pictureInPictureController(
    _ controller: PictureInPictureController, didTransitionToRenderSize size: PictureSize)
}
