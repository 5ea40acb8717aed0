/// How often, and after what pauses, something that failed is tried again.
public struct RetryPolicy: Equatable, Sendable {
  /// Tries after the first failure, until one succeeds.
  public var limit: Int
  /// The time before the first of them; each further pause is twice as long.
  public var firstPause: Duration
  /// No pause is longer.
  public var longestPause: Duration

  /// By how much of itself a pause is made longer or shorter by chance, from 0 to 1, so that many that failed together
  /// do not try again together.
  public var jitter: Double

  /// Tries again for as long as it is wanted: after half a second first, and every half a minute in the end, a quarter
  /// of that sooner or later.
  public static var persistent: RetryPolicy {
    RetryPolicy(limit: .max, firstPause: .milliseconds(500), longestPause: .seconds(30), jitter: 0.25)
  }

  public init(
    limit: Int = 5, firstPause: Duration = .milliseconds(250), longestPause: Duration = .seconds(5), jitter: Double = 0
  ) {
    self.limit = limit
    self.firstPause = firstPause
    self.longestPause = longestPause
    self.jitter = jitter
  }

  /// What to wait before the try with this number, from 1 on; nil when there is none.
  public func pause(before attempt: Int) -> Duration? {
    guard attempt >= 1, attempt <= limit else { return nil }
    // 31 years and more: nobody waits for so long, and twice as much of it could be no `Duration` any more.
    let first = min(firstPause, .seconds(1_000_000_000))
    let pause = min(longestPause, first * (1 << min(attempt - 1, 30)))
    let chance = min(1, max(0, jitter))
    return chance > 0 ? pause * Double.random(in: 1 - chance...1 + chance) : pause
  }
}
