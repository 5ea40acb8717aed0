import CWebRTC
import PipSink

/// The exchange of session descriptions with the peer.
extension WebRTCConnection {
  /// Exchanges the first descriptions with the peer.
  func negotiate(_ connection: PeerConnection) async throws(PipSinkError) {
    switch signalling {
    case .offering(let video, let audio, let exchange):
      try await offer(video, audio, on: connection) { offer throws(PipSinkError) in
        try await ask(connection) { try await exchange(offer) }
      }
    case .whep:
      try await offer(1, 1, on: connection) { [http] offer throws(PipSinkError) in
        try await http?.answer(to: offer) ?? ""
      }
    case .whip:
      try await offer(0, 0, on: connection) { [http] offer throws(PipSinkError) in
        try await http?.answer(to: offer) ?? ""
      }
    case .answering(let offer, let send):
      let text = try await ask(connection, offer)
      try await sendTracks(asked: text, on: connection)
      let made = try await makeAnswer(to: text, on: connection)
      _ = try await ask(connection) {
        try await send(made)
        return ""
      }
    }
  }

  /// Offers to receive so many tracks and to send those of this side, and takes the answer that `exchange` returns.
  private func offer(
    _ video: Int, _ audio: Int, on connection: PeerConnection,
    _ exchange: (_ offer: String) async throws(PipSinkError) -> String
  ) async throws(PipSinkError) {
    // What is sent is in the first media, in which the peer may send, too.
    var (video, audio) = (video, audio)
    if let sent {
      sentLines = [0: video > 0]
      var sound: OutgoingTracks.Line?
      if sent.sending.audioSource != nil {
        sentLines[1] = audio > 0
        sound = .init(isVideo: false, payloadType: 111, isReceived: audio > 0)
        audio -= 1
      }
      let picture = OutgoingTracks.Line(
        isVideo: true, payloadType: 96, isReceived: video > 0, feedbackExtension: Self.feedbackExtension)
      video -= 1
      try await begin(sent, picture, sound, on: connection)
    }
    for _ in 0..<max(0, video) { pipsink_webrtc_add_receiver(connection.webrtc, Self.videoFormats) }
    for _ in 0..<max(0, audio) { pipsink_webrtc_add_receiver(connection.webrtc, Self.audioFormats) }
    let offer = try await describe("offer", on: connection)
    try await take("answer", exchange(offer), on: connection)
  }

  /// Makes the tracks of this side for an offer of the peer, in the first media in which it receives.
  private func sendTracks(asked offer: String, on connection: PeerConnection) async throws(PipSinkError) {
    guard let sent else { return }
    let tracks = try SessionDescription(offer).tracks
    func line(_ isVideo: Bool, _ format: String) throws(PipSinkError) -> OutgoingTracks.Line {
      guard let track = tracks.first(where: { $0.isVideo == isVideo && $0.isReceived && $0.formats[format] != nil })
      else { throw Self.refusal(of: format) }
      sentLines[track.index] = true
      return .init(
        isVideo: isVideo, payloadType: track.formats[format] ?? 0, isReceived: true,
        feedbackExtension: track.feedbackExtension)
    }
    let video = try line(true, "VP8")
    let audio = sent.sending.audioSource == nil ? nil : try line(false, "OPUS")
    try await begin(sent, video, audio, on: connection)
  }

  private func begin(
    _ sent: SentStream, _ video: OutgoingTracks.Line, _ audio: OutgoingTracks.Line?, on connection: PeerConnection
  ) async throws(PipSinkError) {
    // Only a microphone can take long.
    let source = sent.sending.audioSource ?? "appsrc"
    sent.begin(
      try await wait(
        for: connection.makeTracks(sent.sending, video: video, audio: audio), connection, .seconds(5),
        .pipeline(.stateChangeFailed(pipeline: source))))
  }

  private static func refusal(of format: String) -> PipSinkError {
    .call(.invalidDescription(reason: "the peer receives no \(format == "VP8" ? "video in VP8" : "sound in Opus")"))
  }

