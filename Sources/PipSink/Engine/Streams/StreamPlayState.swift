/// What a stream is doing.
public enum StreamPlayState: Equatable, Sendable {
  /// It has not been started, or was stopped.
  case stopped
  /// Its pipeline is being brought up; no frame has come yet.
  case requesting
  case playing
  /// No frame has come for longer than is normal; it may go on by itself.
  case stalled
  /// It failed, and its pipeline is started again after `pause`.
  case reconnecting(attempt: Int, pause: Duration, after: PipSinkError)
  /// It came to its end.
  case ended
  /// It failed, and is not started again.
  case failed(PipSinkError)

  /// Its name alone: "stopped", "requesting", "playing", "stalled", "reconnecting", "ended" or "failed".
  public var name: String {
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

  /// Whether it has ended or failed, and does not go on by itself.
  public var isOver: Bool {
    switch self {
    case .ended, .failed: true
    default: false
    }
  }
}
