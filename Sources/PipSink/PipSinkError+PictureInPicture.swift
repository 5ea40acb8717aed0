extension PipSinkError {
  /// Why picture-in-picture is not possible, or has ended.
  public enum PictureInPicture: Equatable, Sendable {
    /// What was asked for is not allowed in this state. The trigger has its name in the diagram of the states, such as
    /// "User Triggers PIP".
    case illegalTransition(state: PictureInPictureState, trigger: String)
    /// Picture-in-picture is not possible on this system at all.
    case unsupported(reason: String)
    /// Picture-in-picture cannot do this now.
    case notPossible(reason: String)
    /// The stream has delivered no frame yet, so that the window would be black.
    case sourceNotReady(StreamID)
    /// Picture-in-picture was stopped before it showed anything.
    case cancelled
    /// The picture-in-picture window disappeared without having been closed.
    case windowLost(reason: String)
    /// The user went back to the app, and the app did not show its user interface.
    case notRestored(reason: String)

    /// The error for a trigger that a state does not allow.
    package static func refusal(of trigger: PictureInPictureTrigger, in state: PictureInPictureState) -> Self {
      .illegalTransition(state: state, trigger: trigger.rawValue)
    }

    var text: Text {
      switch self {
      case .illegalTransition(let state, let trigger):
        Text(1300, "picture-in-picture is \(state.rawValue), where \"\(trigger)\" is not allowed")
      case .unsupported(let reason):
        Text(1301, "picture-in-picture is not supported here: \(reason)")
      case .notPossible(let reason):
        Text(1302, "picture-in-picture cannot start now: \(reason)")
      case .sourceNotReady(let id):
        Text(1303, "stream \"\(id)\" has no picture to show yet", "try again when its first frame has arrived")
      case .cancelled:
        Text(1304, "picture-in-picture was stopped before it had started")
      case .windowLost(let reason):
        Text(1305, "the picture-in-picture window is gone: \(reason)", "all streams are shown in the app again")
      case .notRestored(let reason):
        Text(1306, "the app's user interface was not restored: \(reason)", "open the app's window by hand")
      }
    }
  }
}
