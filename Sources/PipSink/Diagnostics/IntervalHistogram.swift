import Histogram

/// A distribution of durations from 1 microsecond to a minute, with two significant digits: an HdrHistogram.
///
/// It records a duration for every frame of every stream. So it keeps the library's buckets itself, which takes a
/// handful of instructions, and only makes a histogram of the library when one is read.
public struct IntervalHistogram: Sendable {
  /// How often a duration fell into each bucket; empty before the first one.
  private var counts: [UInt32] = []

  /// How many durations have been recorded.
  public private(set) var count: UInt64 = 0
  /// The exact sum of all durations, in nanoseconds.
  private(set) var totalNanoseconds: UInt64 = 0

  /// The exact longest duration, in microseconds.
  private var maximum: UInt64 = 0

  /// The upper limit in microseconds; longer durations count as this.
  private static let longest: UInt64 = 60_000_000
  /// Durations below this many bits have a bucket for every microsecond. Above that, each group of as many buckets
  /// covers twice the range of the group before.
  private static let linearBits = 8

  /// Records one duration.
  @inline(__always)
  mutating func record(nanoseconds: UInt64) {
    count &+= 1
    totalNanoseconds &+= nanoseconds
    if counts.isEmpty { makeBuckets() }
    let microseconds = min(nanoseconds / 1000, Self.longest)
    maximum = max(maximum, microseconds)
    let bucket = Self.bucket(of: microseconds)
    if counts[bucket] != .max { counts[bucket] &+= 1 }
  }

  @inline(never)
  private mutating func makeBuckets() {
    counts = Array(repeating: 0, count: Self.bucket(of: Self.longest) + 1)
  }

  /// The index of the bucket for a duration.
  ///
  /// - Parameter microseconds: at most `longest`.
  @inline(__always)
  private static func bucket(of microseconds: UInt64) -> Int {
    let bits = UInt64.bitWidth - (microseconds | (1 << linearBits - 1)).leadingZeroBitCount
    let shift = bits - linearBits
    return shift << (linearBits - 1) + Int(microseconds >> UInt64(shift))
  }

  /// The shortest duration in a bucket, in microseconds.
  private static func microseconds(ofBucket bucket: Int) -> UInt64 {
    let half = 1 << (linearBits - 1)
    let shift = max(0, bucket / half - 1)
    return UInt64(bucket - shift * half) << UInt64(shift)
  }

  /// The library's histogram with these counts.
  private var histogram: Histogram<UInt64> {
    var histogram = Histogram<UInt64>(
      lowestDiscernibleValue: 1, highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .two)
    for (bucket, count) in counts.enumerated() where count > 0 {
      let isLast = bucket == Self.bucket(of: maximum)
      histogram.record(isLast ? maximum : Self.microseconds(ofBucket: bucket), count: UInt64(count))
    }
    return histogram
  }

  /// How many durations were no longer than `limit`, to two significant digits.
  package func count(upTo limit: Duration) -> UInt64 {
    let microseconds = UInt64(max(0, limit.wholeNanoseconds)) / 1000
    return counts.prefix(Self.bucket(of: min(microseconds, Self.longest)) + 1).reduce(0) { $0 + UInt64($1) }
  }

  /// The exact sum of all durations.
  package var total: Duration { .nanoseconds(totalNanoseconds) }

  /// The duration that `percentile` (0 to 100) percent of the recorded ones do not exceed; nil when there are none.
  public func value(atPercentile percentile: Double) -> Duration? {
    count == 0 ? nil : .microseconds(histogram.valueAtPercentile(percentile))
  }
}
