import CGStreamer
import Logging
import Synchronization

/// One run of a pipeline, from its start to its stop: its streams, what becomes of them, and its bus.
///
/// Its thread keeps it, and the pipeline with it, until the pipeline is in NULL.
final class PipelineRun: Sendable {
  let pipeline: Pipeline
  let status: RunStatus
  let audioSession: AudioSession
  let audioOutputs: AudioOutputs
  let progress: Locked<Progress>
  /// By the pads that they stand on, to each of which this has a reference.
  let gates = Locked<[UnsafeMutablePointer<GstPad>: DecodingGate]>([:])
  private let thread: PipelineThread
  let clock: SchedulingClock
  private let life = Locked(Life())
  /// That it is up, or why it is not.
  private let beginning = Completion<PipSinkError?>()
  /// Whether it has stopped rather than been given up.
  private let ending = Completion<Bool>()
  /// Whether the pipeline has left somebody's query without an answer for too long, and still does.
  let isQueryOpen = Atomic(false)
  let logger = Logger(visible: "pipsink.engine")

  /// Who has the last word on how it begins, and on how it ends.
  private struct Life {
    /// Whether somebody waits for the beginning, and gets its error.
    var isAwaited = false
    var isFailing = false
    var hasEnded = false
    var isGivenUp = false
  }

  init(_ pipeline: Pipeline, status: RunStatus) {
    self.pipeline = pipeline
    self.status = status
    clock = status.clock
    audioSession = status.audioSession
    let thread = PipelineThread(of: pipeline, clock: clock)
    self.thread = thread
    audioOutputs = AudioOutputs(of: audioSession) { thread.want { $0.mustSettle = true } }
    progress = Locked(Progress(open: Set(pipeline.streams.map(\.id))))
  }

  deinit {
    for pad in gates.withLock({ $0.keys }) { gst_object_unref(pad) }
  }

  var wantedState: GstState {
    isToStandStill || progress.withLock { $0.isBuffering } ? GST_STATE_PAUSED : GST_STATE_PLAYING
  }

  /// The user's pause, or an interruption.
  var isToStandStill: Bool { status.isPaused || audioSession.interruption == .pause }

  /// Has the thread bring the pipeline to the state that is wanted, as soon as it can.
  func settle() { thread.want { $0.mustSettle = true } }

  // MARK: - Start and stop

