/// How often something that failed is tried again, and after what pauses.
public struct RetryPolicy: Equatable, Sendable {
  /// How many times it is tried again after the first failure, unless one of these attempts succeeds.
  public var limit: Int
  /// The pause before the first new attempt. Each further pause is twice as long as the one before.
  public var firstPause: Duration
  /// The upper limit of a pause, before ``jitter`` is applied.
  public var longestPause: Duration

  /// By what fraction of itself, from 0 to 1, a pause is lengthened or shortened at random. It keeps many things that
  /// failed at the same moment from trying again at the same moment.
  public var jitter: Double

  /// A policy that never ends. Its pauses grow from half a second to half a minute, each a quarter longer or
  /// shorter at random.
  package static var persistent: RetryPolicy {
    RetryPolicy(limit: .max, firstPause: .milliseconds(500), longestPause: .seconds(30), jitter: 0.25)
  }

  /// Makes a policy. By default it makes five new attempts, after pauses of 0.25, 0.5, 1, 2 and 4 seconds.
  public init(
    limit: Int = 5, firstPause: Duration = .milliseconds(250), longestPause: Duration = .seconds(5), jitter: Double = 0
  ) {
    self.limit = limit
    self.firstPause = firstPause
    self.longestPause = longestPause
    self.jitter = jitter
  }

  /// The pause before an attempt; nil when there are no more attempts.
  ///
  /// - Parameter attempt: the number of the new attempt, counted from 1.
  package func pause(before attempt: Int) -> Duration? {
    guard attempt >= 1, attempt <= limit else { return nil }
    // Pauses are limited to 31 years, since doubling longer ones could exceed what a `Duration` can represent.
    let first = min(firstPause, .seconds(1_000_000_000))
    let pause = min(longestPause, first * (1 << min(attempt - 1, 30)))
    let chance = min(1, max(0, jitter))
    return chance > 0 ? pause * Double.random(in: 1 - chance...1 + chance) : pause
  }
}
