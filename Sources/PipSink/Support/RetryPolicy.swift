/// How often, and after what pauses, something that failed is tried again.
public struct RetryPolicy: Equatable, Sendable {
  /// Tries after the first failure, until one succeeds.
  public var limit: Int
  /// Seconds before the first of them; each further pause is twice as long.
  public var firstPause: Double
  /// Seconds; no pause is longer.
  public var longestPause: Double

  /// By how much of itself a pause is made longer or shorter by chance, from 0 to 1, so that many that failed together
  /// do not try again together.
  public var jitter: Double

  public init(limit: Int = 5, firstPause: Double = 0.25, longestPause: Double = 5, jitter: Double = 0) {
    self.limit = limit
    self.firstPause = firstPause
    self.longestPause = longestPause
    self.jitter = jitter
  }

  /// Seconds to wait before the try with this number, from 1 on; nil when there is none.
  public func pause(before attempt: Int) -> Double? {
    guard attempt >= 1, attempt <= limit else { return nil }
    let pause = min(longestPause, firstPause * Double(1 << min(attempt - 1, 30)))
    let chance = min(1, max(0, jitter))
    return chance > 0 ? pause * Double.random(in: 1 - chance...1 + chance) : pause
  }
}
