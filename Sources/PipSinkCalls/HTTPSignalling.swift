import PipSink

/// The signalling by WHEP (WebRTC-HTTP Egress Protocol) and WHIP (WebRTC-HTTP Ingestion Protocol), which is the same: a
/// request brings the offer, its answer is the answer, and another request ends the session that the first one has made on
/// the server.
final class HTTPSignalling: Sendable {
  private let address: HTTPAddress
  private let token: String?
  private let timeout: Duration
  private let http = HTTPClient()
  /// The address of the session on the server.
  private let resource = Locked<HTTPAddress?>(nil)

  /// How long the server may take to end the session.
  private static let endTimeout = Duration.seconds(2)

  /// - Parameter timeout: how long each request may take.
  /// - Throws: ``PipSinkError/Call/invalidURL(_:reason:)``.
  init(_ url: String, token: String?, timeout: Duration) throws(PipSinkError) {
    address = try HTTPAddress(url)
    (self.token, self.timeout) = (token, timeout)
  }

  /// The servers for STUN and TURN that the server names before it has the offer. A server that knows no such request
  /// names none.
  ///
  /// - Throws: ``PipSinkError/Call/requestFailed(url:reason:)``.
  func servers() async throws(PipSinkError) -> [ICEServer] {
    let response = try await http.response(
      to: .init(method: "OPTIONS", url: address, token: token, timeout: timeout))
    return response.isSuccess ? ICEServer.servers(inLinks: response.values(of: "link")) : []
  }

  /// Brings the offer to the server.
  ///
  /// - Throws: ``PipSinkError/Call/requestFailed(url:reason:)``, ``PipSinkError/Call/refused(url:status:reason:)``.
  func answer(to offer: String) async throws(PipSinkError) -> String {
    let response = try await http.response(
      to: .init(
        method: "POST", url: address, token: token,
        headers: ["Content-Type: application/sdp", "Accept: application/sdp"], body: offer, timeout: timeout))
    guard response.isSuccess else {
      throw .call(.refused(url: address.shown, status: response.status, reason: response.summary))
    }
    let location = response.values(of: "location").first.flatMap { HTTPAddress.resolve($0, from: response.url) }
    _ = resource.exchange(location.flatMap { try? HTTPAddress($0) }?.withUser(of: address))
    return response.body
  }

  /// Has the server end the session, in the background.
  ///
  /// - Returns: nil where there is none. Otherwise it completes when the server has answered, or has not for two seconds.
  func end() -> Completion<Void>? {
    guard let resource = resource.exchange(nil) else { return nil }
    let done = Completion<Void>()
    let request = HTTPClient.Request(
      method: "DELETE", url: resource, token: resource.origin == address.origin ? token : nil,
      timeout: Self.endTimeout)
    Task.detached { [http] in
      _ = try? await http.response(to: request)
      done.complete(())
    }
    return done
  }
}

extension HTTPClient.Response {
  var isSuccess: Bool { (200..<300).contains(status) }

  /// The first line of the answer's text; empty where it is a page.
  var summary: String {
    let line = body.split(whereSeparator: \.isNewline).first ?? ""
    return line.hasPrefix("<") ? "" : String(line.prefix(200))
  }
}
