import Logging

/// What an engine and its runs share: the settings, the state of every stream, the events, the audio session, the
/// clock.
///
/// Its lock is held for a few instructions. Streaming threads and the pipelines' threads take it.
final class EngineStatus: Sendable {
  /// The settings and states, which are behind the lock.
  struct State {
    var engine = EngineState.stopped
    /// The configuration of the engine's own pipeline.
    var configuration = PipelineConfiguration()
    var isPaused = false
    var streams: [StreamID: StreamInfo] = [:]
    var localStreamIDs: Set<StreamID> = []
    /// The streams whose frames come from outside of the engine.
    var inputIDs: Set<StreamID> = []
    var isBackgroundDecodingEnabled = false
    var visibleStreamIDs: Set<StreamID>?
    /// The number of pipelines that were abandoned.
    var abandonedCount = 0
    /// The number of changes of streams' states whose events are being sent at the moment.
    var changesUnderWay = 0
    /// Whether a stream has ended, failed or been removed since ``finish()`` last checked whether all have finished.
    var mayHaveFinished = false
    var hasFinished = false
    /// Suspends a pipeline that has been started until it may begin; nil for no wait.
    var startGate: (@Sendable () async -> Void)?

    /// Checks, after the events of a change were sent, whether all streams have finished.
    ///
    /// - Returns: true once, when every stream has ended or failed and all of their events have been sent.
    mutating func finish() -> Bool {
      guard changesUnderWay == 0, mayHaveFinished, !hasFinished else { return false }
      mayHaveFinished = false
      hasFinished =
        !streams.isEmpty && streams.values.allSatisfy { $0.state.isOver || $0.state == .stopped }
        && streams.values.contains { $0.state.isOver }
      return hasFinished
    }

    func isSuspended(_ id: StreamID) -> Bool {
      guard !isBackgroundDecodingEnabled, let visibleStreamIDs else { return false }
      return !visibleStreamIDs.contains(id)
    }

    /// - Returns: false when there is such a stream already.
    mutating func add(_ id: StreamID) -> Bool {
      guard streams[id] == nil else { return false }
      streams[id] = StreamInfo(id: id, isLocal: localStreamIDs.contains(id))
      return true
    }
  }

  let broadcast: Broadcast<EngineEvent>
  let state = Locked(State())
  let customVideoRender = Locked(CustomVideoRender())
  let audioSession: AudioSession
  /// The clock for all timeouts of the engine.
  let clock: SchedulingClock
  private let logger = Logger(visible: "pipsink.engine")

  init(clock: SchedulingClock = .system) {
    let broadcast = Broadcast<EngineEvent>()
    self.broadcast = broadcast
    self.clock = clock
    audioSession = AudioSession { interruption in
      broadcast.send(interruption.map(EngineEvent.audioInterruptionBegan) ?? .audioInterruptionEnded)
    }
  }

  var isPaused: Bool { state.withLock { $0.isPaused } }

  func waitForStart() async { await state.withLock { $0.startGate }?() }

  func info(of id: StreamID) -> StreamInfo? { state.withLock { $0.streams[id] } }

  func add(_ ids: [StreamID]) {
    state.withLock { state in
      for id in ids { _ = state.add(id) }
    }
  }

  /// Notes that a stream has stopped, and forgets it.
  func retire(_ id: StreamID) {
    setStopped(id)
    state.withLock { $0.streams[id] = nil }
  }

  /// Notes that a stream has stopped. One that has ended or failed stays in that state, so that it can still be read.
  func setStopped(_ id: StreamID) {
    if info(of: id)?.state.isOver != true { setStream(id, to: .stopped) }
  }

  func setEngine(_ new: EngineState) {
    let isNew = state.exchange(\.engine, new) != new
    guard isNew else { return }
    logger.debug("the pipeline: \(new)")
    broadcast.send(.stateChanged(new))
  }

