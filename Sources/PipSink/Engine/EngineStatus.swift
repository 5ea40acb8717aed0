import Logging

/// What an engine and its runs share: what is wanted, how things are, who is told, the sound, and the clock.
///
/// Its lock is held for a few instructions, and taken by streaming threads and the bus thread.
final class EngineStatus: Sendable {
  struct State {
    var engine = EngineState.stopped
    var isPaused = false
    var stallTimeout = Duration.seconds(3)
    var streams: [StreamID: StreamInfo] = [:]
    var localStreamIDs: Set<StreamID> = []
    /// Streams whose frames come from outside.
    var inputIDs: Set<StreamID> = []
    var isBackgroundDecodingEnabled = false
    var visibleStreamIDs: Set<StreamID>?
    var stateChangeTimeout = Duration.seconds(5)
    var retryPolicy: RetryPolicy? = .persistent
    /// Pipelines that were given up.
    var abandonedCount = 0
    /// Changes of streams' states that are being told of.
    var changesUnderWay = 0
    /// Whether a stream has ended or failed, or has gone, since it was looked last whether all have.
    var mayHaveFinished = false
    var hasFinished = false

    /// After a change has been told of.
    ///
    /// - Returns: whether it was the last that makes all streams ended or failed.
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

    /// - Returns: whether there was no such stream.
    mutating func add(_ id: StreamID) -> Bool {
      guard streams[id] == nil else { return false }
      streams[id] = StreamInfo(id: id, isLocal: localStreamIDs.contains(id))
      return true
    }
  }

  let broadcast: Broadcast<EngineEvent>
  let state = Locked(State())
  let blocked = BlockedPipelines()
  let audioSession: AudioSession
  /// What everything of the engine waits by.
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

  func info(of id: StreamID) -> StreamInfo? { state.withLock { $0.streams[id] } }

  func add(_ ids: [StreamID]) {
    state.withLock { state in
      for id in ids { _ = state.add(id) }
    }
  }

  /// A stream is stopped for good.
  func retire(_ id: StreamID) {
    setStopped(id)
    state.withLock { $0.streams[id] = nil }
  }

  /// Nothing comes of a stream any more. How one ended is still worth knowing.
  func setStopped(_ id: StreamID) {
    if info(of: id)?.state.isOver != true { setStream(id, to: .stopped) }
  }

  func setEngine(_ new: EngineState) {
    let isNew = state.withLock { state in
      defer { state.engine = new }
      return state.engine != new
    }
    guard isNew else { return }
    logger.debug("the pipeline: \(new)")
    broadcast.send(.stateChanged(new))
  }

  /// Notes it, tells of it where it is new, and takes flowing frames for a camera that is on: both at once, so that
  /// whoever looks finds no camera on in a stream that stands still.
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
    // What is told last of the streams comes from the thread that is ready last.
    finish { $0.changesUnderWay -= 1 }
  }

  /// A stream has been stopped and removed: it may be that all others have ended.
  func finishWithoutStopped() { finish { $0.mayHaveFinished = true } }

  private func finish(after change: (inout State) -> Void) {
    let hasFinished = state.withLock { state in
      change(&state)
      return state.finish()
    }
    if hasFinished { broadcast.send(.finished) }
  }

  /// A pipeline has been given up.
  func noteAbandoned(_ ids: [StreamID]) {
    state.withLock { state in
      state.abandonedCount += 1
      for id in ids { state.streams[id]?.abandonedPipelineCount += 1 }
    }
    broadcast.send(.abandoned(ids))
  }

  /// What the flow of frames and sound tells of a device.
  func observe(_ device: StreamDevice, of id: StreamID, _ new: DeviceState) {
    if update(id, { $0.observe(device, new) }) == true { send(device, of: id, new) }
  }

  /// What the app says of a device.
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

  /// - Returns: what `change` returns; nil where there is no such stream.
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
  /// What it says of the stream's devices. A stream that is over says nothing of them: its camera was not switched off.
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
      // One that is tried again has its failure still.
      if case .reconnecting = state {} else if state != .requesting { failure = nil }
      format = nil
      skippedFrameCount = 0
      lateFrameCount = 0
    case .stopped, .stalled, .ended: break
    }
    state = new
  }
}
