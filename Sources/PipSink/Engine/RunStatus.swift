/// What one run tells its engine, until it is cut off: what a pipeline does that was given up is nobody's business any
/// more.
///
/// Its lock is held while the engine is told, and for nothing else; streaming threads and the run's own take it.
final class RunStatus: Sendable {
  private let engine: EngineStatus
  private let isConnected = Locked(true)

  init(_ engine: EngineStatus) {
    self.engine = engine
  }

  /// For what is wanted, which is only read here.
  var state: Locked<EngineStatus.State> { engine.state }

  var blocked: BlockedPipelines { engine.blocked }

  var broadcast: RunStatus { self }

  func send(_ event: EngineEvent) { tell { $0.broadcast.send(event) } }

  func info(of id: StreamID) -> StreamInfo? { engine.info(of: id) }

  func setEngine(_ new: EngineState) { tell { $0.setEngine(new) } }

  func setStream(_ id: StreamID, to new: StreamPlayState) { tell { $0.setStream(id, to: new) } }

  func observe(_ device: StreamDevice, _ new: DeviceState) { tell { $0.observe(device, new) } }

  func setDecodingSuspended(_ isSuspended: Bool, of id: StreamID) {
    tell { $0.setDecodingSuspended(isSuspended, of: id) }
  }

  func update(_ id: StreamID, _ change: (inout StreamInfo) -> Void) { tell { $0.update(id, change) } }

  /// Cuts the run off. When this has returned, nothing of the run reaches the engine any more.
  ///
  /// - Parameter last: what the engine is told of it as the last.
  func disconnect(_ last: (EngineStatus) -> Void) {
    isConnected.withLock { isConnected in
      isConnected = false
      last(engine)
    }
  }

  private func tell(_ body: (EngineStatus) -> Void) {
    isConnected.withLock { if $0 { body(engine) } }
  }
}
