import CGStreamer
import Logging
import Synchronization

/// One run of a pipeline, from its start to its stop. It follows the states of the streams and handles the messages on
/// the bus.
///
/// The run's thread retains it, and with it the pipeline, until the pipeline is in state NULL.
final class PipelineRun: Sendable {
  let pipeline: Pipeline
  let status: RunStatus
  let audioSession: AudioSession
  let audioOutputs: AudioOutputs
  let progress: Locked<Progress>
  /// The gates in front of suspended decoders, by their pads. The run holds a reference to each pad.
  let gates = Locked<[UnsafeMutablePointer<GstPad>: DecodingGate]>([:])
  private let thread: PipelineThread
  let clock: SchedulingClock
  private let life = Locked(Life())
  /// Completes when the pipeline is up, with nil, or when its start has failed, with the error.
  private let beginning = Completion<PipSinkError?>()
  /// Completes when the run ends: true when the pipeline has stopped, false when it was abandoned.
  private let ending = Completion<Bool>()
  /// Whether a query has waited for too long for its answer, and still waits.
  let isQueryOpen = Atomic(false)
  let logger = Logger(visible: "pipsink.engine")

  /// Decides who reports the error of a failed start, and whether the run has stopped or was abandoned.
  private struct Life {
    /// Whether a caller waits for the start, and gets its error.
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

  /// The state that the pipeline should be in.
  var wantedState: GstState {
    isToStandStill || progress.withLock { $0.isBuffering } ? GST_STATE_PAUSED : GST_STATE_PLAYING
  }

  /// Whether the pipeline should be paused, by the user or by an interruption.
  var isToStandStill: Bool { status.isPaused || audioSession.interruption == .pause }

  /// Asks the thread to bring the pipeline to ``wantedState``.
  func settle() { thread.want { $0.mustSettle = true } }

  // MARK: - Start and stop

  /// Starts the thread that brings the pipeline up, without waiting.
  ///
  /// - Parameters:
  ///   - isAwaited: whether the caller will call ``startError(until:)`` and so get the error of a start that fails
  ///     meanwhile. Otherwise the streams fail with that error.
  ///   - consumers: returns the consumer of a stream's frames; called once per stream.
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
  /// - Returns: the error of a failed start; nil when the pipeline is up, and when it is still starting at `deadline`.
  func startError(until deadline: MonotonicTime) -> PipSinkError? {
    beginning.wait(until: deadline, by: clock) ?? awaitNoMore()
  }

  /// Waits until the pipeline is up as ``startError(until:)`` does, but suspends instead of blocking.
  func startError(by deadline: MonotonicTime) async -> PipSinkError? {
    await beginning.value(by: deadline, of: clock) ?? awaitNoMore()
  }

  /// Ends the wait for the start. From now on, an error is reported by the streams, except one that occurs at this
  /// moment and that still belongs to the caller.
  private func awaitNoMore() -> PipSinkError? {
    let isFailing = life.withLock { life in
      life.isAwaited = false
      return life.isFailing
    }
    return isFailing ? beginning.wait() : nil
  }

  /// Resets the states after a failed start, as if the run had never been started.
  private func takeBack() {
    audioOutputs.close()
    for stream in pipeline.streams { status.setStream(stream.id, to: .stopped) }
    status.setPipeline(.stopped)
  }

  /// Asks the thread to stop the pipeline, without waiting. From now on no further frame is passed to a consumer.
  func requestStop() {
    for stream in pipeline.streams { stream.flow.close() }
    thread.want { $0.isStopping = true }
  }

  /// Waits, after ``requestStop()``, until no more frames are delivered and the thread has ended. A run that has not
  /// stopped by `deadline` is abandoned.
  ///
  /// - Returns: true when the run has stopped; false when it was abandoned.
  @discardableResult
  func waitForStop(until deadline: MonotonicTime) -> Bool {
    // The thread cannot wait for itself.
    guard !thread.isCurrent else { return true }
    return leave(ending.wait(until: deadline, by: clock))
  }

  /// Waits as ``waitForStop(until:)`` does, but suspends instead of blocking.
  func waitForStop(by deadline: MonotonicTime) async -> Bool { leave(await ending.value(by: deadline, of: clock)) }

  private func leave(_ outcome: Bool?) -> Bool {
    if outcome == nil { giveUp() }
    let hasStopped = ending.wait()
    if hasStopped { thread.join() }
    return hasStopped
  }

  /// Abandons a pipeline that does not stop. The engine and its consumers get nothing from it any more, and the thread
  /// releases it when it stops at last. Does nothing when the run has ended.
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

  /// Pauses or resumes the pipeline as the engine's `isPaused` says.
  func updatePause() {
    forgiveSilence()
    settle()
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

  /// Calls `body` on the run's thread and waits for its result.
  ///
  /// - Returns: nil when `body` has not been called by `deadline`.
  func perform<Result: Sendable>(
    until deadline: MonotonicTime, _ body: @escaping @Sendable (PipelineRun) -> Result
  ) -> Result? {
    if thread.isCurrent { return body(self) }
    return want(until: deadline, body).wait(until: deadline, by: clock) ?? nil
  }

  /// Calls `body` on the run's thread, and suspends until it has returned.
  ///
  /// - Returns: nil when `body` has not been called by `deadline`.
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
      // When the caller no longer waits, the call is skipped.
      work.calls.append { [weak self, clock] isRunning in
        let isWanted = isRunning && clock.now < deadline
        result.complete(isWanted ? self.map(body) : nil)
      }
    }
    return result
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
      // A pipeline that was paused during its start posts no message until it has started, which may never happen.
      if status.pipelineState == .paused, !isToStandStill, pipeline.settledState != GST_STATE_PLAYING {
        status.setPipeline(.starting)
      }
    }
    if work.mustUpdateDecoding { updateDecoding() }
  }

  private func tick() {
    watchFlows()
    // The app may have changed the pipeline's state, which it can reach through any of its elements.
    if let state = pipeline.settledState, state != wantedState { settle() }
  }

  /// Handles a failed start. A caller that waits for the start gets the error, and the run ends. Otherwise the streams
  /// fail with it, and the thread waits for the stop.
  ///
  /// - Returns: whether the run has ended.
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

  /// Brings the pipeline to its wanted state, unless it is to stop already. When an element refuses, the streams that
  /// need it are isolated, and the start is tried again with the rest.
  private func bringUp() throws(PipSinkError) {
    while !thread.isStopping, pipeline.settle(wantedState) == GST_STATE_CHANGE_FAILURE {
      let (error, source) = pipeline.takeFirstError()
      defer { if let source { gst_object_unref(source) } }
      let affected = source.map(pipeline.streams(dependingOn:)) ?? pipeline.streams
      if affected.isEmpty, let source, removeAudio(source, after: error, isRunning: false) { continue }
      let whole = Set(pipeline.streams.map(\.id)).subtracting(progress.withLock { $0.broken })
      let left = whole.subtracting(affected.map(\.id))
      pipeline.settle(GST_STATE_NULL)
      // The whole pipeline depends on an element that is on no stream's path.
      guard !left.isEmpty, left.count < whole.count else { throw error }
      noteBroken(affected, error)
      isolateBroken()
    }
  }
}
