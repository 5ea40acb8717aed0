import PipSink
import PipSinkCalls

// The snippet of docs/embedding.md about calls, with what it is given. WebRTCReceiverTests compares it with the document.

/// The app's way to the peer.
@MainActor final class CallServer {
  private let peer: WebRTCPeer
  var onOffer: ((String) async throws -> String?)?

  init(_ peer: WebRTCPeer) { self.peer = peer }

  func answer(to offer: String) async throws -> String { await peer.answer(offer) }
}

/// Shows what the peer sends, until the app calls `stop()`.
@MainActor func call(_ server: CallServer, _ session: PictureInPictureSession) -> WebRTCReceiver {
  let receiver = WebRTCReceiver(
    into: session,
    signalling: .offering(video: 2, audio: 2) { offer in
      try await server.answer(to: offer)  // SDP with all candidates, as WHEP has it
    })
  server.onOffer = { [weak receiver] in try await receiver?.answer($0) }
  let states = receiver.states()
  Task { for await state in states { print(state) } }  // connecting, connected, reconnecting, failed
  receiver.start()
  return receiver
}