  /// Sets a stream's state, and sends an event when it has changed. The camera's state follows from the stream's: both
  /// change under one lock, so that no reader finds a camera that is on in a stream that has stalled.
  func setStream(_ id: StreamID, to new: StreamPlayState) {
    let changes: [(device: StreamDevice, state: DeviceState)]? = state.withLock { state in
      guard let old = state.streams[id]?.state else { return nil }
      state.streams[id]?.note(new)
      if new.isOver { state.mayHaveFinished = true } else if new != .stopped { state.hasFinished = false }
      guard old != new else { return nil }
      state.changesUnderWay += 1
      return new.devices.filter { state.streams[id]?.observe($0.device, $0.state) ?? false }
    }
    guard let changes else { return }
    logger.debug("stream \"\(id)\": \(new)")
    broadcast.send(.streamStateChanged(id, new))
    for change in changes { send(change.device, of: id, change.state) }
    // Several threads may be here: the last of them sends the event that all streams have finished.
    finish { $0.changesUnderWay -= 1 }
  }

  /// Sends ``EngineEvent/finished`` if all other streams have finished, after a stream was stopped and removed.
  func finishWithoutStopped() { finish { $0.mayHaveFinished = true } }

  private func finish(after change: (inout State) -> Void) {
    let hasFinished = state.withLock { state in
      change(&state)
      return state.finish()
    }
    if hasFinished { broadcast.send(.finished) }
  }

  /// Notes that a pipeline with these streams was abandoned.
  func noteAbandoned(_ ids: [StreamID]) {
    state.withLock { state in
      state.abandonedCount += 1
      for id in ids { state.streams[id]?.abandonedPipelineCount += 1 }
    }
    broadcast.send(.abandoned(ids))
  }

  /// Sets a device's state as it follows from the flow of frames or sound.
  func observe(_ device: StreamDevice, of id: StreamID, _ new: DeviceState) {
    if update(id, { $0.observe(device, new) }) == true { send(device, of: id, new) }
  }

  /// Sets a device's state as the app knows it.
  func say(_ device: StreamDevice, of id: StreamID, _ new: DeviceState) {
    if update(id, { $0.say(device, new) }) == true { send(device, of: id, new) }
  }

  private func send(_ device: StreamDevice, of id: StreamID, _ new: DeviceState) {
    broadcast.send(device == .camera ? .cameraStateChanged(id, new) : .microphoneStateChanged(id, new))
  }

  func setDecodingSuspended(_ isSuspended: Bool, of id: StreamID) {
    let old = update(id) { info in
      defer { info.isDecodingSuspended = isSuspended }
      return info.isDecodingSuspended
    }
    if let old, old != isSuspended { broadcast.send(.decodingSuspended(id, isSuspended)) }
  }

  /// - Returns: the result of `change`; nil when there is no such stream.
  @discardableResult
  func update<Result>(_ id: StreamID, _ change: (inout StreamInfo) -> Result) -> Result? {
    state.withLock { state -> Result? in
      guard var info = state.streams[id] else { return nil }
      defer { state.streams[id] = info }
      return change(&info)
    }
  }
}

extension StreamPlayState {
  /// The states of the stream's devices that follow from this state. They are unknown when the stream is over, since
  /// that does not mean that its camera was switched off.
  fileprivate var devices: [(device: StreamDevice, state: DeviceState)] {
    switch self {
    case .playing: [(.camera, .on)]
    case .requesting, .reconnecting: []
    case .stalled: [(.camera, .off)]
    case .ended, .failed, .stopped: [(.camera, .unknown), (.microphone, .unknown)]
    }
  }
}

extension StreamInfo {
  fileprivate mutating func note(_ new: StreamPlayState) {
    switch new {
    case .failed(let error), .reconnecting(_, _, let error): failure = error
    case .playing: failure = nil
    case .requesting:
      // A stream that is being retried keeps its last failure.
      if case .reconnecting = state {} else if state != .requesting { failure = nil }
      format = nil
      hasNoVideo = false
      skippedFrameCount = 0
      lateFrameCount = 0
    case .stopped, .stalled, .ended: break
    }
    state = new
  }
}
