/// What a picture-in-picture window shows.
public enum PictureInPictureContent: Equatable, Sendable {
  /// The stream's frames.
  case video
  /// A placeholder because the stream has no picture; `name` says whose stream it is.
  case cameraOff(name: String)
  /// A placeholder because the stream's frames have stopped, and are expected to return.
  case reconnecting
  /// The stream's frames, which show somebody's screen.
  case screenShare
  /// A placeholder because the stream has ended; `name` says whose stream it was.
  case ended(name: String)
  /// Nothing.
  case inactive

  /// Whether the stream's frames are shown.
  public var showsFrames: Bool { self == .video || self == .screenShare }
}

/// What the user can do with the controls of a picture-in-picture window.
public enum PictureInPictureAction: String, CaseIterable, Sendable {
  /// Pause, or go on playing.
  case playPause
  /// Return to the app's window, which ends picture-in-picture.
  case backToApp
  /// Close the window, which ends picture-in-picture.
  case close
  /// Mute or unmute.
  case mute
  /// Show the previous stream.
  case previousStream
  /// Show the next stream.
  case nextStream
  /// Seek backward.
  case skipBackward
  /// Seek forward.
  case skipForward
}
