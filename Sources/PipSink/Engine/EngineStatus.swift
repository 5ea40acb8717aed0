import Logging

/// What an engine and its runs share: what is wanted, how things are, and who is told.
///
/// Its lock is held for a few instructions, and taken by streaming threads and the bus thread.
final class EngineStatus: Sendable {
  struct State {
    var engine = EngineState.stopped
    var isPaused = false
    var stallTimeout = 3.0
    var streams: [StreamID: StreamInfo] = [:]
    var localStreamIDs: Set<StreamID> = []
    /// Streams whose frames come from outside.
    var inputIDs: Set<StreamID> = []
    var saidDevices: Set<StreamDevice> = []
    var isBackgroundDecodingEnabled = false
    var visibleStreamIDs: Set<StreamID>?
    var stateChangeTimeout = 5.0
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

    /// What follows from the flow of frames and audio; what the app has said goes before it.
    ///
    /// - Returns: whether it is new.
    mutating func observe(_ device: StreamDevice, _ new: DeviceState) -> Bool {
      guard let old = streams[device.stream]?[device.kind], !saidDevices.contains(device),
        !(new == .off && old == .unknown)
      else { return false }
      streams[device.stream]?[device.kind] = new
      return old != new
    }

    /// What the app says.
    ///
    /// - Returns: whether it is new.
    mutating func say(_ device: StreamDevice, _ new: DeviceState) -> Bool {
      guard let old = streams[device.stream]?[device.kind] else { return false }
      if new == .unknown { saidDevices.remove(device) } else { saidDevices.insert(device) }
      streams[device.stream]?[device.kind] = new
      return old != new
    }
  }

  let broadcast = Broadcast<EngineEvent>()
  let state = Locked(State())
  let blocked = BlockedPipelines()
  private let logger = Logger(visible: "pipsink.engine")

  /// An audio session whose events are the engine's.
  func makeAudioSession() -> AudioSession {
    AudioSession { [broadcast] in broadcast.send(EngineEvent($0)) }
  }

  func info(of id: StreamID) -> StreamInfo? { state.withLock { $0.streams[id] } }

  func add(_ ids: [StreamID]) {
    state.withLock { state in
      for id in ids where state.streams[id] == nil {
        state.streams[id] = StreamInfo(id: id, isLocal: state.localStreamIDs.contains(id))
      }
    }
  }

  func remove(_ id: StreamID) {
    state.withLock { state in
      state.streams[id] = nil
      state.saidDevices = state.saidDevices.filter { $0.stream != id }
    }
  }

  /// A stream is stopped for good.
  func retire(_ id: StreamID) {
    setStopped(id)
    remove(id)
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
    let camera = StreamDevice(id, .camera)
    let (isNew, isNewCamera) = state.withLock { state in
      guard let old = state.streams[id]?.state else { return (false, false) }
      state.streams[id]?.note(new)
      if new.isOver { state.mayHaveFinished = true } else if new != .stopped { state.hasFinished = false }
      if old != new { state.changesUnderWay += 1 }
      guard old != new, let observed = new.camera else { return (old != new, false) }
      return (true, state.observe(camera, observed))
    }
    guard isNew else { return }
    logger.debug("stream \"\(id)\": \(new)")
    broadcast.send(.streamStateChanged(id, new))
    if isNewCamera, let observed = new.camera { send(camera, observed) }
    // What is told last of the streams comes from the thread that is ready last.
    let hasFinished = state.withLock { state in
      state.changesUnderWay -= 1
      return state.finish()
    }
    if hasFinished { broadcast.send(.finished) }
  }

  /// A stream has been stopped and removed: it may be that all others have ended.
  func finishWithoutStopped() {
    let hasFinished = state.withLock { state in
      state.mayHaveFinished = true
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

  func observe(_ device: StreamDevice, _ new: DeviceState) {
    if state.withLock({ $0.observe(device, new) }) { send(device, new) }
  }

  /// What the app says; with `unknown` it takes back what it said.
  func say(_ device: StreamDevice, _ new: DeviceState) {
    if state.withLock({ $0.say(device, new) }) { send(device, new) }
  }

  private func send(_ device: StreamDevice, _ new: DeviceState) {
    switch device.kind {
    case .camera: broadcast.send(.cameraStateChanged(device.stream, new))
    case .microphone: broadcast.send(.microphoneStateChanged(device.stream, new))
    }
  }

  func setDecodingSuspended(_ isSuspended: Bool, of id: StreamID) {
    let isNew = state.withLock { state in
      guard let old = state.streams[id]?.isDecodingSuspended else { return false }
      state.streams[id]?.isDecodingSuspended = isSuspended
      return old != isSuspended
    }
    if isNew { broadcast.send(.decodingSuspended(id, isSuspended)) }
  }

  func update(_ id: StreamID, _ change: (inout StreamInfo) -> Void) {
    state.withLock { state in
      if var info = state.streams[id] {
        change(&info)
        state.streams[id] = info
      }
    }
  }
}

extension StreamPlayState {
  /// What it says of the stream's camera; nil for nothing.
  fileprivate var camera: DeviceState? {
    switch self {
    case .playing: .on
    case .requesting, .reconnecting: nil
    case .stalled, .ended, .failed, .stopped: .off
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
