import PipSink

/// One peer connection of WebRTC. Its tracks are streams of a session: they come when their track arrives, and leave
/// when it goes. It may send a stream of the session to the peer (``Configuration/sending``).
///
/// A stream's ID is the name of its MediaStream (`msid` in the SDP), or the track's `mid` where it has none. A second video
/// of one MediaStream has both, with a dot between. A track whose ID the session has already is not shown. Sound belongs
/// to the video of its MediaStream: the session's volumes and ``AudioSession`` apply to it, and its level counts.
///
/// Lost packets are sent again, and keyframes are requested where a picture cannot be decoded. A stream that nobody sees
/// is not decoded (``PictureInPictureSession/Configuration/isBackgroundDecodingEnabled``). When the connection is
/// lost, a new one is made after a pause; the last pictures stay meanwhile, and the signalling is asked anew. All
/// candidates are in the descriptions (no trickle ICE).
///
/// It lives on the main actor. GStreamer needs the elements `webrtcbin`, `nicesrc` and `dtlssrtpdec`.
@MainActor public final class WebRTCConnection {
  /// How an app brings session descriptions (SDP) to the peer and back. The closures are called for each connection, so
  /// again after a connection was lost. What they throw ends the attempt.
  public enum Signalling: Sendable {
    /// The connection offers to receive so many tracks of video and audio. `exchange` brings the offer to the peer and
    /// returns the peer's answer.
    case offering(video: Int, audio: Int, exchange: @Sendable (_ offer: String) async throws -> String)
    /// The peer offers. `offer` returns the peer's offer, and `answer` brings the answer to the peer.
    case answering(
      offer: @Sendable () async throws -> String, answer: @Sendable (_ answer: String) async throws -> Void)
    /// The connection offers to receive one video and one sound from a server by WHEP (WebRTC-HTTP Egress Protocol), and needs no
    /// signalling of the app's. The URL begins with `wheps://` or `https://`, or, where nothing is encrypted, with
    /// `whep://` or `http://`. Redirects are followed, and the server may name servers for STUN and TURN.
    ///
    /// The token (RFC 6750) goes to the URL's server alone, also where that redirects to another one.
    case whep(_ url: String, token: String? = nil)
    /// The connection offers what ``Configuration/sending`` says to a server by WHIP (WebRTC-HTTP Ingestion Protocol), and
    /// receives nothing. URL and token are as for ``whep(_:token:)``, with the schemes `whips://` and `whip://`.
    case whip(_ url: String, token: String? = nil)
  }

  /// What the peer gets of this side: the picture of a stream, encoded as VP8, and sound, encoded as Opus.
  ///
  /// The picture is sent as the app's places show it, upright and with square pixels. It is black while the stream's camera
  /// is off (``PipSink/PictureInPictureSession/setCameraState(_:of:)``), and after the stream has been removed; a new one
  /// with the same ID takes its place. The sound is silent while the stream's microphone is off
  /// (``PipSink/PictureInPictureSession/setMicrophoneState(_:of:)``). A picture that stands still is sent once a second.
  /// Keyframes are made when the peer requests one, at most two a second, and lost packets are sent again.
  ///
  /// The bit rate follows the network where the peer says which packets have arrived (transport-wide congestion control),
  /// as Chromium, Janus and PipSink do: it begins with 500,000 bits per second and grows in seconds to ``bitRate``, it falls
  /// while packets are lost or are queued somewhere on their way, and grows again afterwards.
  public struct Sending: Sendable {
    /// The stream of the session, which is usually the local one.
    public var streamID: StreamID
    /// The source of the sound in the syntax of gst-launch, such as "autoaudiosrc"; nil for no sound. The session does
    /// not play it.
    public var audioSource: String?
    /// The name of the MediaStream (`msid`), by which a peer with PipSink calls the stream; nil for the stream's ID.
    /// Other characters than those of ASCII words become "-".
    public var name: String?
    /// The largest width and height in pixels of a picture that is wider than high. Larger ones are sent smaller.
    public var maximumSize = PictureSize(width: 1280, height: 720)
    /// How many bits per second the picture takes at most, from 50,000 to 100,000,000.
    public var bitRate = 1_500_000

