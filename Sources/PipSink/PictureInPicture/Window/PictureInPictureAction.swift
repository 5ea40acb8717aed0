/// What a control of a picture-in-picture window does.
public enum PictureInPictureAction: Hashable, Sendable {
  /// Pause, or go on playing.
  case playPause
  /// Return to the app's window, which ends picture-in-picture.
  case backToApp
  /// Close the window, which ends picture-in-picture.
  case close
  /// Mute or unmute what others say.
  case mute
  /// Hide the captions of all streams, or show them again. It is offered where a stream has had any.
  case captions
  /// Show the previous stream.
  case previousStream
  /// Show the next stream.
  case nextStream
  /// Seek backward.
  case skipBackward
  /// Seek forward.
  case skipForward
  /// Seek to the place that the user chooses on a bar. It is offered for a stream of a session that can be sought in.
  case seek
  /// Arrange the streams in the window in another way (``PictureInPictureLayout``).
  case changeLayout
  /// Fill the monitor, or have the size from before. It is offered where the desktop's windows can do that.
  case fullscreen
  /// Make the window small, medium or large, in turn.
  case changeSize
  /// Let the pointer through to the windows below, or have it back.
  case clickThrough
  /// Switch the user's own microphone off or on.
  case microphone
  /// Switch the user's own camera off or on.
  case camera
  /// Leave the call.
  case hangUp
  /// Raise the user's hand in the call, or lower it.
  case raiseHand
  /// Something that only the app knows, by a name of the app's. It is none of the names of the other actions.
  case custom(String)

  /// All actions but those of the app, with their names.
  private static let names: [(action: Self, name: String)] = [
    (.playPause, "playPause"), (.backToApp, "backToApp"), (.close, "close"), (.mute, "mute"),
    (.captions, "captions"),
    (.previousStream, "previousStream"), (.nextStream, "nextStream"), (.skipBackward, "skipBackward"),
    (.skipForward, "skipForward"), (.seek, "seek"), (.changeLayout, "changeLayout"), (.fullscreen, "fullscreen"),
    (.changeSize, "changeSize"), (.clickThrough, "clickThrough"), (.microphone, "microphone"), (.camera, "camera"),
    (.hangUp, "hangUp"), (.raiseHand, "raiseHand"),
  ]

  /// All actions but those of the app.
  package static let known = names.map(\.action)

  /// Whether only an app can do it, or somebody who sends the user's own picture away.
  package var isForApps: Bool {
    switch self {
    case .microphone, .camera, .hangUp, .raiseHand, .custom: true
    case .playPause, .backToApp, .close, .mute, .captions, .previousStream, .nextStream, .skipBackward, .skipForward,
      .seek,
      .changeLayout, .fullscreen, .changeSize, .clickThrough:
      false
    }
  }

  /// The action with a name. A name that is not one of PipSink's is one of the app's.
  package init(name: String) { self = Self.names.first { $0.name == name }?.action ?? .custom(name) }

  /// The name of the action for other programs: that of the case, such as "playPause", or the app's.
  public var name: String {
    if case .custom(let name) = self { return name }
    return Self.names.first { $0.action == self }?.name ?? ""
  }
}
