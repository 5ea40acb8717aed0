/// The timeouts of a pipeline, and when it is started again.
public struct PipelineConfiguration: Sendable {
  /// The time without a frame after which a playing stream is stalled; 10 milliseconds at least.
  public var stallTimeout = Duration.seconds(3)
  /// The time after which a pipeline is started again when none of its streams delivers frames any more and at least
  /// one is stalled. A pipeline that has not delivered a frame since its start is started again after ``stallTimeout``
  /// and this time together.
  ///
  /// While one stream of a pipeline plays, another one that is stalled waits, since a new start would interrupt both. A
  /// pipeline is not started again for a stall when one of its streams has ended, because that stream would begin
  /// again, or when it reads only files, because a film may have pictures that are far apart.
  public var restartTimeout = Duration.seconds(5)
  /// The pauses between restarts after a failure; with nil the pipeline is not restarted. A pipeline has failed when
  /// all its streams have failed. After permanent errors before the first frame (``PipSinkError/isPermanent``), such as
  /// a file that does not exist, there is no restart.
  public var retryPolicy: RetryPolicy? = .persistent
  /// Whether the end of a stream is treated as a failure. With nil, it is so for a network source of unknown duration,
  /// whose end means that the server has closed the connection.
  package var restartsAtEnd: Bool?
  /// The time of playing after which earlier failures no longer count.
  package var failuresForgottenAfter = Duration.seconds(10)
  /// The time that a pipeline has to stop before it is abandoned (``EngineEvent/abandoned(_:)``).
  public var stateChangeTimeout = Duration.seconds(5)
  /// The number of abandoned pipelines that still block from which on no other is started in their place, since each
  /// keeps threads and memory.
  package var blockedLimit = 3
  /// Whether the sound of a URI is played as well, on the default output. A URI with only sound or only pictures plays
  /// what it has. The setting has no effect on a pipeline description.
  public var playsAudio = false

  /// Makes a configuration with the default values.
  public init() {}
}
