import Histogram

/// Lengths of time, from 1 microsecond to a minute, to two significant digits (HdrHistogram).
public struct IntervalHistogram: Sendable {
  private var histogram = Histogram<UInt32>(
    lowestDiscernibleValue: 1, highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .two)

  /// Microseconds; anything longer counts as this.
  private static let longest: UInt64 = 60_000_000

  /// All of them together, in nanoseconds, exact.
  public private(set) var totalNanoseconds: UInt64 = 0

  mutating func record(nanoseconds: UInt64) {
    histogram.record(min(nanoseconds / 1000, Self.longest))
    totalNanoseconds &+= nanoseconds
  }

  public var count: UInt64 { histogram.totalCount }

  /// How many were no longer than this, to two significant digits.
  public func count(upToNanoseconds nanoseconds: UInt64) -> UInt64 {
    histogram.count(within: 0...min(nanoseconds / 1000, Self.longest))
  }

  /// The interval, in nanoseconds, that `percentile` (0 to 100) of the intervals do not exceed; nil without any.
  public func nanoseconds(atPercentile percentile: Double) -> UInt64? {
    count == 0 ? nil : histogram.valueAtPercentile(percentile) * 1000
  }
}
