import CGStreamer

/// Plays one stream with a pipeline of its own, and starts it again when it fails.
///
/// It is independent of all other streams. A thread of its own looks after it; frames go from GStreamer's streaming
/// thread to the consumer, as in ``VideoEngine``. All calls are allowed from every thread but that one. It stops when it
/// goes away.
///
/// A pipeline that does not stop in time, be it for a restart, is given up (``EngineEvent/abandoned(_:)``). While three of
/// its pipelines block so, no other one is tried.
public final class StreamPlayer: Sendable {
  public struct Configuration: Sendable {
    /// Seconds without a frame after which a stream that was playing counts as stalled.
    public var stallTimeout = 3.0
    /// Seconds of stalling after which it is started again. For its first frame it may take both together.
    public var restartTimeout = 5.0
    /// What follows a failure that may pass; nil leaves it failed. One that is permanent before the first frame
    /// (``PipSinkError/isPermanent``), such as a file that does not exist, is not tried again.
    public var retryPolicy: RetryPolicy? = RetryPolicy(limit: .max, firstPause: 0.5, longestPause: 30, jitter: 0.25)
    /// Whether an end is taken for a failure; nil takes it so of a network source that does not know how long it is: a
    /// server that closes the connection.
    public var restartsAtEnd: Bool?
    /// Seconds of playing after which earlier failures are forgotten.
    public var settledAfter = 10.0
    /// Seconds that a pipeline has for its stop before it is given up.
    public var stateChangeTimeout = 5.0
    /// Whether the sound of a URI is played as well, on the default output. A URI that has only sound or only pictures
    /// plays what it has.
    public var playsAudio = false

    public init() {}
  }

  public let streamID: StreamID
  private let core: Core
  private let thread = Locked<WorkerThread?>(nil)
  /// Held while observers are told something.
  private let isConnected = Locked(true)

  /// Parses the description; nothing runs yet.
  ///
  /// - Parameters:
  ///   - description: with one appsink, whatever its name.
  ///   - consumer: asked once for every time that the pipeline is started.
  /// - Throws: as ``VideoEngine/init(_:)``, and ``PipSinkError/notOneStream(_:)``.
  public convenience init(
    streamID: StreamID, from description: PipelineDescription, configuration: Configuration = .init(),
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    try self.init(
      streamID: streamID, from: description, configuration: configuration, sharing: nil, clock: .system,
      deliveringTo: consumer)
  }

  /// - Parameters:
  ///   - audioSession: of the engine that it is a stream of.
  ///   - clock: what it waits by.
  init(
    streamID: StreamID, from description: PipelineDescription, configuration: Configuration,
    sharing audioSession: AudioSession? = nil, clock: SchedulingClock,
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    self.streamID = streamID
    guard !streamID.isEmpty, !streamID.utf8.contains(0) else {
      throw .invalidArgument("stream", reason: streamID.isEmpty ? "it is empty" : "it has a NUL in it")
    }
    let engine = try VideoEngine(description, sharing: audioSession, as: streamID, clock: clock)
    guard engine.streamIDs.count == 1 else { throw .notOneStream(engine.streamIDs) }
    core = Core(streamID, engine, configuration, consumer)
  }

  deinit {
    stop()
  }

  /// Its engine's, where an engine has started it.
  public var audioSession: AudioSession { core.engine.audioSession }

  public var state: StreamPlayState { core.state.withLock { $0.phase } }

  /// The states from now on; each call gives a stream of its own.
  public func states() -> AsyncStream<StreamPlayState> { core.broadcast.stream() }

  /// Calls `observer` with the player's states, and with whatever else happens to its stream. The stream's ID in those
  /// events is not to be relied on.
  ///
  /// - Parameter observer: is told whether the player has not been disconnected.
  func observe(_ observer: @escaping @Sendable (EngineEvent, _ isConnected: Bool) -> Void) {
    let (streamID, isConnected) = (streamID, isConnected)
    core.broadcast.observe { state in
      isConnected.withLock { observer(.streamStateChanged(streamID, state), $0) }
    }
    core.engine.status.broadcast.observe { event in
      if case .streamStateChanged = event { return }
      isConnected.withLock { observer(event, $0) }
    }
  }

  /// From here on observers are told that it is connected no more.
  ///
  /// - Parameter last: done before any observer is called again.
  func disconnect(_ last: () -> Void) {
    isConnected.withLock { isConnected in
      isConnected = false
      last()
    }
  }

