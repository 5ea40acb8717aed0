import PipSink

extension StreamPlayState {
  var busName: String {
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

  /// Why it fails; empty when it does not.
  var failure: String {
    switch self {
    case .reconnecting(_, _, let error), .failed(let error): error.description
    default: ""
    }
  }
}