  /// Starts the thread that brings the pipeline up, and waits for nothing.
  ///
  /// - Parameters:
  ///   - isAwaited: whether ``startError(until:)`` follows, which has the error of a start that fails meanwhile. Else
  ///     the streams fail with it.
  /// - Throws: ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``.
  func start(
    isAwaited: Bool, deliveringTo consumers: (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    life.withLock { $0.isAwaited = isAwaited }
    for stream in pipeline.streams { StreamSink.install(on: stream, of: self, deliveringTo: consumers(stream.id)) }
    status.setPipeline(.starting)
    for stream in pipeline.streams { status.setStream(stream.id, to: .requesting) }
    audioOutputs.open(pipeline)
    do throws(PipSinkError) {
      try thread.start { [self] in live() }
    } catch {
      takeBack()
      throw error
    }
  }

  /// Waits until the pipeline is up.
  ///
  /// - Returns: why the start failed; nil also when it goes on after `deadline`.
  func startError(until deadline: MonotonicTime) -> PipSinkError? {
    beginning.wait(until: deadline, by: clock) ?? awaitNoMore()
  }

  /// The same for tasks.
  func startError(by deadline: MonotonicTime) async -> PipSinkError? {
    await beginning.value(by: deadline, of: clock) ?? awaitNoMore()
  }

  /// From now on an error is one of the streams; but for one that comes at this moment, and is still the waiting
  /// caller's.
  private func awaitNoMore() -> PipSinkError? {
    let isFailing = life.withLock { life in
      life.isAwaited = false
      return life.isFailing
    }
    return isFailing ? beginning.wait() : nil
  }

  /// As if it had never been started.
  private func takeBack() {
    audioOutputs.close()
    for stream in pipeline.streams { status.setStream(stream.id, to: .stopped) }
    status.setPipeline(.stopped)
  }

  /// Has the thread stop the pipeline. From here on no frame begins its way to a consumer; waits for nothing.
  func requestStop() {
    for stream in pipeline.streams { stream.flow.close() }
    thread.want { $0.isStopping = true }
  }

  /// After ``requestStop()``: waits until no frame is delivered any more and the thread has ended, and gives the run up
  /// when that does not come.
  ///
  /// - Returns: whether it has stopped.
  @discardableResult
  func waitForStop(until deadline: MonotonicTime) -> Bool {
    // What is called on the thread itself cannot wait for it.
    guard !thread.isCurrent else { return true }
    return leave(ending.wait(until: deadline, by: clock))
  }

  /// The same for tasks.
  func waitForStop(by deadline: MonotonicTime) async -> Bool { leave(await ending.value(by: deadline, of: clock)) }

  private func leave(_ outcome: Bool?) -> Bool {
    if outcome == nil { giveUp() }
    let hasStopped = ending.wait()
    if hasStopped { thread.join() }
    return hasStopped
  }

  /// Leaves a pipeline to its thread that does not stop. The engine and its consumers hear nothing of it any more, and
  /// what it has is released when it stops at last. Does nothing when the run has come to its end.
  func giveUp() {
    let isMine = life.withLock { life in
      guard !life.hasEnded, !life.isGivenUp else { return false }
      life.isGivenUp = true
      status.blocked.add()
      return true
    }
    guard isMine else { return }
    requestStop()
    progress.withLock { $0.open = [] }
    audioOutputs.close()
    let ids = pipeline.streams.map(\.id)
    logger.warning("a pipeline does not stop and is given up; its streams: \(ids.joined(separator: ", "))")
    status.disconnect(ids, isGivenUp: true)
    ending.complete(false)
  }

  /// Goes on or stands still, as the engine's `isPaused` says.
  func updatePause() {
    forgiveSilence()
    settle()
  }

  /// Has the thread look again at which decoders are to stand still.
  func requestDecodingUpdate() { thread.want { $0.mustUpdateDecoding = true } }

  /// Calls `body` with an element of the pipeline.
  ///
  /// - Returns: nil when no element has this name.
  func withUnsafeElement<Result>(
    named name: String, _ body: (UnsafeMutablePointer<GstElement>) throws -> Result
  ) rethrows -> Result? {
    guard let element = gst_bin_get_by_name(pipeline.element.asBin, name) else { return nil }
    defer { gst_object_unref(element) }
    return try body(element)
  }

  /// Calls `body` on the thread, and waits for it, but no longer than until `deadline`.
  ///
  /// - Returns: nil when it has not been called by then.
  func perform<Result: Sendable>(
    until deadline: MonotonicTime, _ body: @escaping @Sendable (PipelineRun) -> Result
  ) -> Result? {
    if thread.isCurrent { return body(self) }
    return want(until: deadline, body).wait(until: deadline, by: clock) ?? nil
  }

  /// The same for tasks.
  func perform<Result: Sendable>(
    by deadline: MonotonicTime, _ body: @escaping @Sendable (PipelineRun) -> Result
  ) async -> Result? {
    await want(until: deadline, body).value(by: deadline, of: clock) ?? nil
  }

  private func want<Result: Sendable>(
    until deadline: MonotonicTime, _ body: @escaping @Sendable (PipelineRun) -> Result
  ) -> Completion<Result?> {
    let result = Completion<Result?>()
    thread.want { work in
      // A caller that has stopped waiting does not want it done any more.
      work.calls.append { [weak self, clock] isRunning in
        let isWanted = isRunning && clock.now < deadline
        result.complete(isWanted ? self.map(body) : nil)
      }
    }
    return result
  }

  /// Calls `body` on the thread, as soon as that has nothing else to do.
  func whenFree(_ body: @escaping @Sendable (PipelineRun) -> Void) {
    thread.want { work in
      work.calls.append { [weak self] _ in self.map(body) }
    }
  }

  // MARK: - The thread

  private func live() {
    do throws(PipSinkError) {
      try bringUp()
      beginning.complete(nil)
      // An interruption may have begun or ended meanwhile.
      settle()
      let interval = min(.milliseconds(500), max(.milliseconds(20), status.stallTimeout / 4))
      thread.serve(interval: interval, perform: perform, tick: tick) { message in
        if !life.withLock({ $0.isGivenUp }) { handle(message) }
      }
    } catch {
      guard !isRefused(error) else { return }
    }
    finish()
  }

  private func perform(_ work: PipelineThread.Work) {
    for call in work.calls { call(true) }
    if work.mustSettle {
      pipeline.settle(wantedState)
      // What was paused on its way up says nothing until it is there, which may be never.
      if status.pipelineState == .paused, !isToStandStill, pipeline.settledState != GST_STATE_PLAYING {
        status.setPipeline(.starting)
      }
    }
    if work.mustUpdateDecoding { updateDecoding() }
  }

  private func tick() {
    watchFlows()
    // Somebody else may have changed the pipeline's state: an app can reach it through any of its elements.
    if let state = pipeline.settledState, state != wantedState { settle() }
  }

  /// The pipeline has not come up: who waits for it gets the error; else it is the streams', and the engine waits for
  /// its stop.
  ///
  /// - Returns: whether that was all.
  private func isRefused(_ error: PipSinkError) -> Bool {
    let isRefused = life.withLock { life in
      life.isFailing = life.isAwaited && !life.isGivenUp
      if life.isFailing { life.hasEnded = true }
      return life.isFailing
    }
    pipeline.settle(GST_STATE_NULL)
    guard isRefused else {
      close(pipeline.streams.map { ($0.id, .failed(error)) })
      thread.waitForStop()
      return false
    }
    thread.end()
    takeBack()
    ending.complete(true)
    beginning.complete(error)
    return true
  }

  private func finish() {
    audioOutputs.close()
    pipeline.settle(GST_STATE_NULL)
    thread.end()
    progress.withLock { $0.open = [] }
    VideoFormatDescription.forgetUnused()
    let isGivenUp = life.withLock { life in
      life.hasEnded = true
      return life.isGivenUp
    }
    guard !isGivenUp else { return status.blocked.remove() }
    status.disconnect(pipeline.streams.map(\.id))
    ending.complete(true)
  }

  /// Sets the pipeline going, unless it is to stop already; where an element refuses, its streams are taken out and the
  /// rest is tried again.
  private func bringUp() throws(PipSinkError) {
    while !thread.isStopping, pipeline.settle(wantedState) == GST_STATE_CHANGE_FAILURE {
      let (error, source) = pipeline.takeFirstError()
      defer { if let source { gst_object_unref(source) } }
      let affected = source.map(pipeline.streams(dependingOn:)) ?? pipeline.streams
      if affected.isEmpty, let source, removeAudio(source, after: error, isRunning: false) { continue }
      let whole = Set(pipeline.streams.map(\.id)).subtracting(progress.withLock { $0.broken })
      let left = whole.subtracting(affected.map(\.id))
      pipeline.settle(GST_STATE_NULL)
      // An element on no stream's way is in one piece with the pipeline: without it nothing starts.
      guard !left.isEmpty, left.count < whole.count else { throw error }
      noteBroken(affected, error)
      isolateBroken()
    }
  }
}
