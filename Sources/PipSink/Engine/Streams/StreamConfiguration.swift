/// The timeouts of a stream with a pipeline of its own, and when it is restarted.
public struct StreamConfiguration: Sendable {
  /// The time without a frame after which a playing stream is stalled.
  public var stallTimeout = Duration.seconds(3)
  /// The time after which a stalled stream is restarted. A stream that has not delivered its first frame is restarted
  /// after ``stallTimeout`` and this time together.
  public var restartTimeout = Duration.seconds(5)
  /// The pauses between restarts after a failure; with nil the stream is not restarted. After a permanent error before
  /// the first frame (``PipSinkError/isPermanent``), such as a file that does not exist, there is no restart.
  public var retryPolicy: RetryPolicy? = .persistent
  /// Whether the end of the stream is treated as a failure. With nil, it is so for a network source of unknown
  /// duration, whose end means that the server has closed the connection.
  public var restartsAtEnd: Bool?
  /// The time of playing after which earlier failures no longer count.
  public var settledAfter = Duration.seconds(10)
  /// The time that a pipeline has to stop before it is abandoned.
  public var stateChangeTimeout = Duration.seconds(5)
  /// Whether the sound of a URI is played as well, on the default output. A URI with only sound or only pictures plays
  /// what it has. The setting has no effect on a stream from a pipeline description.
  public var playsAudio = false

  /// Makes a configuration with the default values.
  public init() {}
}
