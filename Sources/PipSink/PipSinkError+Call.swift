extension PipSinkError {
  /// An error of a peer connection.
  public enum Call: Equatable, Sendable {
    /// The app's signalling threw an error, or has not returned in time.
    case signallingFailed(reason: String)
    /// A session description cannot be used.
    case invalidDescription(reason: String)
    /// The peers have not found a connection for this long.
    case notConnected(after: Duration)
    /// The connection was there and is lost: nothing came from the peer any more, or it closed the connection.
    case connectionLost(reason: String)

    var text: Text {
      switch self {
      case .signallingFailed(let reason):
        Text(1500, "the signalling of the call failed: \(reason)", "check its server, and what it is told")
      case .invalidDescription(let reason):
        Text(
          1501, "the session description is wrong: \(reason)",
          "give the peer's SDP as it is, with a line for each medium")
      case .notConnected(let time):
        Text(
          1502, "the peers have not been connected for \(time / .seconds(1)) s",
          "check the firewalls between them, or give a STUN or TURN server")
      case .connectionLost(let reason):
        Text(1503, "the connection to the peer is lost: \(reason)", "check the network and the peer")
      }
    }
  }
}