    /// Makes the description of a picture without sound.
    public init(_ streamID: StreamID) { self.streamID = streamID }
  }

  /// How a connection is made.
  public struct Configuration: Sendable {
    /// A server that tells a peer its public address, such as `stun://stun.example.org:3478`; nil for none.
    public var stunServer: String?
    /// A server that relays media, such as `turn://user:password@turn.example.org:3478`; nil for none.
    public var turnServer: String?
    /// For how long packets are kept until late ones have come, from 0 to 60 s.
    public var latency: Duration = .milliseconds(200)
    /// The pause before each new connection, and how many are tried in a row.
    public var retryPolicy = RetryPolicy()
    /// How long each call of the app's signalling may take.
    public var signallingTimeout: Duration = .seconds(10)
    /// How long it may take to find this machine's addresses. The description is sent with those found by then.
    public var gatheringTimeout: Duration = .seconds(5)
    /// How long the peers may take to connect once both have their descriptions.
    public var connectionTimeout: Duration = .seconds(10)
    /// After how long without any packet from the peer the connection counts as lost. Peers that send nothing still send
    /// control packets, some of them every five seconds.
    public var silenceTimeout: Duration = .seconds(10)
    /// What is sent to the peer; nil for nothing. WHEP sends nothing.
    public var sending: Sending?
    /// The end of each sound's pipeline, in the syntax of gst-launch.
    public var audioSink = "autoaudiosink"

    /// Makes the default configuration.
    public init() {}
  }

  /// What a connection does.
  public enum State: Equatable, Sendable {
    /// It does not run.
    case stopped
    /// It makes its first connection.
    case connecting
    /// It is connected.
    case connected
    /// It makes a new connection, the `attempt`-th in a row, because of the error.
    case reconnecting(attempt: Int, after: PipSinkError)
    /// It has given up, or the session does not have the stream that is to be sent. The streams that it has received
    /// have been removed, except for the one of
    /// ``PipSink/PictureInPictureSession/startStream(_:whep:token:configuration:)``, which has failed.
    case failed(PipSinkError)
  }

  /// What is known of the way of a stream's pictures from the peer, or to it, since the connection was made.
  public struct Statistics: Equatable, Sendable {
    /// How many packets have come.
    public var packetsReceived: UInt64 = 0
    /// How many packets have been sent.
    public var packetsSent: UInt64 = 0
    /// How many packets are missing, less those that came twice; it may be negative. Of what is sent, the peer says it.
    public var packetsLost = 0
    /// How many bytes of media have come.
    public var bytesReceived: UInt64 = 0
    /// How many bytes of media have been sent.
    public var bytesSent: UInt64 = 0
    /// How much the time between packets varies (RFC 3550), in seconds.
    public var jitter = 0.0
    /// The time to the peer and back, in seconds; nil while nobody has measured it.
    public var roundTripTime: Double?
    /// Bits per second since statistics of this stream were asked for before; nil the first time.
    public var bitRate: Double?
    /// How many bits per second the picture that is sent may take now; nil for a stream of the peer.
    public var targetBitRate: Int?
  }

  /// What the peer sends, as the session has it.
  let received: ReceivedStreams
  /// What the peer gets, where it gets anything.
  let sent: SentStream?
  /// The numbers of the media in the descriptions that are sent, and whether the peer may send in them, too.
  var sentLines: [Int: Bool] = [:]
  let configuration: Configuration
  let signalling: Signalling
  /// The signalling by WHEP or WHIP, where that is used.
  private(set) var http: HTTPSignalling?
  private let broadcast = Broadcast<State>()
  private(set) var connection: PeerConnection?
  /// The fingerprints of the certificate that the peer says it has.
  var fingerprints: [String] = []
  private var runTask: Task<Void, Never>?

