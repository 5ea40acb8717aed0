import CGStreamer

/// Runs a GStreamer pipeline and hands each stream's frames to its consumer.
///
/// Every appsink in the description is a stream, and its `name` is the stream ID. Frames are delivered on GStreamer's
/// streaming threads, when their time has come (unless the appsink says `sync=false`). Everything else is reported by
/// ``EngineEvent``s.
///
/// A stream that ends or fails does not affect the others. When all streams of the pipeline have failed, the pipeline
/// is restarted as ``retryPolicy`` says. `start(deliveringTo:)` and `stop()` may be called from any thread except a
/// streaming thread. After a stop, the engine can be started again; it then makes a new pipeline from the same
/// description.
///
/// Elements may block while a pipeline starts or stops. No method waits for them longer than ``stateChangeTimeout``,
/// and the methods with a `within` parameter suspend instead of blocking the caller. A start that takes longer
/// continues in the background. A pipeline that does not stop is abandoned (``EngineEvent/abandoned(_:)``).
public final class VideoEngine: Sendable {
  /// The streams of the engine's own pipeline, in the order of its description.
  public let streamIDs: [StreamID]

  /// Makes the engine's own pipeline; nil when it has none.
  private let pipelines: PipelineFactory?
  let status: EngineStatus
  /// The players of the streams that have a pipeline of their own.
  let players = Locked<[StreamID: StreamPlayer]>([:])
  /// The players of streams that have been stopped, but whose pipelines have not stopped yet.
  let retiredPlayers = Locked<[ObjectIdentifier: StreamPlayer]>([:])
  let customVideoRender = Locked(CustomVideoRender())
  /// The volumes of this engine's streams, and the interruptions of their sound.
  public var audioSession: AudioSession { status.audioSession }

  /// The current run of the engine's own pipeline. The lock is held for a few instructions.
  let run = Locked<PipelineRun?>(nil)
  /// What is to run. The lock is held while a run is made, so that there is one at a time. No run waits for this lock.
  let plan = Locked(Plan())

  /// Makes an engine and parses the description of its pipeline, without starting it.
  ///
  /// - Throws: ``PipSinkError`` for a syntax error, a missing element, an impossible link, no stream, a stream without
  ///   a name, two streams with the same name, caps that PipSink does not support, and too few free threads or file
  ///   descriptors.
  public convenience init(_ description: PipelineDescription) throws(PipSinkError) {
    try self.init(description, clock: .system)
  }

  /// Makes an engine without a pipeline, whose streams are started one by one
  /// (``startPlayingStream(_:from:configuration:deliveringTo:)``).
  ///
  /// - Throws: ``PipSinkError`` when GStreamer cannot be initialised.
  public convenience init() throws(PipSinkError) { try self.init(clock: .system) }

  init(_ description: PipelineDescription? = nil, clock: SchedulingClock) throws(PipSinkError) {
    try PipSink.initialize()
    if let description { pipelines = try PipelineFactory(description) } else { pipelines = nil }
    status = EngineStatus(clock: clock)
    streamIDs = pipelines?.streamIDs ?? []
    status.add(streamIDs)
  }

  deinit {
    stop()
  }

  /// The engine's events from now on. Each call returns an independent sequence, which ends when the engine is
  /// released.
  public func events() -> AsyncStream<EngineEvent> {
    status.broadcast.stream()
  }

  /// The state of the engine's own pipeline.
  public var state: EngineState { status.state.withLock { $0.engine } }

  /// Whether the engine's pipeline and the streams with their own pipelines are paused. It may be set from any thread,
  /// while they run and before they start. Setting it does not wait for them.
  public var isPaused: Bool {
    get { status.state.withLock { $0.isPaused } }
    set {
      status.state.withLock { $0.isPaused = newValue }
      withRun { $0.updatePause() }
      for player in players.withLock({ Array($0.values) }) { player.updatePause() }
    }
  }

