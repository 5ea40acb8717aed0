import CGStreamer

/// Runs a GStreamer pipeline and hands each stream's frames to its consumer.
///
/// Every appsink in the description is a stream, and its `name` is the stream ID. Frames are delivered on GStreamer's
/// streaming threads, when their time has come (unless the appsink says `sync=false`). Everything else is reported by
/// ``EngineEvent``s.
///
/// A stream that ends or fails does not affect the others. When all streams of a pipeline have failed, or none delivers
/// frames any more, the pipeline is started again as its ``PipelineConfiguration`` says. After a stop, the engine can
/// be started again; it then makes a new pipeline from the same description.
///
/// Elements may block while a pipeline starts or stops. The methods that wait for them suspend, but not longer than
/// their parameter `within` says, which is ``PipelineConfiguration/stateChangeTimeout`` by default. A start that takes
/// longer continues in the background. A pipeline that does not stop is abandoned (``EngineEvent/abandoned(_:)``).
public final class VideoEngine: Sendable {
  /// The streams of the engine's own pipeline, in the order of its description.
  public let streamIDs: [StreamID]

  /// Makes the engine's own pipeline; nil when it has none.
  private let pipelines: PipelineFactory?
  let status: EngineStatus
  /// The players of all pipelines, until their stop is over.
  let players = Locked<[PipelinePlayer]>([])
  /// The volumes of this engine's streams, and the interruptions of their sound.
  public var audioSession: AudioSession { status.audioSession }

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

  /// Asks everything to stop, without waiting. What does not stop in time is abandoned.
  deinit {
    for player in players.withLock({ $0 }) { player.requestStop(by: player.deadline()) }
    status.broadcast.finish()
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
    get { status.isPaused }
    set {
      status.state.withLock { $0.isPaused = newValue }
      for player in players.withLock({ $0 }) { player.updatePause() }
    }
  }

  /// Starts all pipelines at once that wait for another attempt.
  func retryNow() {
    for player in players.withLock({ $0 }) { player.retryNow() }
  }

  /// The configuration of the engine's own pipeline. A change takes effect at the next start, that of
  /// ``PipelineConfiguration/stateChangeTimeout`` at the next stop. It may be set from any thread.
  public var configuration: PipelineConfiguration {
    get { status.state.withLock { $0.configuration } }
    set { status.state.withLock { $0.configuration = newValue } }
  }

  /// The number of pipelines of this engine that have been abandoned so far (``EngineEvent/abandoned(_:)``), including
  /// those of single streams.
  package var abandonedPipelineCount: Int { status.state.withLock { $0.abandonedCount } }

  // MARK: - Start and stop

  /// Starts the engine's own pipeline, and suspends until its elements have accepted the start.
  /// ``EngineEvent/stateChanged(_:)`` tells when the pipeline runs.
  ///
  /// - Parameters:
  ///   - time: the longest time to wait; nil for the `stateChangeTimeout` of ``configuration``.
  ///   - consumers: returns the consumer of a stream's frames. It is called on any thread, once for each stream and
  ///     start, before the first frame, and again for each automatic restart, but not after the stop has begun.
  /// - Throws: ``PipSinkError/Pipeline/alreadyRunning``; ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``; the
  ///   error of an element that refuses to start, if no stream can play without it. If some streams can, they go on,
  ///   and the failures of the others are reported as events. So is an error that comes after `time`.
  public func start(
    within time: Duration? = nil, deliveringTo consumers: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) async throws(PipSinkError) {
    guard let pipelines else { throw .pipeline(.empty) }
    let player = PipelinePlayer(pipelines, configuration, isFirst: true, in: status, deliveringTo: consumers)
    try players.withLock { players throws(PipSinkError) in
      players.removeAll { $0.isFirst && $0.isOver }
      guard !players.contains(where: \.isFirst) else { throw .pipeline(.alreadyRunning) }
      players.append(player)
    }
    if let error = await player.start(by: player.deadline(in: time)) { throw error }
  }

  /// Stops all pipelines, and suspends until no more frames are delivered and all threads have ended. Streams with
  /// their own pipelines are removed. When nothing runs, the method does nothing.
  ///
  /// - Parameter time: the longest time to wait; nil for the `stateChangeTimeout` of ``configuration``. What has not
  ///   stopped by then is abandoned.
  /// - Returns: true when everything has stopped; false when something was abandoned.
  @discardableResult
  public func stop(within time: Duration? = nil) async -> Bool {
    let (players, deadline) = (
      players.withLock { $0 }, status.clock.moment(in: time ?? configuration.stateChangeTimeout)
    )
    for player in players { player.requestStop(by: deadline, isRemoved: !player.isFirst) }
    var hasStopped = true
    for player in players where !(await stop(player, by: deadline)) { hasStopped = false }
    return hasStopped
  }

  /// Waits until a player has stopped that was asked to, and forgets it.
  nonisolated(nonsending) func stop(_ player: PipelinePlayer, by deadline: MonotonicTime) async -> Bool {
    let hasStopped = await player.stop(by: deadline)
    players.withLock { $0.removeAll { $0 === player } }
    return hasStopped
  }

  /// Asks every run to suspend or resume its decoders according to the current settings.
  func updateDecoding() {
    for player in players.withLock({ $0 }) { player.run?.requestDecodingUpdate() }
  }

  /// Calls `body` with an element of a running pipeline, for instance to set its properties, to push into an appsrc, or
  /// to use what PipSink has no interface for, such as webrtcbin's signalling.
  ///
  /// The element is borrowed for the time of the call. With a reference of its own (`gst_object_ref`), the caller may
  /// keep it longer than the run lasts.
  ///
  /// - Parameters:
  ///   - name: the element's name in the pipeline.
  ///   - streamID: a stream of the pipeline; nil for the pipeline that the engine begins with.
  ///   - body: is called on the caller's thread.
  /// - Returns: the result of `body`; nil when nothing runs or no element has this name.
  /// - Throws: what `body` throws.
  public func withUnsafeElement<Result>(
    named name: String, of streamID: StreamID? = nil, _ body: (UnsafeMutablePointer<GstElement>) throws -> Result
  ) rethrows -> Result? {
    let run = if let streamID { player(of: streamID)?.run } else { withRun { $0 } }
    return try run?.withUnsafeElement(named: name, body) ?? nil
  }

  /// The names of elements `webrtcbin` in the pipeline of a stream that nobody has given the peer's description; none
  /// where the pipeline does not answer before the deadline.
  package func peersWithoutDescription(of streamID: StreamID, by deadline: MonotonicTime) async -> [String] {
    await player(of: streamID)?.run?.perform(by: deadline) { $0.pipeline.peersWithoutDescription } ?? []
  }

  /// Calls `body` with the current run of the engine's own pipeline.
  ///
  /// - Returns: nil when there is none.
  @discardableResult
  func withRun<Result>(_ body: (PipelineRun) throws -> Result) rethrows -> Result? {
    try players.withLock { $0.first(where: \.isFirst) }?.run.map(body)
  }
}
