/// Plays one pipeline, with one or more streams, and starts it again when it fails.
///
/// A task supervises one ``PipelineRun`` after the other, from the start to the stop, so that the failures of a
/// pipeline affect no other one. A player starts and stops once; what is started again by the app gets a new player.
///
/// A run that does not stop in time is abandoned (``EngineEvent/abandoned(_:)``), also before a restart. While too many
/// abandoned pipelines of a player still block, it starts no other one.
final class PipelinePlayer: Sendable {
  let streamIDs: [StreamID]
  let configuration: PipelineConfiguration
  /// Whether this is the engine's own pipeline, whose state is that of the engine.
  let isFirst: Bool
  private let engine: EngineStatus
  private let clock: SchedulingClock
  private let pipelines: PipelineFactory
  /// The lock is held while the engine is told of changes, and while it is asked for consumers.
  private let state: Watched<State>
  /// Completes when the first run is up or has failed, with the error if the caller is to get it.
  private let beginning = Completion<PipSinkError?>()
  /// Completes when the player's task has nothing more to do: true when the last run has stopped, false when it was
  /// abandoned.
  private let ending = Completion<Bool>()

  /// - Parameters:
  ///   - pipelines: makes a pipeline for each start.
  ///   - engine: gets the states and events of the streams.
  ///   - consumer: returns the consumer of a stream's frames. It is called for each stream and start of a pipeline, and
  ///     not after ``requestStop(by:isRemoved:)``.
  init(
    _ pipelines: PipelineFactory, _ configuration: PipelineConfiguration, isFirst: Bool = false,
    in engine: EngineStatus, deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) {
    (self.pipelines, self.configuration, self.isFirst, self.engine) = (pipelines, configuration, isFirst, engine)
    streamIDs = pipelines.streamIDs
    clock = engine.clock
    state = Watched(State(consumer: consumer, since: clock.now))
  }

  // MARK: - Start and stop

  /// Starts the player's task, which retains the player until it has stopped.
  func start() {
    engine.beginCustomVideoRender()
    begin()
    Task.detached {
      await self.engine.waitForStart()
      await self.supervise()
    }
  }

  /// Starts the player, and suspends until its pipeline is up.
  ///
  /// - Returns: the error of a start that was refused, after which the player has stopped; nil when the pipeline is up,
  ///   and when it is still starting at `deadline`. An error that comes later is reported by the streams.
  func start(by deadline: MonotonicTime) async -> PipSinkError? {
    state.withLock { $0.isAwaited = true }
    start()
    if let error = await beginning.value(by: deadline, of: clock) { return error }
    // An error that occurs at this moment still belongs to the caller.
    let isRefused = state.withLock { state in
      if state.startError == nil { state.isAwaited = false }
      return state.isAwaited
    }
    return isRefused ? await beginning.value() ?? nil : nil
  }

  /// Asks the player to stop, without waiting. From now on no frame is passed to a consumer and no consumer is asked
  /// for.
  ///
  /// - Parameter isRemoved: whether the engine removes the streams. It is told nothing more then, except that a
  ///   pipeline was abandoned.
  func requestStop(by deadline: MonotonicTime, isRemoved: Bool = false) {
    let run = state.change { state in
      state.stopDeadline = state.stopDeadline ?? deadline
      if isRemoved, !state.isRemoved {
        (state.isRemoved, state.isObserved) = (true, false)
        streamIDs.forEach(engine.retire)
      }
      return state.run
    }
    run?.requestStop()
  }

  /// Suspends, after ``requestStop(by:isRemoved:)``, until the player has stopped. A pipeline that has not stopped by
  /// `deadline` is abandoned.
  ///
  /// - Returns: true when the pipeline has stopped; false when it was abandoned.
  func stop(by deadline: MonotonicTime) async -> Bool {
    if let hasStopped = await ending.value(by: deadline, of: clock) { return hasStopped }
    run?.abandon()
    // The task waits for nothing else then.
    return await ending.value(by: clock.moment(in: .seconds(1)), of: clock) ?? false
  }

  /// The moment by which the pipeline must have changed its state.
  ///
  /// - Parameter time: the time from now; nil for the time in the configuration.
  func deadline(in time: Duration? = nil) -> MonotonicTime {
    clock.moment(in: time ?? configuration.stateChangeTimeout)
  }

  /// Whether the player has stopped.
  var isOver: Bool { ending.value != nil }

  /// Whether the engine has removed the streams.
  var isRemoved: Bool { state.withLock { $0.isRemoved } }

  /// The current run; nil before the first one and between two of them.
  var run: PipelineRun? { state.withLock { $0.run } }

  /// What the pipeline of the current run does.
  var pipelineState: EngineState { state.withLock { $0.pipeline } }

