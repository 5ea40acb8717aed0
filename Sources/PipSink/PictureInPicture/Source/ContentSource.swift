/// What picture-in-picture shows: a stream that a router delivers, or a display layer that the app enqueues frames on.
@MainActor
public struct ContentSource {
  /// The two kinds of sources.
  enum Kind {
    case stream(FrameRouter, StreamID, keepsShowingInApp: Bool)
    case displayLayer(SampleBufferDisplayLayer)
  }

  var kind: Kind
  /// Plays the source; not kept alive.
  weak var playbackDelegate: (any PictureInPicturePlaybackDelegate)?

  /// Makes a source from a stream, such as a participant of a call. Its frames go to the picture-in-picture window
  /// instead of its place in the app. The source may be changed to another stream of the router with
  /// ``PictureInPictureController/setSource(streamID:)``.
  ///
  /// - Parameters:
  ///   - router: delivers the frames.
  ///   - streamID: the stream that is shown first.
  ///   - keepsShowingInApp: whether the stream is also shown in the app meanwhile.
  public init(router: FrameRouter, streamID: StreamID, keepsShowingInApp: Bool = false) {
    kind = .stream(router, streamID, keepsShowingInApp: keepsShowingInApp)
  }

  /// Makes a source from a display layer that the app enqueues frames on. The layer moves to the picture-in-picture
  /// window with its picture, and later returns to its renderer.
  ///
  /// - Parameters:
  ///   - displayLayer: the app's layer.
  ///   - playbackDelegate: plays, pauses and seeks for the window's controls; not kept alive.
  public init(displayLayer: SampleBufferDisplayLayer, playbackDelegate: any PictureInPicturePlaybackDelegate) {
    kind = .displayLayer(displayLayer)
    self.playbackDelegate = playbackDelegate
  }
}
