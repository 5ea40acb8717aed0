import CGStreamer
import Logging
import Synchronization

/// One run of a pipeline, from its start to its stop. It follows the states of the streams and handles the messages on
/// the bus.
///
/// The run's thread retains it, and with it the pipeline, until the pipeline is in state NULL.
final class PipelineRun: Sendable {
  let pipeline: Pipeline
  /// Receives what the run reports. Weak, because an abandoned run may exist for ever.
  weak let player: PipelinePlayer?
  let engine: EngineStatus
  let audioOutputs: AudioOutputs
  let progress: Locked<Progress>
  /// The gates in front of suspended decoders.
  let gates = Locked(DecodingGates())
  /// The demands that the elements before the streams' sinks have been told of.
  let toldDemands = Locked<[StreamID: StreamDemand]>([:])
  let thread: PipelineThread
  let clock: SchedulingClock
  /// The time without a frame after which a stream is stalled.
  let stallTimeout: Duration
  private let phase = Locked(Phase.running)
  /// Completes when the run ends: true when the pipeline has stopped, false when it was abandoned.
  private let ending = Completion<Bool>()
  /// Whether a query has waited for too long for its answer, and still waits.
  let isQueryOpen = Atomic(false)
  let logger = Logger(visible: "pipsink.engine")

  /// Decides whether the run has stopped or was abandoned.
  private enum Phase {
    case running, stopped, abandoned
  }

  init(_ pipeline: Pipeline, of player: PipelinePlayer, in engine: EngineStatus) {
    (self.pipeline, self.player, self.engine) = (pipeline, player, engine)
    clock = engine.clock
    stallTimeout = max(.milliseconds(10), player.configuration.stallTimeout)
    let thread = PipelineThread(of: pipeline.element, clock: clock)
    self.thread = thread
    audioOutputs = AudioOutputs(of: engine.audioSession) { thread.want { $0.mustUpdateState = true } }
    progress = Locked(Progress(open: Set(pipeline.streams.map(\.id))))
  }

  deinit {
    gates.withLock { $0.forget() }
  }

  /// The state that the pipeline should be in.
  var wantedState: GstState {
    isToStandStill || progress.withLock { $0.isBuffering } ? GST_STATE_PAUSED : GST_STATE_PLAYING
  }

  /// Whether the pipeline should be paused, by the user or by an interruption.
  var isToStandStill: Bool { engine.isPaused || engine.audioSession.interruption == .pause }

  /// Asks the thread to bring the pipeline to ``wantedState``.
  func updateState() { thread.want { $0.mustUpdateState = true } }

  // MARK: - Reports

  /// Calls `body` with the engine, unless the run is no longer listened to.
  func report(_ body: (EngineStatus) -> Void) { player?.report(of: self, body) }

  func send(_ event: EngineEvent) { report { $0.broadcast.send(event) } }

  func setPipeline(_ new: EngineState) { player?.pipeline(of: self, didChangeTo: new) }

  func setStream(_ id: StreamID, to new: StreamPlayState) { player?.streams(of: self, didChange: [(id, new)]) }

  // MARK: - Start and stop

  /// Starts the thread that brings the pipeline up, without waiting.
  ///
  /// - Parameter consumers: the consumer of each stream's frames.
  /// - Throws: ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``.
  func start(deliveringTo consumers: [StreamID: any SampleBufferConsumer]) throws(PipSinkError) {
    for stream in pipeline.streams {
      if let consumer = consumers[stream.id] { StreamSink.install(on: stream, of: self, deliveringTo: consumer) }
    }
    audioOutputs.open(pipeline)
    do throws(PipSinkError) {
      try thread.start { [self] in live() }
    } catch {
      audioOutputs.close()
      throw error
    }
  }

  /// Asks the thread to stop the pipeline, without waiting. From now on no further frame is passed to a consumer.
  func requestStop() {
    for stream in pipeline.streams { stream.flow.close() }
    thread.want { $0.isStopping = true }
  }

  /// Stops the run, and suspends until no more frames are delivered and the thread has ended. A run that has not
  /// stopped by `deadline` is abandoned.
  ///
  /// - Returns: true when the run has stopped; false when it was abandoned.
  func stop(by deadline: MonotonicTime) async -> Bool {
    requestStop()
    if await ending.value(by: deadline, of: clock) == nil { abandon() }
    let hasStopped = await ending.value() == true
    if hasStopped { thread.join() }
    return hasStopped
  }

  /// Abandons a pipeline that does not stop. The engine and its consumers get nothing from it any more, and the thread
  /// releases it when it stops at last. Does nothing when the run has ended.
  func abandon() {
    guard leave(for: .abandoned) else { return }
    player?.runIsBlocked(self, true)
    requestStop()
    progress.withLock { $0.open = [] }
    audioOutputs.close()
    let ids = pipeline.streams.map(\.id)
    logger.warning("a pipeline does not stop and is abandoned; its streams: \(ids.joined(separator: ", "))")
    engine.noteAbandoned(ids)
    ending.complete(false)
  }

  /// Ends the running, once. An abandoned pipeline is counted from then on.
  ///
  /// - Returns: false when it has ended before.
  private func leave(for new: Phase) -> Bool {
    phase.withLock { phase in
      guard phase == .running else { return false }
      phase = new
      if new == .abandoned { blockedPipelines.withLock { $0 += 1 } }
      return true
    }
  }