  /// What is known of the stream in its pipeline.
  var info: StreamInfo? { core.engine.info(of: core.engine.streamIDs[0]) }

  /// Whether its decoder stands still.
  var isDecodingSuspended: Bool {
    get { core.engine.visibleStreamIDs != nil }
    set { core.engine.visibleStreamIDs = newValue ? [] : nil }
  }

  /// Starts it. Does nothing when it has been started and not stopped.
  public func start() {
    let mustRun = core.state.withLock { state in
      guard !state.isStarted else { return false }
      return state.start()
    }
    core.state.wakeAll()
    if mustRun { run() }
  }

  private func run() {
    let core = core
    guard let worker = WorkerThread(name: "pip-\(streamID)", body: { core.run() }) else {
      return core.fail(ResourceLimits.threadRefused)
    }
    thread.withLock { $0 = worker }
  }

  /// Stops it and waits until no frame is delivered any more, but no longer than the configuration's
  /// `stateChangeTimeout`: a pipeline that does not stop by then is given up.
  public func stop() {
    requestStop()
    waitForStop(until: core.stopDeadline(nil))
  }

  /// Stops as ``stop()`` does, and suspends meanwhile.
  ///
  /// - Parameter seconds: what its pipeline gets; nil for the configuration's `stateChangeTimeout`.
  /// - Returns: whether it has stopped. If not, its pipeline was given up.
  @discardableResult
  public nonisolated(nonsending) func stop(within seconds: Double?) async -> Bool {
    requestStop()
    return await waitForStop(by: core.stopDeadline(seconds))
  }

  /// From here on no frame begins its way to the consumer. Waits for nothing.
  func requestStop() {
    core.state.withLock { state in
      state.isWanted = false
      state.isStarted = false
      // At once, and of none that is started later.
      core.engine.withRun { $0.requestStop() }
    }
    core.state.wakeAll()
  }

  /// After ``requestStop()``.
  func waitForStop(until deadline: MonotonicTime) {
    // What is called on the thread itself cannot wait for it.
    guard thread.withLock({ $0 })?.isCurrent != true, let stop = core.awaitedStop() else { return join() }
    if stop.wait(until: deadline, by: core.clock) == nil {
      core.engine.giveUp()
      _ = stop.wait(until: core.graceEnd, by: core.clock)
    }
    join()
  }

  /// The same for tasks.
  ///
  /// - Returns: whether it has stopped.
  func waitForStop(by deadline: MonotonicTime) async -> Bool {
    let before = core.engine.abandonedPipelineCount
    if let stop = core.awaitedStop(), await stop.value(by: deadline, of: core.clock) == nil {
      core.engine.giveUp()
      _ = await stop.value(by: core.graceEnd, of: core.clock)
    }
    join()
    return core.engine.abandonedPipelineCount == before
  }

  /// Waits for the thread where that has nothing more to do.
  private func join() {
    guard !core.state.withLock({ $0.isSupervised }) else { return }
    thread.withLock { thread in
      defer { thread = nil }
      return thread
    }?.join()
  }

  /// Starts it again at once, with no failure remembered, where it waits or has failed.
  public func reset() {
    let mustRun = core.state.withLock { state in
      state.isResetting = true
      return state.isSupervised ? false : state.start()
    }
    core.state.wakeAll()
    if mustRun { run() }
  }

  /// As ``VideoEngine/withUnsafeElement(named:_:)``, of the pipeline that runs now. A restart makes another.
  public func withUnsafeElement<Result>(
    named name: String, _ body: (UnsafeMutablePointer<GstElement>) throws -> Result
  ) rethrows -> Result? {
    try core.engine.withUnsafeElement(named: name, body)
  }

  /// Where its pipeline is, from its start; nil while it does not say.
  public var position: MediaTime? { core.engine.position }

  /// How long its source is; nil for a live one.
  public var duration: MediaTime? { core.engine.duration }

  /// As ``VideoEngine/seek(to:isAccurate:)``, while its pipeline runs.
  public func seek(to time: MediaTime, isAccurate: Bool = false) throws(PipSinkError) {
    try core.engine.seek(to: time, isAccurate: isAccurate)
  }

  /// Whether it stands still. Standing still is no stall.
  public var isPaused: Bool {
    get { core.state.withLock { $0.isPaused } }
    set {
      core.state.withLock { state in
        state.isPaused = newValue
        state.since = core.clock.now
      }
      core.engine.isPaused = newValue
      core.state.wakeAll()
    }
  }
}
