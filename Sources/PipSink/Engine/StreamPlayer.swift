import CGStreamer

/// Plays one stream with a pipeline of its own, and starts it again when it fails.
///
/// It is independent of all other streams. A thread of its own looks after it; frames go from GStreamer's streaming
/// thread to the consumer, as in ``VideoEngine``. All calls are allowed from every thread but that one. It stops when it
/// goes away.
public final class StreamPlayer: Sendable {
  public struct Configuration: Sendable {
    /// Seconds without a frame after which a stream that was playing counts as stalled.
    public var stallTimeout = 3.0
    /// Seconds of stalling after which it is started again. For its first frame it may take both together.
    public var restartTimeout = 5.0
    /// What follows a failure that may pass; nil leaves it failed. One that is permanent before the first frame
    /// (``PipSinkError/isPermanent``), such as a file that does not exist, is not tried again.
    public var retryPolicy: RetryPolicy? = RetryPolicy(limit: .max, firstPause: 0.5, longestPause: 30, jitter: 0.25)
    /// Whether an end is taken for a failure; nil takes it so of a network source that does not know how long it is: a
    /// server that closes the connection.
    public var restartsAtEnd: Bool?
    /// Seconds of playing after which earlier failures are forgotten.
    public var settledAfter = 10.0
    /// Whether the sound of a URI is played as well, on the default output. A URI that has only sound or only pictures
    /// plays what it has.
    public var playsAudio = false

    public init() {}
  }

  public let streamID: StreamID
  private let core: Core
  private let thread = Locked<WorkerThread?>(nil)

  /// Parses the description; nothing runs yet.
  ///
  /// - Parameters:
  ///   - description: with one appsink, whatever its name.
  ///   - consumer: asked once for every time that the pipeline is started.
  /// - Throws: as ``VideoEngine/init(_:)``, and ``PipSinkError/notOneStream(_:)``.
  public convenience init(
    streamID: StreamID, from description: PipelineDescription, configuration: Configuration = .init(),
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    try self.init(
      streamID: streamID, from: description, configuration: configuration, sharing: nil, deliveringTo: consumer)
  }

  /// For a stream of an engine, whose audio session it shares.
  init(
    streamID: StreamID, from description: PipelineDescription, configuration: Configuration,
    sharing audioSession: AudioSession?,
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    self.streamID = streamID
    guard !streamID.isEmpty, !streamID.utf8.contains(0) else {
      throw .invalidArgument("stream", reason: streamID.isEmpty ? "it is empty" : "it has a NUL in it")
    }
    let engine = try VideoEngine(description, sharing: audioSession, as: streamID)
    guard engine.streamIDs.count == 1 else { throw .notOneStream(engine.streamIDs) }
    core = Core(streamID, engine, configuration, consumer)
  }

  deinit {
    stop()
  }

  /// Its engine's, where an engine has started it.
  public var audioSession: AudioSession { core.engine.audioSession }

  public var state: StreamPlayState { core.state.withLock { $0.phase } }

  /// The states from now on; each call gives a stream of its own.
  public func states() -> AsyncStream<StreamPlayState> { core.broadcast.stream() }

  /// Calls `observer` with the player's states, and with whatever else happens to its stream. The stream's ID in those
  /// events is not to be relied on.
  func observe(_ observer: @escaping @Sendable (EngineEvent) -> Void) {
    let streamID = streamID
    core.broadcast.observe { observer(.streamStateChanged(streamID, $0)) }
    core.engine.status.broadcast.observe { event in
      if case .streamStateChanged = event { return }
      observer(event)
    }
  }

  /// What is known of the stream in its pipeline.
  var info: StreamInfo? { core.engine.info(of: core.engine.streamIDs[0]) }

  /// Whether its decoder stands still.
  var isDecodingSuspended: Bool {
    get { core.engine.visibleStreamIDs != nil }
    set { core.engine.visibleStreamIDs = newValue ? [] : nil }
  }