  /// The number of the header extension by which the peers say what has arrived, in an offer.
  private static let feedbackExtension = 1
  private static let videoFormats =
    "application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000,\(feedback); "
    + "application/x-rtp,media=video,encoding-name=H264,payload=97,clock-rate=90000,"
    + "packetization-mode=(string)1,profile-level-id=(string)42e01f,\(feedback)"
  private static let feedback = SessionDescription.feedbackFields(feedbackExtension)
  /// The format in which lost packets of H.264 are sent again.
  private static let repeatedFormat =
    "application/x-rtp,media=video,encoding-name=RTX,payload=98,clock-rate=90000,apt=(string)97"
  private static let audioFormats =
    "application/x-rtp,media=audio,encoding-name=OPUS,payload=111,clock-rate=48000,encoding-params=(string)2"

  /// Makes the local description, and waits until it has this machine's addresses.
  private func describe(_ kind: String, on connection: PeerConnection) async throws(PipSinkError) -> String {
    var text = try await wait(for: connection.create(kind), connection)
    // webrtcbin 1.22 offers a format for packets that are sent again for the first codec of a medium alone, and 1.26 one
    // for each codec.
    if kind == "offer", text.contains(" H264/"),
      !text.split(whereSeparator: \.isNewline).contains(where: { $0.hasSuffix(" apt=97") })
    {
      pipsink_webrtc_exchange_formats(
        connection.webrtc, Self.videoFormats, "\(Self.videoFormats); \(Self.repeatedFormat)")
      text = try await wait(for: connection.create(kind), connection)
    }
    try await wait(for: connection.set("local", kind, text), connection)
    let deadline = MonotonicTime.now.advanced(by: configuration.gatheringTimeout)
    if case .failure(let error) = await connection.signals.gathered.value(by: deadline) { throw error }
    return connection.localDescription ?? text
  }

  /// Takes the peer's description.
  ///
  /// webrtcbin is told that the peer sends all tracks that it may send. It would end a track that the peer no longer
  /// sends, whose last packets would then end the whole connection, and it cannot receive such a track again.
  private func take(_ kind: String, _ text: String, on connection: PeerConnection) async throws(PipSinkError) {
    let description = try SessionDescription(text, named: received.onlyID)
    guard !description.fingerprints.isEmpty else {
      throw .call(.invalidDescription(reason: "it has no fingerprint of the peer's certificate"))
    }
    for track in description.tracks where sentLines[track.index] != nil && kind == "answer" {
      let format = track.isVideo ? "VP8" : "OPUS"
      guard track.isReceived, track.formats[format] != nil else { throw Self.refusal(of: format) }
    }
    let directed = SessionDescription.text(text) { [sentLines] index in
      guard let track = description.tracks.first(where: { $0.index == index }) else { return nil }
      return switch sentLines[index] {
      case nil: "sendonly"
      case true?: track.isReceived ? "sendrecv" : "sendonly"
      case false?: nil
      }
    }
    // webrtcbin takes every format for what is only received, but by itself no header extension.
    for track in description.tracks {
      guard let number = track.feedbackExtension else { continue }
      let format = "application/x-rtp,media=video,\(SessionDescription.feedbackFields(number))"
      connection.signals.formats.withLock { $0[guint(track.index)] = format }
    }
    try await wait(for: connection.set("remote", kind, directed), connection)
    fingerprints = description.fingerprints
    sent?.hasFeedback = description.tracks.contains {
      sentLines[$0.index] != nil && $0.feedbackExtension != nil
    }
    received.described = description.tracks
  }

  /// Takes an offer of the peer and makes the answer.
  func makeAnswer(to offer: String, on connection: PeerConnection) async throws(PipSinkError) -> String {
    try await take("offer", offer, on: connection)
    let answer = try await describe("answer", on: connection)
    // The answer says what the offer allows, and not what webrtcbin was told.
    return SessionDescription.text(answer) { [sentLines, received] index in
      guard let track = received.described.first(where: { $0.index == index }), !track.isSent else { return nil }
      return sentLines[index] != nil && track.isReceived ? "sendonly" : "inactive"
    }
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