  /// The time without a frame after which a stream of the engine's pipeline is stalled; 3 seconds by default and at
  /// least 10 milliseconds. A change takes effect at the next start.
  public var stallTimeout: Duration {
    get { status.state.withLock { $0.stallTimeout } }
    set { status.state.withLock { $0.stallTimeout = max(.milliseconds(10), newValue) } }
  }

  /// How the engine's own pipeline is restarted when all its streams have failed, at least one of them with an error
  /// that is not permanent (``PipSinkError/isPermanent``). With nil it is not restarted.
  ///
  /// A pipeline with a stream that has reached its end is not restarted, since that stream would begin again. After ten
  /// seconds of playing, earlier failures no longer count.
  public var retryPolicy: RetryPolicy? {
    get { status.state.withLock { $0.retryPolicy } }
    set { status.state.withLock { $0.retryPolicy = newValue } }
  }

  /// The longest time that a start, a stop or a seek waits for the pipeline; 5 seconds by default. A pipeline that
  /// takes longer to stop is abandoned.
  public var stateChangeTimeout: Duration {
    get { status.state.withLock { $0.stateChangeTimeout } }
    set { status.state.withLock { $0.stateChangeTimeout = max(.zero, newValue) } }
  }

  /// The number of pipelines of this engine that have been abandoned so far (``EngineEvent/abandoned(_:)``), including
  /// those of single streams.
  public var abandonedPipelineCount: Int { status.state.withLock { $0.abandonedCount } }

  func deadline(_ time: Duration?) -> MonotonicTime {
    status.clock.moment(in: time ?? stateChangeTimeout)
  }

  // MARK: - Start and stop

  /// Starts the pipeline, and blocks until its elements have accepted the start, but not longer than
  /// ``stateChangeTimeout``. ``EngineEvent/stateChanged(_:)`` tells when the pipeline runs.
  ///
  /// - Parameter consumers: returns the consumer of a stream's frames. It is called once per stream and start, before
  ///   the first frame, and again for each automatic restart.
  /// - Throws: ``PipSinkError/Pipeline/alreadyRunning``; ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``; the
  ///   error of an element that refuses to start, if no stream can play without it. If some streams can, they go on,
  ///   and the failures of the others are reported as events. So is an error that comes after ``stateChangeTimeout``.
  public func start(
    deliveringTo consumers: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    let run = try begin(deliveringTo: consumers)
    try finishStart(of: run, run.startError(until: deadline(nil)))
  }

  /// Starts the pipeline as ``start(deliveringTo:)`` does, but suspends instead of blocking.
  ///
  /// - Parameters:
  ///   - time: the longest time to wait for the pipeline's elements.
  ///   - consumers: returns the consumer of a stream's frames, as for ``start(deliveringTo:)``.
  ///
  /// - Throws: as ``start(deliveringTo:)``.
  public func start(
    within time: Duration, deliveringTo consumers: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) async throws(PipSinkError) {
    let run = try begin(deliveringTo: consumers)
    try finishStart(of: run, await run.startError(by: deadline(time)))
  }

  private func finishStart(of run: PipelineRun, _ error: PipSinkError?) throws(PipSinkError) {
    guard let error else { return }
    plan.withLock { $0.end() }
    forget(run)
    throw error
  }

  /// Begins a start without waiting. The caller then asks the run for its error.
  private func begin(
    deliveringTo consumers: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) -> PipelineRun {
    try plan.withLock { plan throws(PipSinkError) in
      guard withRun({ _ in }) == nil, !plan.isRestartAwaited else { throw .pipeline(.alreadyRunning) }
      plan.begin(consumers)
      do throws(PipSinkError) {
        return try launch(plan.number, isAwaited: true, deliveringTo: consumers)
      } catch {
        plan.end()
        throw error
      }
    }
  }