  /// Starts it. Does nothing when it has been started and not stopped.
  public func start() {
    thread.withLock { thread in
      guard thread == nil else { return }
      core.state.withLock { $0.isWanted = true }
      let core = core
      thread = WorkerThread(name: "pip-\(streamID)") { core.supervise() }
    }
  }

  /// Stops it and waits until no frame is delivered any more.
  public func stop() {
    thread.withLock { thread in
      core.state.withLock { $0.isWanted = false }
      core.state.wakeAll()
      thread?.join()
      thread = nil
    }
  }

  /// Starts it again at once, with no failure remembered, where it waits or has failed.
  public func reset() {
    let hasEnded = core.state.withLock { state in
      state.isResetting = true
      return !state.isSupervised
    }
    core.state.wakeAll()
    guard hasEnded else { return }
    stop()
    start()
  }

  /// As ``VideoEngine/withUnsafeElement(named:_:)``, of the pipeline that runs now. A restart makes another.
  public func withUnsafeElement<Result>(
    named name: String, _ body: (UnsafeMutablePointer<GstElement>) throws -> Result
  ) rethrows -> Result? {
    try core.engine.withUnsafeElement(named: name, body)
  }

  /// Where its pipeline is, from its start; nil while it does not say.
  public var position: MediaTime? { core.engine.position }

  /// How long its source is; nil for a live one.
  public var duration: MediaTime? { core.engine.duration }

  /// As ``VideoEngine/seek(to:isAccurate:)``, while its pipeline runs.
  public func seek(to time: MediaTime, isAccurate: Bool = false) throws(PipSinkError) {
    try core.engine.seek(to: time, isAccurate: isAccurate)
  }

  /// Whether it stands still. Standing still is no stall.
  public var isPaused: Bool {
    get { core.state.withLock { $0.isPaused } }
    set {
      core.state.withLock { state in
        state.isPaused = newValue
        state.since = .now
      }
      core.engine.isPaused = newValue
      core.state.wakeAll()
    }
  }
}

