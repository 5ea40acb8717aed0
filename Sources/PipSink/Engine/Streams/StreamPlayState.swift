/// What a stream is doing.
public enum StreamPlayState: Equatable, Sendable {
  /// The stream has not been started, or was stopped.
  case stopped
  /// The stream's pipeline is being brought up, and no frame has come yet.
  case requesting
  /// Frames come.
  case playing
  /// No frame has come for the time of the stall timeout. The stream may continue by itself.
  case stalled
  /// The stream has failed with the error `after`. Restart number `attempt`, counted from 1, follows after `pause`.
  case reconnecting(attempt: Int, pause: Duration, after: PipSinkError)
  /// The stream has reached its end.
  case ended
  /// The stream has failed and is not restarted.
  case failed(PipSinkError)

  /// The name of the state: "stopped", "requesting", "playing", "stalled", "reconnecting", "ended" or "failed".
  package var name: String {
    switch self {
    case .stopped: "stopped"
    case .requesting: "requesting"
    case .playing: "playing"
    case .stalled: "stalled"
    case .reconnecting: "reconnecting"
    case .ended: "ended"
    case .failed: "failed"
    }
  }

  /// Whether the stream has ended or failed, and does not continue by itself.
  package var isOver: Bool {
    switch self {
    case .ended, .failed: true
    default: false
    }
  }
}
