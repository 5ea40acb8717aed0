/// What a ``PictureInPictureSession`` tells, in the order that it happens.
public enum SessionEvent: Sendable {
  case streamAdded(StreamID)
  /// A stream has been removed. The summary is what there was to know of it; nil where its owner had taken it out of the
  /// router before.
  case streamRemoved(StreamID, StreamSummary?)
  /// Something happened in the engine, or to a stream that is pushed.
  case engine(EngineEvent)
  /// Something happened to the session's picture-in-picture window, with the stream that it is about: the one that is in
  /// the window, was last or will be next.
  case pictureInPicture(PictureInPictureEvent, of: StreamID)
  /// A stream can, or can no longer, be sought in, or its length is another one (``PictureInPictureSession/duration(of:)``).
  case durationChanged(StreamID)
  /// A stream goes on from another place, which somebody has asked the session for.
  case seeked(StreamID, to: MediaTime)
  /// ``PictureInPictureSession/isPaused``, `isMuted` or `volume` has changed, or an interruption has begun or ended.
  case playbackChanged
  case display(SessionDisplayEvent)
  /// What a key asked for, or the configuration at the start, could not be done.
  case refused(PipSinkError)
}

/// What there is to know of a stream at one moment.
public struct StreamSummary: Sendable {
  public let statistics: RenderStatistics
  /// What the engine knows; nil of a stream that is not in it.
  public let info: StreamInfo?
  /// Its moves between the app and picture-in-picture, the last thousand.
  public let changes: [SurfaceChange]
  /// What its processors threw last; nil where they threw nothing.
  public let processingError: PipSinkError?
  /// Whether it has processors.
  public let isProcessed: Bool

  public var streamID: StreamID { statistics.streamID }
}

/// What users do by keys.
public enum SessionAction: Equatable, Sendable {
  case togglePictureInPicture
  /// The next stream in picture-in-picture.
  case nextStream
  case togglePause
  case toggleMute
  case toggleFullscreen

  /// What a key does, in windows and on terminals: `p`, `n`, space, `m` and `f`; nil for another one.
  public init?(key: Character) {
    switch key {
    case "p": self = .togglePictureInPicture
    case "n": self = .nextStream
    case " ": self = .togglePause
    case "m": self = .toggleMute
    case "f": self = .toggleFullscreen
    default: return nil
    }
  }
}