  /// Pauses or resumes the pipeline as the engine's `isPaused` says. A paused stream is not stalled.
  func updatePause() {
    let run = state.change { state in
      state.rest(at: clock.now, configuration)
      state.isPaused = engine.isPaused
      return state.run
    }
    run?.updatePause()
  }

  /// Has a restart that is due later come now, and begins again with the pauses between restarts: the reason for the
  /// failures may have gone, as after the machine has slept.
  func retryNow() { state.change { ($0.attempt, $0.isHurried) = (0, !$0.isObserved) } }

  // MARK: - Reports of the run, on its threads

  /// Calls `body` with the engine, unless the run is no longer listened to.
  func report(of run: PipelineRun, _ body: (EngineStatus) -> Void) {
    state.withLock { if $0.isObserved, $0.run === run { body(engine) } }
  }

  /// Notes that the pipeline is up.
  func pipelineDidStart(_ run: PipelineRun) {
    let maySendNothing = run.pipeline.streams.allSatisfy { run.pipeline.maySendNothing($0) }
    change(by: run) { state in
      state.maySendNothing = maySendNothing
      state.isAwaited = false
      beginning.complete(nil)
    }
  }

  /// Notes that the pipeline was refused its start.
  func pipelineDidNotStart(_ run: PipelineRun, _ error: PipSinkError) {
    change(by: run) { refuse(&$0, error) }
  }

  func pipeline(of run: PipelineRun, didChangeTo new: EngineState) {
    change(by: run) { state in
      guard state.pipeline != new else { return }
      state.rest(at: clock.now, configuration)
      state.pipeline = new
      if isFirst { engine.setEngine(new) }
    }
  }

  func streams(of run: PipelineRun, didChange changes: [(id: StreamID, state: StreamPlayState)]) {
    change(by: run) { state in
      state.forgetFailures(at: clock.now, configuration)
      let (flow, wasOver) = (state.flow, state.isOver)
      for (id, new) in changes { state.streams[id] = new }
      if state.flow != flow || wasOver { state.since = clock.now }
      if state.flow == .playing { state.hasPlayed = true }
      // When no stream is open any more, it depends on all of them what follows.
      guard !state.isOver else { return }
      state.isParked = false
      for (id, new) in changes { engine.setStream(id, to: new) }
    }
  }

  /// Notes that the pipeline makes progress without delivering frames.
  func pipelineIsBuffering(_ run: PipelineRun) { change(by: run) { $0.rest(at: clock.now, configuration) } }

  /// Notes that a run was abandoned, or that an abandoned run has stopped at last.
  func runIsBlocked(_ run: PipelineRun, _ isBlocked: Bool) {
    state.change { state in
      state.blockedCount += isBlocked ? 1 : -1
      if state.run === run { state.isObserved = false }
    }
  }

  private func change(by run: PipelineRun, _ body: (inout State) -> Void) {
    state.change { if $0.isObserved, $0.run === run { body(&$0) } }
  }

  // MARK: - The task

  /// What follows when no stream of a run is open any more.
  private enum Sequel {
    /// The run stays: it plays again, or a seek may bring it back.
    case stay
    case end
    case restart(at: MonotonicTime)
  }

  private func supervise() async {
    var hasStopped = true
    while true {
      let (run, sequel) = await play()
      if let run { hasStopped = await run.stop(by: state.withLock { $0.stopDeadline } ?? deadline()) }
      state.withLock { state in
        (state.run, state.isObserved) = (nil, false)
        if !state.isRemoved { for id in streamIDs { engine.setDecodingSuspended(false, of: id) } }
      }
      engine.endCustomVideoRender()
      guard case .restart(let moment) = sequel, await mayRestart(at: moment) else { break }
      engine.beginCustomVideoRender()
    }
    finish(hasStopped)
  }

  /// Suspends until the next start is due, and while too many pipelines block.
  ///
  /// - Returns: false when the player is to stop.
  private func mayRestart(at moment: MonotonicTime) async -> Bool {
    await state.wait(by: clock) { state in
      if state.stopDeadline != nil { return .done(false) }
      if clock.now < moment, !state.isHurried { return .at(moment) }
      return state.blockedCount < configuration.blockedLimit ? .done(true) : .whenWoken
    }
  }

  private func finish(_ hasStopped: Bool) {
    let error = state.withLock { state -> PipSinkError? in
      let error = state.isAwaited ? state.startError : nil
      guard !state.isRemoved else { return error }
      // After a refused start, it is as if there had been none.
      for id in streamIDs { if error != nil { engine.setStream(id, to: .stopped) } else { engine.setStopped(id) } }
      if isFirst { engine.setEngine(.stopped) }
      return error
    }
    // What the app has captured is released after the lock.
    _ = state.withLock { state in
      defer { state.consumer = nil }
      return state.consumer
    }
    ending.complete(hasStopped)
    beginning.complete(error)
  }

