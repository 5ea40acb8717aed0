import PipSink
import PipSinkCalls

// The snippets of docs/embedding.md about calls, with what they are given. WebRTCConnectionTests compares them with the
// document.

/// The app's way to the peer.
@MainActor final class CallServer {
  private let peer: WebRTCPeer
  var onOffer: ((String) async throws -> String?)?

  init(_ peer: WebRTCPeer) { self.peer = peer }

  func answer(to offer: String) async throws -> String { await peer.answer(offer) }
}

/// Shows what the peer sends, until the app calls `stop()`.
@MainActor func call(_ server: CallServer, _ session: PictureInPictureSession) -> WebRTCConnection {
  let connection = WebRTCConnection(
    into: session,
    signalling: .offering(video: 2, audio: 2) { offer in
      try await server.answer(to: offer)  // SDP with all candidates, as WHEP has it
    })
  server.onOffer = { [weak connection] in try await connection?.answer($0) }
  let states = connection.states()
  Task { for await state in states { print(state) } }  // connecting, connected, reconnecting, failed
  connection.start()
  return connection
}

/// Shows Anna, and sends the local picture with a microphone.
@MainActor func join(_ session: PictureInPictureSession, from server: String, _ token: String) throws {
  try session.startStream("anna", whep: "\(server)/anna", token: token)
  var configuration = WebRTCConnection.Configuration()
  configuration.sending = .init("me")
  configuration.sending?.audioSource = "autoaudiosrc"
  try session.publishStream("me", whip: "\(server)/me", token: token, configuration: configuration)
}