extension StreamPlayer {
  /// What the player and its thread share; the thread must not keep the player.
  fileprivate final class Core: Sendable {
    struct State {
      var isWanted = false
      var isSupervised = false
      var isPaused = false
      /// Whether its pipeline stands still, also for an interruption.
      var isStanding = false
      /// Whether it goes on with sound alone.
      var hasNoVideo = false
      var isResetting = false
      /// Whether a frame has come since its pipeline was started.
      var hasPlayed = false
      var phase = StreamPlayState.stopped
      /// How the pipeline ended.
      var outcome: Outcome?
      /// Since when it is as it is: waits for its first frame, plays, is stalled.
      var since = MonotonicTime.now
      var attempt = 0
    }

    enum Outcome {
      case ended(isUnexpected: Bool = false)
      case failed(PipSinkError)
      case cancelled
    }

    let state = Locked(State())
    let broadcast = Broadcast<StreamPlayState>()
    private let streamID: StreamID
    /// Parses its description anew for every start but the first.
    let engine: VideoEngine
    private let configuration: Configuration
    private let consumer: @Sendable (StreamID) -> any SampleBufferConsumer

    init(
      _ streamID: StreamID, _ engine: VideoEngine, _ configuration: Configuration,
      _ consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
    ) {
      self.streamID = streamID
      self.engine = engine
      self.configuration = configuration
      self.consumer = consumer
      engine.stallTimeout = configuration.stallTimeout
      // Weak: the engine is the core's own.
      engine.status.broadcast.observe { [weak self] event in self?.note(event) }
    }

    private func setPhase(_ phase: StreamPlayState) {
      let isNew = state.withLock { state in
        defer { state.phase = phase }
        return state.phase != phase
      }
      if isNew { broadcast.send(phase) }
    }

    /// The player's thread.
    func supervise() {
      state.withLock { state in
        state.isSupervised = true
        state.attempt = 0
      }
      defer { state.withLock { $0.isSupervised = false } }
      while true {
        let outcome = playOnce()
        guard state.withLock({ $0.isWanted }) else { return setPhase(.stopped) }
        let error: PipSinkError
        switch outcome {
        case .cancelled: continue
        case .ended(let isUnexpected):
          guard configuration.restartsAtEnd ?? isUnexpected else { return setPhase(.ended) }
          error = .streamEndedUnexpectedly(streamID)
        case .failed(let reason):
          guard !isFinal(reason) else { return setPhase(.failed(reason)) }
          error = reason
        }
        let attempt = state.withLock { state in
          state.attempt += 1
          return state.attempt
        }
        guard let pause = configuration.retryPolicy?.pause(before: attempt) else { return setPhase(.failed(error)) }
        setPhase(.reconnecting(attempt: attempt, pause: pause, after: error))
        let deadline = MonotonicTime.now.advanced(bySeconds: pause)
        state.wait(until: deadline) { $0.isWanted && !$0.isResetting ? nil : () }
      }
    }

    /// Whether it makes no sense to try again. A source that has played with these caps, or with this password, does so
    /// perhaps again; a file that is broken in its middle stays so.
    private func isFinal(_ error: PipSinkError) -> Bool {
      if case .elementFailed(_, _, _, .badData) = error { return true }
      return error.isPermanent && !state.withLock { $0.hasPlayed }
    }

    private func playOnce() -> Outcome {
      state.withLock { state in
        if state.isResetting { state.attempt = 0 }
        state.isResetting = false
        state.outcome = nil
        state.isStanding = false
        state.hasNoVideo = false
        state.hasPlayed = false
        state.since = .now
      }
      setPhase(.requesting)
      do throws(PipSinkError) {
        try engine.start { _ in consumer(streamID) }
      } catch {
        return .failed(error)
      }
      defer { engine.stop() }
      let outcome = state.waitStepwise(nextStep)
      if case .ended = outcome { return .ended(isUnexpected: engine.duration == nil && engine.hasNetworkSource) }
      return outcome
    }

    /// On the threads of the engine.
    private func note(_ event: EngineEvent) {
      switch event {
      case .streamStateChanged(_, .playing): flow(.playing)
      case .streamStateChanged(_, .stalled): flow(.stalled)
      case .streamStateChanged(_, .ended): state.withLock { $0.outcome = .ended() }
      case .streamStateChanged(_, .failed(let error)): state.withLock { $0.outcome = .failed(error) }
      case .buffering: state.withLock { $0.since = .now }
      case .streamHasNoVideo:
        state.withLock { $0.hasNoVideo = true }
        flow(.playing)
      case .stateChanged(let engine):
        state.withLock { state in
          state.isStanding = engine == .paused
          state.since = .now
        }
      default: return
      }
      state.wakeAll()
    }

    private func flow(_ phase: StreamPlayState) {
      state.withLock { state in
        state.since = .now
        if phase == .playing { state.hasPlayed = true }
      }
      setPhase(phase)
    }

    private func nextStep(_ state: inout State) -> Locked<State>.Step<Outcome> {
      if !state.isWanted || state.isResetting { return .done(.cancelled) }
      if let outcome = state.outcome { return .done(outcome) }
      if state.isPaused || state.isStanding || state.hasNoVideo { return .whenWoken }
      let now = MonotonicTime.now
      let whole = configuration.stallTimeout + configuration.restartTimeout
      switch state.phase {
      case .playing:
        let settled = state.since.advanced(bySeconds: configuration.settledAfter)
        guard state.attempt > 0 else { return .whenWoken }
        guard now >= settled else { return .at(settled) }
        state.attempt = 0
        return .whenWoken
      case .stalled, .requesting:
        let patience = state.phase == .stalled ? configuration.restartTimeout : whole
        let end = state.since.advanced(bySeconds: patience)
        return now < end ? .at(end) : .done(.failed(.streamStalled(streamID, seconds: whole)))
      default:
        return .whenWoken
      }
    }
  }
}
