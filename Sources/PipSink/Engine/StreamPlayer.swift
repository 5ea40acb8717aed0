/// Plays one stream with a pipeline of its own, and starts it again when it fails.
///
/// It is independent of all other streams. A thread of its own looks after it; frames go from GStreamer's streaming
/// thread to the consumer, as in ``VideoEngine``. All calls are allowed from every thread but that one. It stops when it
/// goes away.
public final class StreamPlayer: Sendable {
  public struct Configuration: Sendable {
    /// Seconds without a frame after which a stream that was playing counts as stalled, and seconds for which a stream
    /// may take to deliver its first.
    public var stallTimeout = 3.0
    /// Seconds of stalling after which it is started again.
    public var restartTimeout = 5.0
    /// What follows a failure; nil leaves it failed.
    public var retryPolicy: RetryPolicy? = RetryPolicy(limit: .max, firstPause: 0.5, longestPause: 30, jitter: 0.25)
    /// Whether an end is taken for a failure, as of a network source that has none.
    public var restartsAtEnd = false
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

  func observe(_ observer: @escaping @Sendable (StreamPlayState) -> Void) { core.broadcast.observe(observer) }

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

  /// Calls `body` with an element of the pipeline that runs now. For tests.
  func withElement(named name: String, _ body: (GstElementPointer) throws -> Void) rethrows {
    try core.engine.withElement(named: name, body)
  }

  /// Whether it stands still. Standing still is no stall.
  public var isPaused: Bool {
    get { core.state.withLock { $0.isPaused } }
    set {
      core.state.withLock { state in
        state.isPaused = newValue
        state.lastFrame = .now
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
      var phase = StreamPlayState.stopped
      /// How the pipeline ended.
      var outcome: Outcome?
      var lastFrame = MonotonicTime.now
      var isFlowing = false
      var attempt = 0
    }

    enum Outcome {
      case ended
      case failed(PipSinkError)
      case cancelled
    }

    private enum Change {
      case outcome(Outcome)
      case phase(StreamPlayState)
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
      engine.broadcast.observe { [state] event in Self.note(event, in: state) }
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
        case .ended where !configuration.restartsAtEnd: return setPhase(.ended)
        case .ended: error = .streamStalled(streamID, seconds: 0)
        case .failed(let reason): error = reason
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

    private func playOnce() -> Outcome {
      state.withLock { state in
        if state.isResetting { state.attempt = 0 }
        state.isResetting = false
        state.outcome = nil
        state.isStanding = false
        state.hasNoVideo = false
        state.isFlowing = false
        state.lastFrame = .now
      }
      setPhase(.requesting)
      do throws(PipSinkError) {
        let watch = FrameWatch(next: consumer(streamID), state: state)
        try engine.start { _ in watch }
      } catch {
        return .failed(error)
      }
      defer { engine.stop() }
      let startedAt = MonotonicTime.now
      while true {
        switch state.waitStepwise({ nextChange(&$0, startedAt) }) {
        case .outcome(let outcome): return outcome
        case .phase(let phase): setPhase(phase)
        }
      }
    }

    private static func note(_ event: EngineEvent, in state: Locked<State>) {
      switch event {
      case .streamEnded: state.withLock { $0.outcome = .ended }
      case .streamFailed(_, let error): state.withLock { $0.outcome = .failed(error) }
      case .streamHasNoVideo: state.withLock { $0.hasNoVideo = true }
      case .stateChanged(let engine):
        state.withLock { state in
          state.isStanding = engine == .paused
          state.lastFrame = .now
        }
      default: return
      }
      state.wakeAll()
    }

    private func nextChange(_ state: inout State, _ startedAt: MonotonicTime) -> Locked<State>.Step<Change> {
      if !state.isWanted || state.isResetting { return .done(.outcome(.cancelled)) }
      if let outcome = state.outcome { return .done(.outcome(outcome)) }
      let now = MonotonicTime.now
      if now >= startedAt.advanced(bySeconds: configuration.settledAfter), state.isFlowing { state.attempt = 0 }
      if state.hasNoVideo { return state.phase == .playing ? .whenWoken : .done(.phase(.playing)) }
      if state.isPaused || state.isStanding { return .whenWoken }
      let stall = state.lastFrame.advanced(bySeconds: configuration.stallTimeout)
      if now < stall {
        if state.isFlowing, state.phase != .playing { return .done(.phase(.playing)) }
        return .at(stall)
      }
      let end = stall.advanced(bySeconds: configuration.restartTimeout)
      if now >= end {
        let seconds = configuration.stallTimeout + configuration.restartTimeout
        return .done(.outcome(.failed(.streamStalled(streamID, seconds: seconds))))
      }
      if state.phase == .playing {
        state.isFlowing = false
        return .done(.phase(.stalled))
      }
      return .at(end)
    }
  }

  /// Notes when a frame comes, and hands it on.
  fileprivate final class FrameWatch: SampleBufferConsumer {
    private let next: any SampleBufferConsumer
    private let state: Locked<Core.State>

    init(next: any SampleBufferConsumer, state: Locked<Core.State>) {
      self.next = next
      self.state = state
    }

    var formatSeries: FrameFormatSeries { next.formatSeries }

    func consume(_ sampleBuffer: SampleBuffer) {
      let mustWake = state.withLock { state in
        state.lastFrame = .now
        defer { state.isFlowing = true }
        return !state.isFlowing
      }
      if mustWake { state.wakeAll() }
      next.consume(sampleBuffer)
    }
  }
}