  /// What the connection does now.
  public private(set) var state = State.stopped {
    didSet { if state != oldValue { broadcast.send(state) } }
  }

  /// Makes a connection, which does nothing until ``start()``.
  ///
  /// - Parameters:
  ///   - session: gets the streams, and has the one that is sent.
  ///   - configuration: how connections are made.
  ///   - signalling: how descriptions are exchanged with the peer.
  public convenience init(
    into session: PictureInPictureSession, configuration: Configuration = .init(), signalling: Signalling
  ) {
    self.init(session, configuration, signalling, input: nil)
  }

  /// - Parameter input: the only stream, which ends the connection when it is removed from the session.
  init(
    _ session: PictureInPictureSession, _ configuration: Configuration, _ signalling: Signalling, input: StreamInput?
  ) {
    (self.configuration, self.signalling) = (configuration, signalling)
    received = ReceivedStreams(in: session, only: input)
    let isWHEP = if case .whep = signalling { true } else { false }
    sent = isWHEP ? nil : configuration.sending.map { SentStream($0, in: session) }
    received.disconnect = { [weak self] in self?.disconnect() ?? [] }
    if case .whip = signalling { sent?.disconnect = { [weak self] in self?.disconnect() ?? [] } }
  }

  /// Every state from now on. A reader that falls behind by 1024 states loses the oldest ones.
  public func states() -> AsyncStream<State> { broadcast.stream() }

  /// The streams that the connection has added to the session, sorted.
  public var streamIDs: [StreamID] { received.streams.keys.sorted() }

  /// Begins to connect, and returns at once. It does nothing while the connection runs. When the session does not have
  /// the stream that is to be sent, the state is ``State/failed(_:)``.
  public func start() {
    guard runTask == nil else { return }
    do throws(PipSinkError) {
      try sent?.follow()
    } catch {
      state = .failed(error)
      return
    }
    received.set(.requesting)
    state = .connecting
    runTask = Task { await run() }
  }

  /// Ends the connection and removes the streams. It waits for at most two seconds for GStreamer to stop and for a
  /// server that is told of the end.
  public func stop() async {
    let deadline = MonotonicTime.now.advanced(by: .seconds(2))
    for closed in disconnect() { await closed.value(by: deadline) }
    received.remove()
  }

  /// Ends the connection, and leaves the streams as they are.
  ///
  /// - Returns: what completes when it has ended here, and when the server knows.
  private func disconnect() -> [Completion<Void>] {
    runTask?.cancel()
    runTask = nil
    sent?.unfollow()
    state = .stopped
    return close()
  }

  /// Answers a further offer of the peer on the connection that exists. Streams come and leave as the offer says.
  ///
  /// - Parameter offer: the peer's offer.
  /// - Returns: the answer for the peer.
  /// - Throws: ``PipSinkError/Call/invalidDescription(reason:)``, also when there is no connection. The streams
  ///   are as before then.
  public func answer(_ offer: String) async throws(PipSinkError) -> String {
    guard let connection, state == .connected else {
      throw .call(.invalidDescription(reason: "there is no connection that it could change"))
    }
    return try await makeAnswer(to: offer, on: connection)
  }

  /// What is known of a stream's way from the peer, or to it; nil where the connection has no such stream with pictures, or
  /// webrtcbin does not say within two seconds.
  public func statistics(of streamID: StreamID) async -> Statistics? {
    let outgoing = sent?.sending.streamID == streamID ? sent?.tracks?.pad : nil
    guard let connection, let pad = received.streams[streamID]?.track?.pad ?? outgoing else { return nil }
    let deadline = MonotonicTime.now.advanced(by: .seconds(2))
    guard case .success(var known) = await connection.statistics(of: pad).value(by: deadline) else { return nil }
    known.targetBitRate = outgoing == nil ? nil : sent?.targetBitRate
    known.bitRate =
      outgoing == nil
      ? received.bitRate(of: streamID, bytes: known.bytesReceived) : sent?.bitRate(bytes: known.bytesSent)
    return known
  }