  /// Runs a pipeline until no stream of it is open any more, or until it is to stop.
  ///
  /// - Returns: the run, which is to be stopped, and what follows; nil when there was none.
  private func play() async -> (PipelineRun?, Sequel) {
    guard begin() else { return (nil, .end) }
    let run: PipelineRun
    do throws(PipSinkError) {
      run = PipelineRun(try pipelines.makePipeline(), of: self, in: engine)
      guard let consumers = connect(run) else { return (nil, .end) }
      try run.start(deliveringTo: consumers)
    } catch {
      state.change { refuse(&$0, error) }
      return (nil, conclude(endIsFailure: false, canGoBack: false))
    }
    while true {
      await state.wait(by: clock) { $0.look(at: clock.now, configuration) }
      let hasEnded = state.withLock { $0.stopDeadline == nil && $0.streams.values.contains(.ended) }
      var endIsFailure = hasEnded && configuration.restartsAtEnd ?? false
      if hasEnded, configuration.restartsAtEnd == nil { endIsFailure = await run.endsUnexpectedly }
      let sequel = conclude(endIsFailure: endIsFailure, canGoBack: hasEnded ? await run.isSeekable : false)
      guard case .stay = sequel else { return (run, sequel) }
    }
  }

  /// Resets what is known of the run, and tells the engine of the start.
  ///
  /// - Returns: false when the player is to stop.
  @discardableResult
  private func begin() -> Bool {
    state.withLock { state in
      guard state.stopDeadline == nil else { return false }
      state.streams = Dictionary(uniqueKeysWithValues: streamIDs.map { ($0, .requesting) })
      (state.pipeline, state.startError, state.since) = (.starting, nil, clock.now)
      state.isHurried = false
      (state.isPaused, state.isParked, state.hasPlayed, state.maySendNothing) = (engine.isPaused, false, false, false)
      if isFirst { engine.setEngine(.starting) }
      for id in streamIDs { engine.setStream(id, to: .requesting) }
      return true
    }
  }

  /// Makes a run the current one, and asks for the consumers of its streams.
  ///
  /// - Returns: nil when the player is to stop.
  private func connect(_ run: PipelineRun) -> [StreamID: any SampleBufferConsumer]? {
    let tap = engine.customVideoRender.withLock { $0.tap }
    return state.withLock { state in
      guard state.stopDeadline == nil, let consumer = state.consumer else { return nil }
      (state.run, state.isObserved) = (run, true)
      return Dictionary(
        uniqueKeysWithValues: streamIDs.map { id in
          let consumer = consumer(id)
          return (id, tap?(id, consumer) ?? consumer)
        })
    }
  }

  /// Notes that no stream can start.
  private func refuse(_ state: inout State, _ error: PipSinkError) {
    state.startError = error
    for id in streamIDs where state.streams[id]?.isOver != true { state.streams[id] = .failed(error) }
  }

  /// Decides what follows when no stream is open any more, and tells the engine.
  ///
  /// - Parameters:
  ///   - endIsFailure: whether a stream that has ended has failed.
  ///   - canGoBack: whether a seek can bring streams back that have ended.
  private func conclude(endIsFailure: Bool, canGoBack: Bool) -> Sequel {
    state.withLock { state in
      guard state.stopDeadline == nil, !(state.isAwaited && state.startError != nil) else { return .end }
      // A seek may have opened a stream again.
      guard state.isOver else { return .stay }
      var errors: [StreamID: PipSinkError] = [:]
      for (id, outcome) in state.streams {
        if case .failed(let error) = outcome {
          errors[id] = error
        } else if endIsFailure {
          errors[id] = .stream(.endedUnexpectedly(id))
        }
      }
      state.isObserved = false
      // A stream that has ended would begin again.
      if errors.count == streamIDs.count, errors.values.contains(where: { !$0.isFinal(hasPlayed: state.hasPlayed) }),
        let pause = configuration.retryPolicy?.pause(before: state.attempt + 1)
      {
        state.attempt += 1
        for id in streamIDs {
          guard let error = errors[id] else { continue }
          engine.setStream(id, to: .reconnecting(attempt: state.attempt, pause: pause, after: error))
        }
        if isFirst { engine.setEngine(.starting) }
        return .restart(at: clock.moment(in: pause))
      }
      for id in streamIDs { engine.setStream(id, to: errors[id].map { .failed($0) } ?? .ended) }
      guard canGoBack, errors.count < streamIDs.count else { return .end }
      (state.isObserved, state.isParked) = (true, true)
      return .stay
    }
  }
}
