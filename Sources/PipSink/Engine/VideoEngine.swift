import CGStreamer

/// Runs a GStreamer pipeline and hands each stream's frames to its consumer.
///
/// Every appsink in the description is a stream, and its `name` is the stream ID. Frames are delivered on GStreamer's
/// streaming threads, at their time (unless the appsink says `sync=false`); everything else arrives as
/// ``EngineEvent``s.
///
/// A stream that ends or fails does not touch the others. When all streams of the pipeline have failed, it is started
/// again as ``retryPolicy`` says. `start(deliveringTo:)` and `stop()` may be called from any
/// thread but a streaming one; the engine can be started again after a stop, with a new pipeline from the same
/// description.
///
/// Elements may block while a pipeline starts or stops. Nothing here waits for them longer than
/// ``stateChangeTimeout``, and what has `within` in its name suspends meanwhile instead of blocking the caller. A start
/// that takes longer goes on by itself; a pipeline that does not stop is given up (``EngineEvent/abandoned(_:)``).
public final class VideoEngine: Sendable {
  /// The streams, in the order of the description.
  public let streamIDs: [StreamID]

  /// Of its own pipeline; nil where it has none.
  private let pipelines: PipelineFactory?
  let status: EngineStatus
  /// Streams with a pipeline of their own.
  let players = Locked<[StreamID: StreamPlayer]>([:])
  /// Of those, the ones that have been stopped and whose pipelines have not come to their end.
  let retiredPlayers = Locked<[ObjectIdentifier: StreamPlayer]>([:])
  let customVideoRender = Locked(CustomVideoRender())
  /// Volumes, and what interrupts the streams.
  public var audioSession: AudioSession { status.audioSession }

  /// What runs of its own pipeline. Held for a few instructions.
  let run = Locked<PipelineRun?>(nil)
  /// What is to run, and what has become of it. Held while a run is made, so that there is one at a time; no run waits for
  /// that.
  let plan = Locked(Plan())

  /// Parses the description; nothing runs yet.
  ///
  /// - Throws: ``PipSinkError``: syntax, a missing element, a link that is impossible, no stream, an unnamed one, two
  ///   of one name, caps that no frame of ours can have, too few threads or files left.
  public convenience init(_ description: PipelineDescription) throws(PipSinkError) {
    try self.init(description, clock: .system)
  }

  /// An engine without a pipeline: streams are started one by one
  /// (``startPlayingStream(_:from:configuration:deliveringTo:)``).
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

  /// The events from now on; each call gives a stream of its own. It ends when the engine goes away.
  public func events() -> AsyncStream<EngineEvent> {
    status.broadcast.stream()
  }

  public var state: EngineState { status.state.withLock { $0.engine } }

  /// Whether the pipeline and all streams with one of their own stand still. May be set while they run and before they
  /// start; waits for neither.
  public var isPaused: Bool {
    get { status.state.withLock { $0.isPaused } }
    set {
      status.state.withLock { $0.isPaused = newValue }
      withRun { $0.updatePause() }
      for player in players.withLock({ Array($0.values) }) { player.updatePause() }
    }
  }

  /// After this time without a frame a stream of the engine's pipeline counts as stalled; taken at the next start.
  public var stallTimeout: Duration {
    get { status.state.withLock { $0.stallTimeout } }
    set { status.state.withLock { $0.stallTimeout = max(.milliseconds(10), newValue) } }
  }

  /// What follows when every stream of the engine's own pipeline has failed, at least one for a reason that may pass
  /// (``PipSinkError/isPermanent``); nil leaves them failed. A pipeline with a stream that has come to its end is not
  /// started again: that one would begin anew. After ten seconds of playing earlier failures are forgotten.
  public var retryPolicy: RetryPolicy? {
    get { status.state.withLock { $0.retryPolicy } }
    set { status.state.withLock { $0.retryPolicy = newValue } }
  }

  /// What a start, a stop or a seek waits for the pipeline at most. A stop gives up a pipeline that takes longer.
  public var stateChangeTimeout: Duration {
    get { status.state.withLock { $0.stateChangeTimeout } }
    set { status.state.withLock { $0.stateChangeTimeout = max(.zero, newValue) } }
  }

  /// How many pipelines have been given up so far (``EngineEvent/abandoned(_:)``), those of streams with one of their own
  /// included.
  public var abandonedPipelineCount: Int { status.state.withLock { $0.abandonedCount } }

  func deadline(_ time: Duration?) -> MonotonicTime {
    status.clock.moment(in: time ?? stateChangeTimeout)
  }

  // MARK: - Start and stop

  /// Starts the pipeline. Returns when it is on its way, after ``stateChangeTimeout`` at the latest;
  /// ``EngineEvent/stateChanged(_:)`` tells when it runs.
  ///
  /// - Parameter consumers: chooses what takes a stream's frames; asked once a stream and start, before the first frame.
  /// - Throws: ``PipSinkError/Pipeline/alreadyRunning``; ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``; the error of an element
  ///   that refuses to start, when no stream is left without it (a stream that is left goes on, and the others' failures
  ///   arrive as events, as does the error of an element that takes longer to refuse).
  public func start(
    deliveringTo consumers: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    let run = try begin(deliveringTo: consumers)
    try finishStart(of: run, run.startError(until: deadline(nil)))
  }

  /// Starts the pipeline as ``start(deliveringTo:)`` does, and suspends meanwhile, but no longer than `time`.
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

  /// Has the pipeline started, and waits for nothing. The run is to be asked for its error.
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

  /// Makes a pipeline and has it started, while nothing runs.
  ///
  /// - Parameter number: the plan's.
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
    // Before anything can be heard of it.
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

  /// The run has come to its end, or was given up.
  func forget(_ run: PipelineRun) {
    let isMine = self.run.withLock { current in
      guard current === run else { return false }
      current = nil
      return true
    }
    if isMine { endCustomVideoRender() }
  }

  /// Stops the pipeline and all streams with one of their own, and waits until no frame is delivered any more and all
  /// its threads are gone, but no longer than ``stateChangeTimeout``: what does not stop by then is given up. Does
  /// nothing when stopped.
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

  /// Stops as ``stop()`` does, and suspends meanwhile, but no longer than `time`.
  ///
  /// - Returns: whether everything has stopped. What had not was given up.
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
    // One that is just being started is stopped, too.
    let run = plan.withLock { plan in
      plan.end()
      return withRun { $0 }
    }
    run?.requestStop()
    return (run, players)
  }

  /// Has the decoders stand still or go on, as it is wanted now.
  func updateDecoding() {
    withRun { $0.requestDecodingUpdate() }
    for player in players.withLock({ Array($0.values) }) { player.run?.requestDecodingUpdate() }
  }

  /// Calls `body` with an element of the running pipeline: to set its properties, or for what has no interface here,
  /// such as webrtcbin's signalling. The element is borrowed; it may be kept with a reference of one's own, and outlives
  /// the run then.
  ///
  /// - Returns: nil when nothing runs, or no element has this name.
  public func withUnsafeElement<Result>(
    named name: String, _ body: (UnsafeMutablePointer<GstElement>) throws -> Result
  ) rethrows -> Result? {
    try withRun { try $0.withUnsafeElement(named: name, body) } ?? nil
  }

  /// What runs now of its own pipeline; nil when nothing does.
  @discardableResult
  func withRun<Result>(_ body: (PipelineRun) throws -> Result) rethrows -> Result? {
    try run.withLock { $0 }.map(body)
  }
}
