extension StreamPlayer {
  /// What the player and its thread share; the thread must not keep the player.
  final class Core: Sendable {
    struct State {
      /// From `start()` to `stop()`, whatever becomes of it meanwhile.
      var isStarted = false
      var isWanted = false
      /// Whether it has a thread.
      var isSupervised = false
      /// Those who wait until its pipeline has stopped.
      var stops: [Completion<Void>] = []
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
      var since: MonotonicTime
      var attempt = 0

      mutating func takeStops() -> [Completion<Void>] {
        defer { stops = [] }
        return stops
      }

      /// - Returns: whether it needs a thread.
      mutating func start() -> Bool {
        isStarted = true
        isWanted = true
        // What is still being stopped is not gone on with.
        if isSupervised { isResetting = true }
        defer { isSupervised = true }
        return !isSupervised
      }
    }

    enum Outcome {
      case ended(isUnexpected: Bool = false)
      case failed(PipSinkError)
      case cancelled
    }

    let state: Locked<State>
    let broadcast = Broadcast<StreamPlayState>()
    private let streamID: StreamID
    /// Parses its description anew for every start but the first.
    let engine: VideoEngine
    private let configuration: Configuration
    private let consumer: @Sendable (StreamID) -> any SampleBufferConsumer
    let clock: SchedulingClock

    init(
      _ streamID: StreamID, _ engine: VideoEngine, _ configuration: Configuration,
      _ consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
    ) {
      self.streamID = streamID
      self.engine = engine
      clock = engine.clock
      state = Locked(State(since: clock.now))
      self.configuration = configuration
      self.consumer = consumer
      engine.stallTimeout = configuration.stallTimeout
      engine.stateChangeTimeout = configuration.stateChangeTimeout
      engine.status.blocked.observe { [weak self] in self?.state.wakeAll() }
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

    // MARK: - Stops

    func stopDeadline(_ seconds: Double?) -> MonotonicTime {
      clock.moment(in: seconds ?? configuration.stateChangeTimeout)
    }

    /// By then the thread has ended of which a pipeline was given up: it waits for nothing else.
    var graceEnd: MonotonicTime { clock.moment(in: 1) }

    /// What comes when its pipeline has stopped; nil where it has none.
    func awaitedStop() -> Completion<Void>? {
      state.withLock { state in
        guard state.isSupervised else { return nil }
        let stop = Completion<Void>()
        state.stops.append(stop)
        return stop
      }
    }

    /// It has no thread.
    func fail(_ error: PipSinkError) {
      setPhase(.failed(error))
      let stops = state.withLock { state in
        state.isSupervised = false
        return state.takeStops()
      }
      for stop in stops { stop.complete(()) }
    }

    // MARK: - The player's thread

    func run() {
      while true {
        supervise()
        let (isOver, stops) = state.withLock { state in
          state.isSupervised = state.isWanted && state.isResetting
          return (!state.isSupervised, state.takeStops())
        }
        for stop in stops { stop.complete(()) }
        if isOver { return }
      }
    }

    private func supervise() {
      state.withLock { $0.attempt = 0 }
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
        state.wait(until: clock.moment(in: pause), by: clock) { $0.isWanted && !$0.isResetting ? nil : () }
        // Pipelines that block, each with threads and memory, are not to become ever more.
        state.wait { $0.isWanted && !$0.isResetting && engine.status.blocked.count >= Self.blockedLimit ? nil : () }
      }
    }

    /// Whether it makes no sense to try again. A source that has played with these caps, or with this password, does so
    /// perhaps again; a file that is broken in its middle stays so.
    private func isFinal(_ error: PipSinkError) -> Bool {
      if case .elementFailed(_, _, _, .badData) = error { return true }
      return error.isPermanent && !state.withLock { $0.hasPlayed }
    }

    private static let blockedLimit = 3

    private func playOnce() -> Outcome {
      // Who waits for a stop that a start has followed waits no longer. One that comes from here on waits for this run's
      // end, and where one has come already, nothing begins.
      let overtaken = state.withLock { state -> [Completion<Void>]? in
        guard state.isWanted else { return nil }
        if state.isResetting { state.attempt = 0 }
        state.isResetting = false
        state.outcome = nil
        state.isStanding = false
        state.hasNoVideo = false
        state.hasPlayed = false
        state.since = clock.now
        return state.takeStops()
      }
      guard let overtaken else { return .cancelled }
      for stop in overtaken { stop.complete(()) }
      setPhase(.requesting)
      do throws(PipSinkError) {
        try engine.begin { _ in consumer(streamID) }
      } catch {
        return .failed(error)
      }
      defer { engine.stop() }
      let outcome = state.waitStepwise(by: clock, nextStep)
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
      case .buffering: state.withLock { $0.since = clock.now }
      case .streamHasNoVideo:
        state.withLock { $0.hasNoVideo = true }
        flow(.playing)
      case .stateChanged(let engine):
        state.withLock { state in
          state.isStanding = engine == .paused
          state.since = clock.now
        }
      default: return
      }
      state.wakeAll()
    }

    private func flow(_ phase: StreamPlayState) {
      state.withLock { state in
        state.since = clock.now
        if phase == .playing { state.hasPlayed = true }
      }
      setPhase(phase)
    }

    private func nextStep(_ state: inout State) -> Locked<State>.Step<Outcome> {
      if !state.isWanted || state.isResetting { return .done(.cancelled) }
      let now = clock.now
      let isPlaying = state.phase == .playing && !state.isPaused && !state.isStanding && !state.hasNoVideo
      let settled = state.since.advanced(bySeconds: configuration.settledAfter)
      // Also where it fails at that moment.
      if isPlaying, now >= settled { state.attempt = 0 }
      if let outcome = state.outcome { return .done(outcome) }
      if state.isPaused || state.isStanding || state.hasNoVideo { return .whenWoken }
      let whole = configuration.stallTimeout + configuration.restartTimeout
      switch state.phase {
      case .playing:
        return state.attempt > 0 ? .at(settled) : .whenWoken
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
