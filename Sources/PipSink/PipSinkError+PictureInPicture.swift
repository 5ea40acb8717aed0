extension PipSinkError {
  /// Why picture-in-picture cannot be had, or has ended.
  public enum PictureInPicture: Equatable, Sendable {
    /// It cannot go that way from where it stands.
    case illegalTransition(state: PictureInPictureState, trigger: PictureInPictureTrigger)
    /// It cannot be had here at all.
    case unsupported(reason: String)
    /// It cannot start now.
    case notPossible(reason: String)
    /// The stream has shown no frame yet, so that the window would be black.
    case sourceNotReady(StreamID)
    /// It was stopped before it showed anything.
    case cancelled
    /// Its window died.
    case windowLost(reason: String)
    /// The user went back to the app, which did not show its user interface.
    case notRestored(reason: String)

    var text: Text {
      switch self {
      case .illegalTransition(let state, let trigger):
        Text(1300, "picture-in-picture is \(state.rawValue), from where \"\(trigger.rawValue)\" leads nowhere")
      case .unsupported(let reason):
        Text(1301, "picture-in-picture is not supported here: \(reason)")
      case .notPossible(let reason):
        Text(1302, "picture-in-picture cannot start now: \(reason)")
      case .sourceNotReady(let id):
        Text(1303, "stream \"\(id)\" has no picture to show yet", "try again when its first frame is there")
      case .cancelled:
        Text(1304, "picture-in-picture was stopped before it had started")
      case .windowLost(let reason):
        Text(1305, "the picture-in-picture window is gone: \(reason)", "everything is shown in the app")
      case .notRestored(let reason):
        Text(1306, "the app's user interface was not brought back: \(reason)", "open the app's window by hand")
      }
    }
  }
}
