import PipSink

/// One peer connection of WebRTC whose tracks are streams of a session: they come when their track arrives, and leave
/// when it goes.
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
@MainActor public final class WebRTCReceiver {
  /// How an app brings session descriptions (SDP) to the peer and back. The closures are called for each connection, so
  /// again after a connection was lost. What they throw ends the attempt.
  public enum Signalling: Sendable {
    /// The receiver offers to receive so many tracks of video and audio. `exchange` brings the offer to the peer and
    /// returns the peer's answer.
    case offering(video: Int, audio: Int, exchange: @Sendable (_ offer: String) async throws -> String)
    /// The peer offers. `offer` returns the peer's offer, and `answer` brings the answer to the peer.
    case answering(
      offer: @Sendable () async throws -> String, answer: @Sendable (_ answer: String) async throws -> Void)
    /// The receiver offers one video and one sound to a server by WHEP (WebRTC-HTTP Egress Protocol), and needs no
    /// signalling of the app's. The URL begins with `wheps://` or `https://`, or, where nothing is encrypted, with
    /// `whep://` or `http://`. Redirects are followed, and the server may name servers for STUN and TURN.
    ///
    /// The token (RFC 6750) goes to the URL's server alone, also where that redirects to another one.
    case whep(_ url: String, token: String? = nil)
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
    /// The end of each sound's pipeline, in the syntax of gst-launch.
    public var audioSink = "autoaudiosink"

    /// Makes the default configuration.
    public init() {}
  }

  /// What a receiver does.
  public enum State: Equatable, Sendable {
    /// It does not run.
    case stopped
    /// It makes its first connection.
    case connecting
    /// It is connected.
    case connected
    /// It makes a new connection, the `attempt`-th in a row, because of the error.
    case reconnecting(attempt: Int, after: PipSinkError)
    /// It has given up. Its streams have been removed, except for the one of
    /// ``PipSink/PictureInPictureSession/startStream(_:whep:token:configuration:)``, which has failed.
    case failed(PipSinkError)
  }

  /// What is known of a stream's pictures on their way from the peer, since the connection was made.
  public struct Statistics: Equatable, Sendable {
    /// How many packets have come.
    public var packetsReceived: UInt64 = 0
    /// How many packets are missing, less those that came twice; it may be negative.
    public var packetsLost = 0
    /// How many bytes of media have come.
    public var bytesReceived: UInt64 = 0
    /// How much the time between packets varies (RFC 3550), in seconds.
    public var jitter = 0.0
    /// The time to the peer and back, in seconds; nil while nobody has measured it.
    public var roundTripTime: Double?
    /// Bits per second since statistics of this stream were asked for before; nil the first time.
    public var bitRate: Double?
  }

  /// What the peer sends, as the session has it.
  let received: ReceivedStreams
  let configuration: Configuration
  let signalling: Signalling
  /// The signalling by WHEP, where that is used.
  private(set) var whep: WHEPClient?
  private let broadcast = Broadcast<State>()
  private(set) var connection: PeerConnection?
  /// The fingerprints of the certificate that the peer says it has.
  var fingerprints: [String] = []
  private var runTask: Task<Void, Never>?

  /// What the receiver does now.
  public private(set) var state = State.stopped {
    didSet { if state != oldValue { broadcast.send(state) } }
  }

  /// Makes a receiver, which does nothing until ``start()``.
  ///
  /// - Parameters:
  ///   - session: gets the streams.
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
    received.disconnect = { [weak self] in self?.disconnect() ?? [] }
  }

  /// Every state from now on. A reader that falls behind by 1024 states loses the oldest ones.
  public func states() -> AsyncStream<State> { broadcast.stream() }

  /// The streams that the receiver has added to the session, sorted.
  public var streamIDs: [StreamID] { received.streams.keys.sorted() }

  /// Begins to connect, and returns at once. It does nothing while the receiver runs.
  public func start() {
    guard runTask == nil else { return }
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
    state = .stopped
    return close()
  }

  /// Answers a further offer of the peer on the connection that exists. Streams come and leave as the offer says.
  ///
  /// - Parameter offer: the peer's offer.
  /// - Returns: the answer for the peer.
  /// - Throws: ``PipSinkError/Call/invalidDescription(reason:)``, also when the receiver is not connected. The streams
  ///   are as before then.
  public func answer(_ offer: String) async throws(PipSinkError) -> String {
    guard let connection, state == .connected else {
      throw .call(.invalidDescription(reason: "there is no connection that it could change"))
    }
    return try await makeAnswer(to: offer, on: connection)
  }

  /// What is known of a stream's way from the peer; nil where the receiver has no such stream with pictures, or webrtcbin
  /// does not say within two seconds.
  public func statistics(of streamID: StreamID) async -> Statistics? {
    guard let connection, let track = received.streams[streamID]?.track else { return nil }
    let deadline = MonotonicTime.now.advanced(by: .seconds(2))
    guard case .success(var known) = await connection.statistics(of: track.pad).value(by: deadline) else { return nil }
    known.bitRate = received.bitRate(of: streamID, bytes: known.bytesReceived, at: .now)
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
      // The receiver may have been stopped while the server was asked.
      guard !Task.isCancelled else {
        connection.close()
        throw .call(.connectionLost(reason: "it has been ended here"))
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
      return await whenLost(connection)
    } catch {
      return error
    }
  }

  /// The servers for STUN and TURN that the WHEP server names.
  private func servers() async throws(PipSinkError) -> [ICEServer] {
    guard case .whep(let url, let token) = signalling else { return [] }
    if whep == nil { whep = try WHEPClient(url, token: token, timeout: configuration.signallingTimeout) }
    return try await whep?.servers() ?? []
  }

  private func whenLost(_ connection: PeerConnection) async -> PipSinkError {
    connection.signals.notePacket()
    let limit = max(.milliseconds(100), configuration.silenceTimeout)
    while true {
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
    old?.signals.fail(.call(.connectionLost(reason: "it has been ended here")))
    return [old?.close(), whep?.end()].compactMap(\.self)
  }

  private func handle(_ event: PeerSignals.Event, _ connection: PeerConnection) {
    guard connection === self.connection else { return }
    switch event {
    case .added(let track): received.add(track)
    case .level(let level, let track): received.note(level, ofTrack: track)
    }
  }
}
