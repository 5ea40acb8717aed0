/// What a ``PictureInPictureSession`` reports, in the order in which it happens.
public enum SessionEvent: Sendable {
  /// A stream has been added.
  case streamAdded(StreamID)
  /// A stream has been removed. The summary contains what was known of it last; it is nil where the stream's owner had
  /// removed it from the router before. It is the last event of the stream.
  case streamRemoved(StreamID, StreamSummary?)
  /// Something happened in the engine, or to a pushed stream.
  case engine(EngineEvent)
  /// Something happened to the session's picture-in-picture window. The stream is the one in the window, or the one
  /// that was or will be there.
  case pictureInPicture(PictureInPictureEvent, of: StreamID)
  /// What shows a stream has refused its frames three times in a row, or is gone. It is tried again with later frames.
  case surfaceFailed(StreamID, RenderingError)
  /// A stream whose surface had failed is shown again.
  case surfaceRecovered(StreamID)
  /// A stream has another name (``PictureInPictureSession/setName(_:of:)``).
  case nameChanged(StreamID)
  /// A stream can be sought in now or can no longer, or its duration has changed
  /// (``PictureInPictureSession/duration(of:)``).
  case durationChanged(StreamID)
  /// Another size of a stream's pictures is enough for those who see them, or nobody sees them any more, or somebody does
  /// again. More is asked for at once, and less after half a second. The elements before the stream's sink learn of it,
  /// too, by a custom upstream event, "pipsink-demand", with the integers `width` and `height`.
  case demandChanged(StreamID, StreamDemand)
  /// A stream goes on from another position after a seek through the session.
  case seeked(StreamID, to: MediaTime)
  /// ``PictureInPictureSession/isPaused``, `isMuted` or `volume` has changed, or an interruption has begun or ended.
  case playbackChanged
  /// Something happened to the display.
  case display(SessionDisplayEvent)
  /// Something that a key, a control or the configuration asked for was not possible.
  case refused(PipSinkError)
}

/// What is known of a stream at one moment.
public struct StreamSummary: Sendable {
  /// The numbers of its frames and times.
  public let statistics: RenderStatistics
  /// What the engine knows; nil for a stream that is not in the engine.
  public let info: StreamInfo?
  /// Its last thousand moves between the app and picture-in-picture.
  public let changes: [SurfaceChange]
  /// The last error of its processors; nil where there was none.
  package let processingError: PipSinkError?
  /// Whether it has processors.
  package let isProcessed: Bool

  /// The stream's ID.
  package var streamID: StreamID { statistics.streamID }
}

/// What users do with keys.
public enum SessionAction: Equatable, Sendable {
  /// Start or stop picture-in-picture.
  case togglePictureInPicture
  /// Show the next stream in picture-in-picture.
  case nextStream
  /// Pause or resume all streams.
  case togglePause
  /// Mute or unmute all streams.
  case toggleMute
  /// Hide the captions of all streams, or show them again.
  case toggleCaptions
  /// Make the app's window fill the screen, or restore its size.
  case toggleFullscreen
  /// Give the keyboard to the picture-in-picture window, so that its controls can be used without a pointer. In windows
  /// of PipSink it is the key F6.
  case focusPictureInPicture

  /// The keys of windows and terminals, each by its character, and what they do, for a list of keys.
  package static let keys: [(key: Character, action: SessionAction, summary: String)] = [
    ("p", .togglePictureInPicture, "start or stop picture-in-picture"),
    ("n", .nextStream, "show the next stream in picture-in-picture"),
    (" ", .togglePause, "pause the streams, or resume them"),
    ("m", .toggleMute, "switch the sound off, or on again"),
    ("v", .toggleCaptions, "hide the captions, or show them again"),
    ("f", .toggleFullscreen, "show the window in fullscreen, or stop that"),
  ]

  /// The action of a key; nil for a key that has none. Windows and terminals of PipSink have these keys: p, n, space, m,
  /// v and f, in the order of the first six cases.
  package init?(key: Character) {
    guard let entry = Self.keys.first(where: { $0.key == key }) else { return nil }
    self = entry.action
  }
}