  // MARK: - Connecting

  private func run() async {
    var attempt = 0
    while !Task.isCancelled {
      let error = await connect()
      guard !Task.isCancelled else { return }
      attempt = state == .connected ? 1 : attempt + 1
      _ = close()
      guard !error.isPermanent, let pause = configuration.retryPolicy.pause(before: attempt) else {
        received.remove(except: received.onlyID)
        received.set(.failed(error))
        sent?.unfollow()
        runTask = nil
        state = .failed(error)
        return
      }
      received.set(.reconnecting(attempt: attempt, pause: pause, after: error))
      state = .reconnecting(attempt: attempt, after: error)
      try? await Task.sleep(for: pause)
    }
  }

  /// Makes a connection and waits until it is lost.
  private func connect() async -> PipSinkError {
    do throws(PipSinkError) {
      let connection = try PeerConnection(configuration, try await servers())
      // It may have been stopped while the server was asked.
      guard !Task.isCancelled else {
        connection.close()
        throw .call(.connectionLost(reason: PeerConnection.endedHere))
      }
      self.connection = connection
      let events = connection.signals.events
      Task { [weak self] in
        for await event in events { self?.handle(event, connection) }
      }
      try await wait(
        for: connection.signals.started, connection, .seconds(5), .pipeline(.stateChangeFailed(pipeline: "webrtcbin")))
      try await negotiate(connection)
      try await wait(
        for: connection.signals.connected, connection, configuration.connectionTimeout,
        .call(.notConnected(after: configuration.connectionTimeout)))
      guard let certificate = connection.peerCertificate, SessionDescription.match(fingerprints, certificate) else {
        throw .call(.invalidDescription(reason: "its fingerprint is not that of the certificate which the peer has"))
      }
      state = .connected
      received.trust()
      sent?.trust()
      return await whenLost(connection)
    } catch {
      return error
    }
  }

  /// The servers for STUN and TURN that the server of WHEP or WHIP names.
  private func servers() async throws(PipSinkError) -> [ICEServer] {
    switch signalling {
    case .whep(let url, let token), .whip(let url, let token):
      if http == nil { http = try HTTPSignalling(url, token: token, timeout: configuration.signallingTimeout) }
      return try await http?.servers() ?? []
    default: return []
    }
  }

  private func whenLost(_ connection: PeerConnection) async -> PipSinkError {
    connection.signals.notePacket()
    let limit = max(.milliseconds(100), configuration.silenceTimeout)
    while true {
      if let sent, sent.isSilent, !received.described.contains(where: \.isSent) { connection.signals.notePacket() }
      let silence = connection.signals.silence
      if silence >= limit {
        return .call(.connectionLost(reason: "nothing has come from the peer for \(limit / .seconds(1)) s"))
      }
      if let error = await connection.signals.lost.value(by: .now.advanced(by: limit - silence)) { return error }
    }
  }

  /// Closes the connection, where there is one.
  private func close() -> [Completion<Void>] {
    let old = connection
    connection = nil
    received.forgetTracks()
    sent?.forgetTracks()
    sentLines = [:]
    old?.signals.fail(.call(.connectionLost(reason: PeerConnection.endedHere)))
    return [old?.close(), http?.end()].compactMap(\.self)
  }

  private func handle(_ event: PeerSignals.Event, _ connection: PeerConnection) {
    guard connection === self.connection else { return }
    switch event {
    case .added(let track): received.add(track)
    case .level(let level, let track): received.note(level, ofTrack: track)
    case .feedback(let feedback): sent?.note(feedback)
    }
  }
}
