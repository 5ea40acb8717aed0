extension PipelinePlayer {
  /// What a player knows of its pipeline, and when that calls for something: the rules of time, without threads.
  struct State {
    /// Returns the consumer of a stream's frames; nil when the player has stopped.
    var consumer: (@Sendable (StreamID) -> any SampleBufferConsumer)?
    /// By when the player has to stop; nil while it is to play.
    var stopDeadline: MonotonicTime?
    /// Whether the engine has removed the streams. It is told nothing more then.
    var isRemoved = false
    /// Whether a caller waits for the start, and gets its error.
    var isAwaited = false
    var run: PipelineRun?
    /// Whether the run is listened to: from its start until it is decided what follows it.
    var isObserved = false
    /// Whether the streams have ended, and the run waits for a seek.
    var isParked = false
    /// Whether the user has paused the engine.
    var isPaused = false
    /// What the pipeline of the run does.
    var pipeline = EngineState.stopped
    /// What the streams of the run do.
    var streams: [StreamID: StreamPlayState] = [:]
    /// The error of a start that was refused.
    var startError: PipSinkError?
    /// Whether a frame has come since the start of the run.
    var hasPlayed = false
    /// Whether the pipeline is up, and all its streams may be silent for any time.
    var maySendNothing = false
    /// When ``flow`` last changed, or when the streams last stood still for a reason.
    var since: MonotonicTime
    /// The number of restarts since the pipeline last played for long enough.
    var attempt = 0
    /// Whether the next restart is due at once.
    var isHurried = false
    /// The number of abandoned runs that have not stopped yet.
    var blockedCount = 0

    /// Whether the pipeline is paused, by the user or by an interruption.
    var isStill: Bool { isPaused || pipeline == .paused }

    /// Whether no stream is open any more.
    var isOver: Bool { streams.values.allSatisfy(\.isOver) }

    /// What the pipeline does as a whole: it plays while one of its streams does.
    var flow: StreamPlayState {
      streams.values.contains(.playing) ? .playing : streams.values.contains(.stalled) ? .stalled : .requesting
    }
  }
}

extension PipelinePlayer.State {
  /// Notes that the streams stood still, or deliver no frames, for a reason.
  mutating func rest(at now: MonotonicTime, _ configuration: PipelineConfiguration) {
    forgetFailures(at: now, configuration)
    since = now
  }

  /// Forgets earlier failures when the pipeline has played for long enough.
  mutating func forgetFailures(at now: MonotonicTime, _ configuration: PipelineConfiguration) {
    if flow == .playing, !isStill, now >= since.advanced(by: configuration.failuresForgottenAfter) { attempt = 0 }
  }

  /// Waits for the end of all streams, or until the player is to stop. The streams of a dead pipeline have failed.
  ///
  /// - Returns: whether that is the case, or when to look again.
  mutating func look(
    at now: MonotonicTime, _ configuration: PipelineConfiguration
  ) -> Locked<PipelinePlayer.State>.Step<Void> {
    forgetFailures(at: now, configuration)
    guard stopDeadline == nil else { return .done(()) }
    if isOver { return isParked ? .whenWoken : .done(()) }
    if isStill { return .whenWoken }
    if flow == .playing {
      return attempt > 0 ? .at(since.advanced(by: configuration.failuresForgottenAfter)) : .whenWoken
    }
    // The time that a pipeline has for its first frame.
    let wholeTimeout = configuration.stallTimeout + configuration.restartTimeout
    // A pipeline one of whose streams has ended may be silent for any time, too.
    guard !maySendNothing, !streams.values.contains(.ended) else { return .whenWoken }
    let death = since.advanced(by: flow == .stalled ? configuration.restartTimeout : wholeTimeout)
    guard now >= death else { return .at(death) }
    for (id, stream) in streams where !stream.isOver {
      streams[id] = .failed(.stream(.stalled(id, after: wholeTimeout)))
    }
    return .done(())
  }
}
