/// Plays one stream with a pipeline of its own, and restarts it when it fails.
///
/// The player has a thread that supervises one ``PipelineRun`` after the other, from the start to the stop, so that the
/// stream's failures affect no other stream. A player starts and stops once; a stream that is started again gets a new
/// player.
///
/// A pipeline that does not stop in time is abandoned (``EngineEvent/abandoned(_:)``), also before a restart. While
/// three abandoned pipelines of a player still block, it starts no other one.
final class StreamPlayer: Sendable {
  private struct State {
    var isWanted = true
    var thread: WorkerThread?
    var run: PipelineRun?
    var isPaused = false
    var phase = StreamPlayState.stopped
    /// What the current run has reported.
    var told = Told()
    /// When the current phase began: waiting for the first frame, playing, or stalled.
    var since: MonotonicTime
    /// The number of restarts since the stream last played for long enough.
    var attempt = 0
  }

  private struct Told {
    /// Whether the pipeline is paused, by the user or by an interruption.
    var isStanding = false
    /// Whether the stream goes on with sound alone.
    var hasNoVideo = false
    /// Whether a frame has come.
    var hasPlayed = false
    /// How the run ended: `ended` or `failed`.
    var outcome: StreamPlayState?
  }

  let streamID: StreamID
  let configuration: StreamConfiguration
  /// The abandoned pipelines of this player.
  let blocked: BlockedPipelines
  private let engine: EngineStatus
  private let clock: SchedulingClock
  private let pipelines: PipelineFactory
  private let consumer: @Sendable (StreamID) -> any SampleBufferConsumer
  private let state: Locked<State>
  /// Completes when the player's thread has nothing more to do.
  private let ending = Completion<Void>()
  /// Whether the engine still has the player. The lock is held while the engine is called.
  private let isConnected = Locked(true)

  /// The number of blocked pipelines from which on no other is started, since each keeps threads and memory.
  private static let blockedLimit = 3

  /// Makes a player and parses the description, without starting the pipeline.
  ///
  /// - Parameters:
  ///   - description: a pipeline with one stream, whose name is ignored.
  ///   - engine: gets the states and events of the stream, under `streamID`.
  ///   - consumer: returns the consumer of the stream's frames. It is called for each start of a pipeline.
  /// - Throws: ``PipSinkError/System/invalidArgument(_:reason:)``, and the errors of ``Pipeline/init(_:as:)``.
  init(
    streamID: StreamID, from description: PipelineDescription, configuration: StreamConfiguration,
    in engine: EngineStatus,
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    try VideoEngine.check(streamID)
    pipelines = try PipelineFactory(description, as: streamID)
    self.streamID = streamID
    self.configuration = configuration
    self.engine = engine
    clock = engine.clock
    self.consumer = consumer
    let state = Locked(State(since: clock.now))
    self.state = state
    blocked = BlockedPipelines { [weak state] in state?.wakeAll() }
  }

  // MARK: - Start and stop

  /// Starts the player's thread, which retains the player until it has stopped. Does nothing after ``requestStop()``.
  func start() {
    setPhase(.requesting)
    let isRefused = state.withLock { state in
      guard state.isWanted else { return false }
      state.thread = WorkerThread(name: "pip-\(streamID)") { [self] in
        supervise()
        ending.complete(())
      }
      return state.thread == nil
    }
    guard isRefused else { return }
    setPhase(.failed(ResourceLimits.threadRefused))
    ending.complete(())
  }

  /// Asks the player to stop, without waiting. From now on no further frame is passed to the consumer.
  func requestStop() {
    let (run, thread) = state.withLock { state in
      state.isWanted = false
      return (state.run, state.thread)
    }
    // No other run can begin now.
    run?.requestStop()
    if thread == nil { ending.complete(()) }
    state.wakeAll()
  }

  /// The moment by which the pipeline must have changed its state.
  ///
  /// - Parameter time: the time from now; nil for the time in the configuration.
  func deadline(in time: Duration? = nil) -> MonotonicTime {
    clock.moment(in: time ?? configuration.stateChangeTimeout)
  }

  /// The moment by which the thread must have ended after its pipeline was abandoned. It waits for nothing else then.
  private var graceEnd: MonotonicTime { clock.moment(in: .seconds(1)) }

  /// Waits, after ``requestStop()``, until the pipeline has stopped and the thread has ended. A pipeline that has not
  /// stopped by `deadline` is abandoned.
  func waitForStop(until deadline: MonotonicTime) {
    // The thread cannot wait for itself.
    guard state.withLock({ $0.thread })?.isCurrent != true else { return }
    if ending.wait(until: deadline, by: clock) == nil {
      run?.giveUp()
      _ = ending.wait(until: graceEnd, by: clock)
    }
    join()
  }

  /// Waits as ``waitForStop(until:)`` does, but suspends instead of blocking.
  ///
  /// - Returns: true when the pipeline has stopped; false when it was abandoned.
  func waitForStop(by deadline: MonotonicTime) async -> Bool {
    let before = blocked.everCount
    if await ending.value(by: deadline, of: clock) == nil {
      run?.giveUp()
      _ = await ending.value(by: graceEnd, of: clock)
    }
    join()
    return blocked.everCount == before
  }

  /// Joins the thread if it has nothing more to do.
  private func join() {
    if ending.value != nil { state.withLock { $0.thread }?.join() }
  }

  // MARK: - What runs

