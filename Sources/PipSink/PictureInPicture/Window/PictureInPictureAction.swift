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
  /// Arrange the streams in the window in another way (``PictureInPictureLayout``).
  case changeLayout
}
