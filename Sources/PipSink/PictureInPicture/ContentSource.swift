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

/// What picture-in-picture shows.
@MainActor
public struct ContentSource {
  enum Kind {
    case stream(FrameRouter, StreamID, keepsShowingInApp: Bool)
    case displayLayer(SampleBufferDisplayLayer)
  }

  var kind: Kind
  /// Not kept.
  weak var playbackDelegate: (any PictureInPicturePlaybackDelegate)?

  /// A stream of a call: its frames go to the picture-in-picture window instead of its in-app surface. The router tells
  /// which stream; ``PictureInPictureController/setSource(streamID:)`` takes another one.
  ///
  /// - Parameter keepsShowingInApp: whether it goes on in the app as well.
  public init(router: FrameRouter, streamID: StreamID, keepsShowingInApp: Bool = false) {
    kind = .stream(router, streamID, keepsShowingInApp: keepsShowingInApp)
  }

  /// A display layer that the app enqueues frames on: it moves to the picture-in-picture window with its picture, and
  /// back to its surface.
  public init(displayLayer: SampleBufferDisplayLayer, playbackDelegate: any PictureInPicturePlaybackDelegate) {
    kind = .displayLayer(displayLayer)
    self.playbackDelegate = playbackDelegate
  }
}
