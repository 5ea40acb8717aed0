/// Connects one run to its engine, until it is disconnected. The states and events of an abandoned pipeline no longer
/// reach the engine.
///
/// For a stream with its own pipeline, states go to its player, which decides about them. The lock is held while the
/// engine or the player is called, and for nothing else. Streaming threads and the run's thread take it.
final class RunStatus: Sendable {
  private struct Connection {
    var isOpen = true
    /// The player of a stream with its own pipeline. It is released with the connection, since an abandoned run may
    /// exist for ever.
    var player: StreamPlayer?
    var pipeline = EngineState.stopped
    /// Whether another run of the engine's pipeline will follow.
    var isReplaced = false
  }

  /// Plans the restart of a pipeline whose streams have all failed, and sets the streams' states.
  typealias Restart = @Sendable (PipelineRun, PipelineRun.Failure) -> Bool

  /// The time without a frame after which a stream is stalled.
  let stallTimeout: Duration
  let blocked: BlockedPipelines
  let audioSession: AudioSession
  let clock: SchedulingClock
  private let engine: EngineStatus
  private let connection: Locked<Connection>

  private let restart: Restart?

  /// - Parameters:
  ///   - engine: gets the events, and the states of the streams if there is no player.
  ///   - player: the player of a stream with its own pipeline.
  ///   - restart: plans a restart of the engine's own pipeline.
  init(_ engine: EngineStatus, player: StreamPlayer? = nil, restart: Restart? = nil) {
    self.engine = engine
    self.restart = restart
    stallTimeout = max(
      .milliseconds(10), player?.configuration.stallTimeout ?? engine.state.withLock { $0.stallTimeout })
    blocked = player?.blocked ?? engine.blocked
    audioSession = engine.audioSession
    clock = engine.clock
    connection = Locked(Connection(player: player))
  }

  // MARK: - Settings

  var isPaused: Bool { engine.state.withLock { $0.isPaused } }

  /// Whether a stream is hidden, so that its decoder should be suspended.
  func isSuspended(_ id: StreamID) -> Bool { engine.state.withLock { $0.isSuspended(id) } }

  // MARK: - States and events

  /// The state that was last set for the pipeline.
  var pipelineState: EngineState { connection.withLock { $0.pipeline } }

  func setPipeline(_ new: EngineState) {
    connection.withLock { connection in
      guard connection.isOpen, connection.pipeline != new else { return }
      connection.pipeline = new
      if let player = connection.player { player.pipelineDidChange(to: new) } else { engine.setEngine(new) }
    }
  }

  func setStream(_ id: StreamID, to new: StreamPlayState) {
    connection.withLock { connection in
      guard connection.isOpen else { return }
      if let player = connection.player { player.streamDidChange(to: new) } else { engine.setStream(id, to: new) }
    }
  }

  func send(_ event: EngineEvent) {
    connection.withLock { connection in
      guard connection.isOpen else { return }
      connection.player?.take(event)
      tell(connection.player) { $0.broadcast.send(event) }
    }
  }

  /// Calls `body` with the engine, unless the run is disconnected.
  func tell(_ body: (EngineStatus) -> Void) {
    connection.withLock { if $0.isOpen { tell($0.player, body) } }
  }

  private func tell(_ player: StreamPlayer?, _ body: (EngineStatus) -> Void) {
    if let player { player.tell(body) } else { body(engine) }
  }

  /// Asks for a restart after all streams of the run have failed.
  ///
  /// - Returns: whether the pipeline will be restarted. If so, its streams are `reconnecting`.
  func restart(_ run: PipelineRun, after failure: PipelineRun.Failure) -> Bool {
    connection.withLock { connection in
      guard connection.isOpen, let restart, restart(run, failure) else { return false }
      connection.isReplaced = true
      return true
    }
  }

  /// Disconnects the run. After the return nothing of the run reaches the engine any more.
  ///
  /// - Parameters:
  ///   - ids: the streams of the run, which are stopped now.
  ///   - isGivenUp: whether the pipeline has not stopped and is abandoned, which is reported also for a stream that has
  ///     been stopped.
  func disconnect(_ ids: [StreamID], isGivenUp: Bool = false) {
    // The player may be released here, which has to happen after the lock.
    _ = connection.withLock { connection in
      let player = connection.player
      let isOwn = player == nil && !connection.isReplaced
      connection = Connection(isOpen: false)
      if isGivenUp { engine.noteAbandoned(ids) }
      tell(player) { engine in
        for id in ids {
          engine.setDecodingSuspended(false, of: id)
          if isOwn { engine.setStopped(id) }
        }
        if isOwn { engine.setEngine(.stopped) }
      }
      return player
    }
  }
}
