import CWebRTC
import PipSink

/// The exchange of session descriptions with the peer.
extension WebRTCReceiver {
  /// Exchanges the first descriptions with the peer.
  func negotiate(_ connection: PeerConnection) async throws(PipSinkError) {
    switch signalling {
    case .offering(let video, let audio, let exchange):
      try await offer(video, audio, on: connection) { offer throws(PipSinkError) in
        try await ask(connection) { try await exchange(offer) }
      }
    case .whep:
      try await offer(1, 1, on: connection) { [whep] offer throws(PipSinkError) in
        try await whep?.answer(to: offer) ?? ""
      }
    case .answering(let offer, let send):
      let made = try await makeAnswer(to: ask(connection, offer), on: connection)
      _ = try await ask(connection) {
        try await send(made)
        return ""
      }
    }
  }

  /// Offers to receive so many tracks, and takes the answer that `exchange` returns.
  private func offer(
    _ video: Int, _ audio: Int, on connection: PeerConnection,
    _ exchange: (_ offer: String) async throws(PipSinkError) -> String
  ) async throws(PipSinkError) {
    for _ in 0..<video { pipsink_webrtc_add_receiver(connection.webrtc, Self.videoFormats) }
    for _ in 0..<audio { pipsink_webrtc_add_receiver(connection.webrtc, Self.audioFormats) }
    let offer = try await describe("offer", on: connection)
    try await take("answer", exchange(offer), on: connection)
  }

  private static let videoFormats =
    "application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000; "
    + "application/x-rtp,media=video,encoding-name=H264,payload=97,clock-rate=90000,"
    + "packetization-mode=(string)1,profile-level-id=(string)42e01f"
  private static let audioFormats =
    "application/x-rtp,media=audio,encoding-name=OPUS,payload=111,clock-rate=48000,encoding-params=(string)2"

  /// Makes the local description, and waits until it has this machine's addresses.
  private func describe(_ kind: String, on connection: PeerConnection) async throws(PipSinkError) -> String {
    let text = try await wait(for: connection.create(kind), connection)
    try await wait(for: connection.set("local", kind, text), connection)
    let deadline = MonotonicTime.now.advanced(by: configuration.gatheringTimeout)
    if case .failure(let error) = await connection.signals.gathered.value(by: deadline) { throw error }
    return connection.localDescription ?? text
  }

  /// Takes the peer's description.
  ///
  /// webrtcbin is told that the peer sends all tracks. It would end a track that the peer no longer sends, whose last
  /// packets would then end the whole connection, and it cannot receive such a track again.
  private func take(_ kind: String, _ text: String, on connection: PeerConnection) async throws(PipSinkError) {
    let description = try SessionDescription(text, named: received.onlyID)
    guard !description.fingerprints.isEmpty else {
      throw .call(.invalidDescription(reason: "it has no fingerprint of the peer's certificate"))
    }
    let sent = SessionDescription.text(text, with: "sendonly", for: description.tracks)
    try await wait(for: connection.set("remote", kind, sent), connection)
    fingerprints = description.fingerprints
    received.described = description.tracks
  }

  /// Takes an offer of the peer and makes the answer.
  func makeAnswer(to offer: String, on connection: PeerConnection) async throws(PipSinkError) -> String {
    try await take("offer", offer, on: connection)
    let answer = try await describe("answer", on: connection)
    return SessionDescription.text(answer, with: "inactive", for: received.described.filter { !$0.isSent })
  }

  /// Asks the app's signalling.
  private func ask(
    _ connection: PeerConnection, _ body: @escaping @Sendable () async throws -> String
  ) async throws(PipSinkError) -> String {
    let done = PeerConnection.Step<String>()
    let task = Task.detached {
      do {
        done.complete(.success(try await body()))
      } catch let error as PipSinkError {
        done.complete(.failure(error))
      } catch {
        done.complete(.failure(.call(.signallingFailed(reason: "\(error)"))))
      }
    }
    defer { task.cancel() }
    return try await wait(
      for: done, connection, configuration.signallingTimeout,
      .call(.signallingFailed(reason: "no answer for \(configuration.signallingTimeout / .seconds(1)) s")))
  }

  /// Waits until a step is done, or fails, or the deadline has passed. Those of webrtcbin take milliseconds.
  func wait<Value>(
    for step: PeerConnection.Step<Value>, _ connection: PeerConnection, _ limit: Duration = .seconds(5),
    _ error: PipSinkError = .call(.invalidDescription(reason: "webrtcbin does not answer"))
  ) async throws(PipSinkError) -> Value {
    // A connection that fails meanwhile ends the wait.
    let watch = Task {
      if let error = await connection.signals.lost.value(by: .now.advanced(by: limit)) {
        step.complete(.failure(error))
      }
    }
    defer { watch.cancel() }
    guard let result = await step.value(by: .now.advanced(by: limit)) else { throw error }
    return try result.get()
  }
}
