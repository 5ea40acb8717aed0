/// Plays one stream with a pipeline of its own, and starts it again when it fails.
///
/// A thread of its own supervises one ``PipelineRun`` after the other, from the start to the stop, so that the stream's
/// failures are nobody else's. It begins and stops once; a stream that comes again has another player.
///
/// A pipeline that does not stop in time, be it for a restart, is given up (``EngineEvent/abandoned(_:)``). While three
/// of a player's pipelines block so, no other one is tried.
final class StreamPlayer: Sendable {
  private struct State {
    var isWanted = true
    var thread: WorkerThread?
    var run: PipelineRun?
    var isPaused = false
    var phase = StreamPlayState.stopped
    /// What has been told of the pipeline that was started last.
    var told = Told()
    /// Since when it is as it is: waits for its first frame, plays, is stalled.
    var since: MonotonicTime
    /// Restarts since failures were forgotten last.
    var attempt = 0
  }

  private struct Told {
    /// Whether it stands still, also for an interruption.
    var isStanding = false
    /// Whether it goes on with sound alone.
    var hasNoVideo = false
    /// Whether a frame has come.
    var hasPlayed = false
    /// How it ended: `ended` or `failed`.
    var outcome: StreamPlayState?
  }

  let streamID: StreamID
  let configuration: StreamConfiguration
  /// Its pipelines that were given up.
  let blocked: BlockedPipelines
  private let engine: EngineStatus
  private let clock: SchedulingClock
  private let pipelines: PipelineFactory
  private let consumer: @Sendable (StreamID) -> any SampleBufferConsumer
  private let state: Locked<State>
  /// Done when its thread has nothing more to do.
  private let ending = Completion<Void>()
  /// Whether the engine has it still. Held while the engine is told something.
  private let isConnected = Locked(true)

  private static let blockedLimit = 3

  /// Parses the description; nothing runs yet.
  ///
  /// - Parameters:
  ///   - description: with one stream, whatever its name.
  ///   - engine: what is told of the stream, as `streamID`.
  ///   - consumer: asked once for every time that a pipeline is started.
  /// - Throws: ``PipSinkError/System/invalidArgument(_:reason:)``, and as ``Pipeline/init(_:as:)``.
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

  /// Starts its thread, which keeps the player until it is stopped. Does nothing when that has been asked for already.
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

  /// From here on no frame begins its way to the consumer. Waits for nothing.
  func requestStop() {
    let (run, thread) = state.withLock { state in
      state.isWanted = false
      return (state.run, state.thread)
    }
    // No other run begins.
    run?.requestStop()
    if thread == nil { ending.complete(()) }
    state.wakeAll()
  }

  /// Until when its pipeline has time to change its state.
  ///
  /// - Parameter time: nil for that of the configuration.
  func deadline(in time: Duration? = nil) -> MonotonicTime {
    clock.moment(in: time ?? configuration.stateChangeTimeout)
  }

  /// By then the thread has ended of which a pipeline was given up: it waits for nothing else.
  private var graceEnd: MonotonicTime { clock.moment(in: .seconds(1)) }

  /// After ``requestStop()``: waits until the pipeline has stopped and the thread has ended, and gives the pipeline up
  /// when that does not come.
  func waitForStop(until deadline: MonotonicTime) {
    // What is called on the thread itself cannot wait for it.
    guard state.withLock({ $0.thread })?.isCurrent != true else { return }
    if ending.wait(until: deadline, by: clock) == nil {
      run?.giveUp()
      _ = ending.wait(until: graceEnd, by: clock)
    }
    join()
  }

  /// The same for tasks.
  ///
  /// - Returns: whether the pipeline has stopped rather than been given up.
  func waitForStop(by deadline: MonotonicTime) async -> Bool {
    let before = blocked.everCount
    if await ending.value(by: deadline, of: clock) == nil {
      run?.giveUp()
      _ = await ending.value(by: graceEnd, of: clock)
    }
    join()
    return blocked.everCount == before
  }

  /// Waits for the thread where that has nothing more to do.
  private func join() {
    if ending.value != nil { state.withLock { $0.thread }?.join() }
  }

  // MARK: - What runs

  /// Its pipeline's run; nil where none has been started, and between two of them.
  var run: PipelineRun? { state.withLock { $0.run } }

  /// Goes on or stands still, as the engine's `isPaused` says. Standing still is no stall.
  func updatePause() {
    change { state in
      state.isPaused = engine.state.withLock { $0.isPaused }
      state.since = clock.now
    }
    run?.updatePause()
  }

  // MARK: - What the engine is told

  /// Tells the engine something, unless it has the stream no more.
  func tell(_ body: (EngineStatus) -> Void) {
    isConnected.withLock { if $0 { body(engine) } }
  }

  /// From here on the engine is told nothing, but that a pipeline was given up.
  ///
  /// - Parameter last: what it is told as the last.
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
    // Another run may follow: whether the stream starts or stops is the player's own to say.
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

  /// Changes what its thread goes by.
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
      // Pipelines that block, each with threads and memory, are not to become ever more.
      state.wait { $0.isWanted && blocked.count >= Self.blockedLimit ? nil : () }
    }
  }

  /// Has a pipeline run to its end.
  ///
  /// - Returns: `ended` or `failed`; nil when it was stopped.
  private func playOnce() -> StreamPlayState? {
    let isWanted = state.withLock { state in
      (state.told, state.since) = (Told(), clock.now)
      return state.isWanted
    }
    guard isWanted else { return nil }
    setPhase(.requesting)
    do throws(PipSinkError) {
      let run = PipelineRun(try pipelines.makePipeline(), status: RunStatus(engine, player: self))
      // Before anything can be heard of it, and not once it is to stop.
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
    // Also where it fails at that moment.
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