  /// Makes a pipeline and begins its start. Nothing else of the engine's own pipeline may run.
  ///
  /// - Parameter number: the number of the plan that the run belongs to.
  @discardableResult
  func launch(
    _ number: Int, isAwaited: Bool, deliveringTo consumers: (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) -> PipelineRun {
    guard let pipelines else { throw .pipeline(.empty) }
    let pipeline = try pipelines.makePipeline()
    let tap = beginCustomVideoRender()
    let runStatus = RunStatus(status) { [weak self] run, failure in
      self?.planRestart(of: run, number, after: failure) ?? false
    }
    let run = PipelineRun(pipeline, status: runStatus)
    // The run has to be known before its first event.
    self.run.withLock { $0 = run }
    do throws(PipSinkError) {
      try run.start(isAwaited: isAwaited) { id in
        let consumer = consumers(id)
        return tap?(id, consumer) ?? consumer
      }
    } catch {
      forget(run)
      throw error
    }
    return run
  }

  /// Forgets a run that has ended or was abandoned.
  func forget(_ run: PipelineRun) {
    let isMine = self.run.withLock { current in
      guard current === run else { return false }
      current = nil
      return true
    }
    if isMine { endCustomVideoRender() }
  }

  /// Stops the engine's pipeline and all streams with their own pipelines, and blocks until no more frames are
  /// delivered and all threads have ended.
  ///
  /// What has not stopped after ``stateChangeTimeout`` is abandoned. When nothing runs, the method does nothing. It
  /// must not be called on a streaming thread.
  public func stop() {
    let (run, players) = requestStop()
    let deadline = deadline(nil)
    for player in players {
      player.waitForStop(until: deadline)
      forget(player)
    }
    if let run {
      run.waitForStop(until: deadline)
      forget(run)
    }
    cancelRestart()
  }

  /// Stops everything as ``stop()`` does, but suspends instead of blocking.
  ///
  /// - Parameter time: the longest time to wait. What has not stopped by then is abandoned.
  /// - Returns: true when everything has stopped; false when something was abandoned.
  @discardableResult
  public func stop(within time: Duration) async -> Bool {
    let (run, players) = requestStop()
    let deadline = deadline(time)
    var hasStopped = true
    for player in players {
      if !(await player.waitForStop(by: deadline)) { hasStopped = false }
      forget(player)
    }
    if let run {
      if !(await run.waitForStop(by: deadline)) { hasStopped = false }
      forget(run)
    }
    cancelRestart()
    return hasStopped
  }

  private func requestStop() -> (PipelineRun?, [StreamPlayer]) {
    for id in playingStreamIDs { _ = try? retirePlayer(id) }
    let players = retiredPlayers.withLock { Array($0.values) }
    // The lock of the plan makes sure that a run that is being started right now is stopped, too.
    let run = plan.withLock { plan in
      plan.end()
      return withRun { $0 }
    }
    run?.requestStop()
    return (run, players)
  }

  /// Asks every run to suspend or resume its decoders according to the current settings.
  func updateDecoding() {
    withRun { $0.requestDecodingUpdate() }
    for player in players.withLock({ Array($0.values) }) { player.run?.requestDecodingUpdate() }
  }

  /// Calls `body` with an element of the engine's running pipeline, for instance to set its properties, or to use what
  /// PipSink has no interface for, such as webrtcbin's signalling.
  ///
  /// The element is borrowed for the time of the call. With a reference of its own (`gst_object_ref`), the caller may
  /// keep it longer than the run lasts.
  ///
  /// - Parameters:
  ///   - name: the element's name in the pipeline.
  ///   - body: is called on the caller's thread.
  /// - Returns: the result of `body`; nil when nothing runs or no element has this name.
  /// - Throws: what `body` throws.
  public func withUnsafeElement<Result>(
    named name: String, _ body: (UnsafeMutablePointer<GstElement>) throws -> Result
  ) rethrows -> Result? {
    try withRun { try $0.withUnsafeElement(named: name, body) } ?? nil
  }

  /// Calls `body` with the current run of the engine's own pipeline.
  ///
  /// - Returns: nil when there is none.
  @discardableResult
  func withRun<Result>(_ body: (PipelineRun) throws -> Result) rethrows -> Result? {
    try run.withLock { $0 }.map(body)
  }
}