  /// The current run; nil before the first one and between two of them.
  var run: PipelineRun? { state.withLock { $0.run } }

  /// Pauses or resumes the stream as the engine's `isPaused` says. A paused stream is not stalled.
  func updatePause() {
    change { state in
      state.isPaused = engine.state.withLock { $0.isPaused }
      state.since = clock.now
    }
    run?.updatePause()
  }

  // MARK: - What the engine is told

  /// Calls `body` with the engine, unless the engine no longer has the stream.
  func tell(_ body: (EngineStatus) -> Void) {
    isConnected.withLock { if $0 { body(engine) } }
  }

  /// Disconnects the player from the engine, which gets no more states or events, except that a pipeline was abandoned.
  ///
  /// - Parameter last: is called with the engine before the player is disconnected.
  func disconnect(_ last: (EngineStatus) -> Void) {
    isConnected.withLock { isConnected in
      isConnected = false
      last(engine)
    }
  }

  private func setPhase(_ phase: StreamPlayState) {
    let isNew = state.withLock { state in
      defer { state.phase = phase }
      return state.phase != phase
    }
    if isNew { tell { $0.setStream(streamID, to: phase) } }
  }

  // MARK: - What the run tells, on its threads

  func pipelineDidChange(to new: EngineState) {
    change { state in
      state.told.isStanding = new == .paused
      state.since = clock.now
    }
  }

  func streamDidChange(to new: StreamPlayState) {
    switch new {
    case .playing, .stalled: flow(new)
    case .ended, .failed: change { $0.told.outcome = new }
    // Another run may follow, so only the player can say whether the stream starts or stops.
    case .stopped, .requesting, .reconnecting: break
    }
  }

  func take(_ event: EngineEvent) {
    switch event {
    case .buffering: change { $0.since = clock.now }
    case .streamHasNoVideo:
      state.withLock { $0.told.hasNoVideo = true }
      flow(.playing)
    default: break
    }
  }

  /// Changes the state and wakes the player's thread.
  private func change(_ body: (inout State) -> Void) {
    state.withLock(body)
    state.wakeAll()
  }

  private func flow(_ phase: StreamPlayState) {
    state.withLock { state in
      state.since = clock.now
      if phase == .playing { state.told.hasPlayed = true }
    }
    setPhase(phase)
    state.wakeAll()
  }

  // MARK: - Its thread

  private func supervise() {
    while true {
      let outcome = playOnce()
      guard let outcome, state.withLock({ $0.isWanted }) else { return setPhase(.stopped) }
      guard case .failed(let error) = outcome,
        !error.isFinal(hasPlayed: state.withLock { $0.told.hasPlayed })
      else { return setPhase(outcome) }
      let attempt = state.withLock { state in
        state.attempt += 1
        return state.attempt
      }
      guard let pause = configuration.retryPolicy?.pause(before: attempt) else { return setPhase(outcome) }
      setPhase(.reconnecting(attempt: attempt, pause: pause, after: error))
      state.wait(until: clock.moment(in: pause), by: clock) { $0.isWanted ? nil : () }
      state.wait { $0.isWanted && blocked.count >= Self.blockedLimit ? nil : () }
    }
  }

  /// Runs a pipeline until it ends, fails or is to be stopped.
  ///
  /// - Returns: `ended` or `failed`; nil when the player is to stop.
  private func playOnce() -> StreamPlayState? {
    let isWanted = state.withLock { state in
      (state.told, state.since) = (Told(), clock.now)
      return state.isWanted
    }
    guard isWanted else { return nil }
    setPhase(.requesting)
    do throws(PipSinkError) {
      let run = PipelineRun(try pipelines.makePipeline(), status: RunStatus(engine, player: self))
      // The run has to be known before its first event, and must not begin after a request to stop.
      let isWanted = state.withLock { state in
        if state.isWanted { state.run = run }
        return state.isWanted
      }
      guard isWanted else { return nil }
      defer { state.withLock { $0.run = nil } }
      try run.start(isAwaited: false, deliveringTo: consumer)
      defer {
        run.requestStop()
        run.waitForStop(until: deadline())
      }
      let outcome = state.waitStepwise(by: clock, nextStep)
      guard outcome == .ended, configuration.restartsAtEnd ?? run.endsUnexpectedly else { return outcome }
      return .failed(.stream(.endedUnexpectedly(streamID)))
    } catch {
      return .failed(error)
    }
  }

  private func nextStep(_ state: inout State) -> Locked<State>.Step<StreamPlayState?> {
    guard state.isWanted else { return .done(nil) }
    let now = clock.now
    let isStill = state.isPaused || state.told.isStanding || state.told.hasNoVideo
    let settled = state.since.advanced(by: configuration.settledAfter)
    // This comes before the outcome is looked at, so that it counts for a failure at this moment, too.
    if state.phase == .playing, !isStill, now >= settled { state.attempt = 0 }
    if let outcome = state.told.outcome { return .done(outcome) }
    if isStill { return .whenWoken }
    let whole = configuration.stallTimeout + configuration.restartTimeout
    switch state.phase {
    case .playing:
      return state.attempt > 0 ? .at(settled) : .whenWoken
    case .stalled, .requesting:
      let patience = state.phase == .stalled ? configuration.restartTimeout : whole
      let end = state.since.advanced(by: patience)
      return now < end ? .at(end) : .done(.failed(.stream(.stalled(streamID, after: whole))))
    default:
      return .whenWoken
    }
  }
}
