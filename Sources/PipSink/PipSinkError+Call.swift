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
    /// The URL of a server cannot be used.
    case invalidURL(String, reason: String)
    /// A request by HTTP has got no answer, or one that cannot be used.
    case requestFailed(url: String, reason: String)
    /// A server has answered a request with an error: its status, and the begin of its text.
    case refused(url: String, status: Int, reason: String)
    /// libcurl, which makes the requests, is not there.
    case httpUnavailable(reason: String)

    /// Whether a new attempt would get the same answer. A stream that does not exist yet (404) may be sent later.
    var isPermanent: Bool {
      switch self {
      case .invalidURL, .httpUnavailable: true
      case .refused(_, let status, _): (400..<500).contains(status) && ![404, 408, 409, 425, 429].contains(status)
      default: false
      }
    }

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
      case .invalidURL(let url, let reason):
        Text(
          1504, "the URL \"\(url)\" cannot be used: \(reason)",
          "give one such as wheps://HOST/PATH or whips://HOST/PATH")
      case .requestFailed(let url, let reason):
        Text(1505, "the request to \(url) has failed: \(reason)", "check the address, the network and the server")
      case .refused(let url, let status, let reason):
        Text(1506, "\(url) has answered \(status)\(reason.isEmpty ? "" : ": \(reason)")", Self.advice(for: status))
      case .httpUnavailable(let reason):
        Text(1507, "requests by HTTP cannot be made: \(reason)", "install libcurl 7.85 or later (Debian: libcurl4)")
      }
    }

    private static func advice(for status: Int) -> String {
      switch status {
      case 401, 403: "check the token, and what it allows"
      case 404: "check the path, and that the stream is being sent"
      case 500...: "look into the server's log, or try again later"
      default: "check that the address is that of an endpoint of WHEP or WHIP"
      }
    }
  }
}
