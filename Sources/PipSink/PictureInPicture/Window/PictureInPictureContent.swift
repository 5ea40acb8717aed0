/// What a picture-in-picture window shows.
public enum PictureInPictureContent: Equatable, Sendable {
  /// The stream's frames.
  case video
  /// The stream has no picture; `name` says whose it is.
  case cameraOff(name: String)
  /// The stream's frames have stopped coming and are being waited for.
  case reconnecting
  /// The stream's frames, which are somebody's screen.
  case screenShare
  /// The stream is over; `name` says whose it was.
  case ended(name: String)
  /// Nothing.
  case inactive

  /// Whether frames are shown.
  public var showsFrames: Bool { self == .video || self == .screenShare }
}

/// What the user can do in a picture-in-picture window.
public enum PictureInPictureAction: String, CaseIterable, Sendable {
  case playPause
  case backToApp
  case close
  case mute
  case previousStream
  case nextStream
  case skipBackward
  case skipForward
}
