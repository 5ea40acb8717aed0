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
