/// What one run tells its engine, until it is cut off: what a pipeline does that was given up is nobody's business any
/// more.
///
/// What becomes of a stream with a pipeline of its own is its player's to say; the run tells that one then. Its lock is
/// held while they are told, and for nothing else; streaming threads and the run's own take it.
final class RunStatus: Sendable {
  private struct Connection {
    var isOpen = true
    /// Of a stream's own pipeline. Let go with the connection: a pipeline that was given up may stay for ever.
    var player: StreamPlayer?
    var pipeline = EngineState.stopped
    /// Whether another run of the engine's pipeline follows.
    var isReplaced = false
  }

  /// Plans another start of a pipeline, all streams of which have failed, and tells the streams.
  typealias Restart = @Sendable (PipelineRun, PipelineRun.Failure) -> Bool

  /// After this time without a frame a stream counts as stalled.
  let stallTimeout: Duration
  let blocked: BlockedPipelines
  let audioSession: AudioSession
  let clock: SchedulingClock
  private let engine: EngineStatus
  private let connection: Locked<Connection>

  private let restart: Restart?

  /// - Parameter restart: of the engine's own pipeline; a stream with a pipeline of its own has a player for that.
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

  // MARK: - What is wanted

  var isPaused: Bool { engine.state.withLock { $0.isPaused } }

  /// Whether nobody sees a stream, so that its decoder is to stand still.
  func isSuspended(_ id: StreamID) -> Bool { engine.state.withLock { $0.isSuspended(id) } }

  // MARK: - What is told

  /// What the pipeline was said to be doing.
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

  /// Tells the engine something else.
  func tell(_ body: (EngineStatus) -> Void) {
    connection.withLock { if $0.isOpen { tell($0.player, body) } }
  }

  private func tell(_ player: StreamPlayer?, _ body: (EngineStatus) -> Void) {
    if let player { player.tell(body) } else { body(engine) }
  }

  /// All streams of the run have failed.
  ///
  /// - Returns: whether the pipeline is started again; its streams have been told so then.
  func restart(_ run: PipelineRun, after failure: PipelineRun.Failure) -> Bool {
    connection.withLock { connection in
      guard connection.isOpen, let restart, restart(run, failure) else { return false }
      connection.isReplaced = true
      return true
    }
  }

  /// Cuts the run off. When this has returned, nothing of the run reaches the engine any more.
  ///
  /// - Parameters:
  ///   - ids: its streams, which do nothing any more.
  ///   - isGivenUp: whether its pipeline has not stopped; told of a stream that has been stopped, too.
  func disconnect(_ ids: [StreamID], isGivenUp: Bool = false) {
    // What goes away with the player goes after the lock.
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
