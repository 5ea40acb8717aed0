/// The part of a medium that can be played: where it begins, and how long it is.
public struct MediaTimeRange: Equatable, Sendable {
  public var start: MediaTime
  /// ``MediaTime/positiveInfinity`` of what is live.
  public var duration: MediaTime

  public init(start: MediaTime, duration: MediaTime) {
    self.start = start
    self.duration = duration
  }

  /// A source without an end, in which nobody can skip.
  public static let live = MediaTimeRange(start: .zero, duration: .positiveInfinity)

  public var isLive: Bool { !duration.isNumeric }
}

/// Plays what a display layer shows, for the controls of its picture-in-picture window. All calls come on the main
/// actor.
@MainActor
public protocol PictureInPicturePlaybackDelegate: AnyObject {
  func pictureInPictureController(_ controller: PictureInPictureController, setPlaying isPlaying: Bool)
  func pictureInPictureControllerIsPlaybackPaused(_ controller: PictureInPictureController) -> Bool
  func pictureInPictureControllerTimeRange(_ controller: PictureInPictureController) -> MediaTimeRange
  /// - Parameter interval: forward, or backward when it is negative.
  func pictureInPictureController(_ controller: PictureInPictureController, skipBy interval: MediaTime) async
  func pictureInPictureController(
    _ controller: PictureInPictureController, didTransitionToRenderSize size: PictureSize)
}
