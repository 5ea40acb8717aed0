/// How often, and after what pauses, something that failed is tried again.
public struct RetryPolicy: Equatable, Sendable {
  /// Tries after the first failure, until one succeeds.
  public var limit: Int
  /// Seconds before the first of them; each further pause is twice as long.
  public var firstPause: Double
  /// Seconds; no pause is longer.
  public var longestPause: Double

  public init(limit: Int = 5, firstPause: Double = 0.25, longestPause: Double = 5) {
    self.limit = limit
    self.firstPause = firstPause
    self.longestPause = longestPause
  }

  /// Seconds to wait before the try with this number, from 1 on; nil when there is none.
  public func pause(before attempt: Int) -> Double? {
    guard attempt >= 1, attempt <= limit else { return nil }
    return min(longestPause, firstPause * Double(1 << min(attempt - 1, 30)))
  }
}