  /// Pauses or resumes the pipeline as the engine's `isPaused` says.
  func updatePause() {
    forgiveSilence()
    updateState()
  }

  /// Asks the thread to suspend and resume decoders according to the current settings.
  func requestDecodingUpdate() { thread.want { $0.mustUpdateDecoding = true } }

  /// Calls `body` with an element of the pipeline, which is borrowed.
  ///
  /// - Returns: the result of `body`; nil when no element has this name.
  func withUnsafeElement<Result>(
    named name: String, _ body: (UnsafeMutablePointer<GstElement>) throws -> Result
  ) rethrows -> Result? {
    guard let element = gst_bin_get_by_name(pipeline.element.asBin, name) else { return nil }
    defer { gst_object_unref(element) }
    return try body(element)
  }

  /// Calls `body` on the run's thread, and suspends until it has returned.
  ///
  /// - Returns: nil when `body` has not been called by `deadline`.
  func perform<Result: Sendable>(
    by deadline: MonotonicTime, _ body: @escaping @Sendable (PipelineRun) -> Result
  ) async -> Result? {
    let result = Completion<Result?>()
    thread.want { work in
      // When the caller no longer waits, the call is skipped.
      work.calls.append { [weak self, clock] isRunning in
        let isWanted = isRunning && clock.now < deadline
        result.complete(isWanted ? self.map(body) : nil)
      }
    }
    return await result.value(by: deadline, of: clock) ?? nil
  }

  /// Calls `body` on the run's thread when that has done its earlier work. Does not wait.
  func whenFree(_ body: @escaping @Sendable (PipelineRun) -> Void) {
    thread.want { work in
      work.calls.append { [weak self] _ in self.map(body) }
    }
  }

  // MARK: - The thread

  private func live() {
    do throws(PipSinkError) {
      try bringUp()
      player?.pipelineDidStart(self)
      // An interruption may have begun or ended meanwhile.
      updateState()
      let interval = min(.milliseconds(500), max(.milliseconds(20), stallTimeout / 4))
      thread.serve(interval: interval, perform: perform, tick: tick) { message in
        if phase.withLock({ $0 }) == .running { handle(message) }
      }
    } catch {
      player?.pipelineDidNotStart(self, error)
      thread.waitForStop()
    }
    finish()
  }

  private func perform(_ work: PipelineThread.Work) {
    for call in work.calls { call(true) }
    if work.mustUpdateState {
      pipeline.setState(wantedState)
      // A pipeline that was paused during its start posts no message until it has started, which may never happen.
      if player?.pipelineState == .paused, !isToStandStill, pipeline.reachedState != GST_STATE_PLAYING {
        setPipeline(.starting)
      }
    }
    if work.mustUpdateDecoding { updateDecoding() }
  }

  private func tick() {
    watchFlows()
    countLateFrames()
    // The app may have changed the pipeline's state, which it can reach through any of its elements.
    if let state = pipeline.reachedState, state != wantedState { updateState() }
  }

  private func finish() {
    audioOutputs.close()
    closeOutputs()
    countLateFrames()
    pipeline.setState(GST_STATE_NULL)
    thread.end()
    progress.withLock { $0.open = [] }
    VideoFormatDescription.forgetUnused()
    if leave(for: .stopped) { return ending.complete(true) }
    blockedPipelines.withLock { $0 -= 1 }
    player?.runIsBlocked(self, false)
  }

  /// Removes the first error, after a state change has failed.
  ///
  /// - Returns: the error, and the element that has posted it, with a reference that the caller owns.
  func takeFirstError() -> (PipSinkError, UnsafeMutablePointer<GstObject>?) {
    guard let message = thread.takeFirstError() else {
      return (.pipeline(.stateChangeFailed(pipeline: pipeline.element.elementName)), nil)
    }
    defer { gst_message_unref(message) }
    let source = message.pointee.src
    if let source { gst_object_ref(source) }
    return (BusMessage.error(in: message, readsFiles: pipeline.readsFiles), source)
  }

  /// Brings the pipeline to its wanted state, unless it is to stop already. When an element refuses, the streams that
  /// need it are isolated, and the start is tried again with the rest.
  private func bringUp() throws(PipSinkError) {
    openOutputs()
    while !thread.isStopping, pipeline.setState(wantedState) == GST_STATE_CHANGE_FAILURE {
      let (error, source) = takeFirstError()
      defer { if let source { gst_object_unref(source) } }
      let affected = source.map(pipeline.streams(dependingOn:)) ?? pipeline.streams
      if affected.isEmpty, let source, removeAudio(source, after: error, isRunning: false) { continue }
      let whole = Set(pipeline.streams.map(\.id)).subtracting(progress.withLock { $0.broken })
      let left = whole.subtracting(affected.map(\.id))
      pipeline.setState(GST_STATE_NULL)
      // Other streams that refuse what they get refuse it again.
      thread.forgetMessages()
      progress.withLock { $0.refusals = [:] }
      for stream in pipeline.streams { StreamSinkClass.stream(of: stream.sink)?.startAgain() }
      // The whole pipeline depends on an element that is on no stream's path.
      guard !left.isEmpty, left.count < whole.count else { throw error }
      noteBroken(affected, error)
      isolateBroken()
    }
  }
}
