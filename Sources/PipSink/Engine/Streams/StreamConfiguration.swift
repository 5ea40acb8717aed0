/// When a stream with a pipeline of its own is started again, and what it is waited for.
public struct StreamConfiguration: Sendable {
  /// After this time without a frame a stream that was playing counts as stalled.
  public var stallTimeout = Duration.seconds(3)
  /// After this time of stalling it is started again. For its first frame it may take both together.
  public var restartTimeout = Duration.seconds(5)
  /// What follows a failure that may pass; nil leaves it failed. One that is permanent before the first frame
  /// (``PipSinkError/isPermanent``), such as a file that does not exist, is not tried again.
  public var retryPolicy: RetryPolicy? = .persistent
  /// Whether an end is taken for a failure; nil takes it so of a network source that does not know how long it is: a
  /// server that closes the connection.
  public var restartsAtEnd: Bool?
  /// After this time of playing earlier failures are forgotten.
  public var settledAfter = Duration.seconds(10)
  /// The time that a pipeline has for its stop before it is given up.
  public var stateChangeTimeout = Duration.seconds(5)
  /// Whether the sound of a URI is played as well, on the default output. A URI that has only sound or only pictures
  /// plays what it has.
  public var playsAudio = false

  public init() {}
}
