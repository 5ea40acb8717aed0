import Histogram

/// Lengths of time, from 1 microsecond to a minute, to two significant digits: an HdrHistogram.
///
/// Every frame of every stream is recorded, so that is done here, in the library's own buckets but a handful of
/// instructions; a histogram of the library is made from them when one is read.
public struct IntervalHistogram: Sendable {
  /// How often each bucket's length of time has come; empty before the first.
  private var counts: [UInt32] = []

  /// How many there are.
  public private(set) var count: UInt64 = 0
  /// All of them together, in nanoseconds, exact.
  private(set) var totalNanoseconds: UInt64 = 0

  /// The longest of them, in microseconds, exact.
  private var maximum: UInt64 = 0

  /// Microseconds; anything longer counts as this.
  private static let longest: UInt64 = 60_000_000
  /// Up to here every microsecond has a bucket of its own; from there on, as many buckets reach twice as far.
  private static let linearBits = 8

  @inline(__always)
  mutating func record(nanoseconds: UInt64) {
    count &+= 1
    totalNanoseconds &+= nanoseconds
    if counts.isEmpty { makeBuckets() }
    let microseconds = min(nanoseconds / 1000, Self.longest)
    maximum = max(maximum, microseconds)
    let bucket = Self.bucket(of: microseconds)
    let (sum, isTooLarge) = counts[bucket].addingReportingOverflow(1)
    if !isTooLarge { counts[bucket] = sum }
  }

  @inline(never)
  private mutating func makeBuckets() {
    counts = Array(repeating: 0, count: Self.bucket(of: Self.longest) + 1)
  }

  /// - Parameter microseconds: at most `longest`.
  @inline(__always)
  private static func bucket(of microseconds: UInt64) -> Int {
    let bits = UInt64.bitWidth - (microseconds | (1 << linearBits - 1)).leadingZeroBitCount
    let shift = bits - linearBits
    return shift << (linearBits - 1) + Int(microseconds >> UInt64(shift))
  }

  /// The least length of time in a bucket, in microseconds.
  private static func microseconds(ofBucket bucket: Int) -> UInt64 {
    let half = 1 << (linearBits - 1)
    let shift = max(0, bucket / half - 1)
    return UInt64(bucket - shift * half) << UInt64(shift)
  }

  private var histogram: Histogram<UInt64> {
    var histogram = Histogram<UInt64>(
      lowestDiscernibleValue: 1, highestTrackableValue: Self.longest, numberOfSignificantValueDigits: .two)
    for (bucket, count) in counts.enumerated() where count > 0 {
      let isLast = bucket == Self.bucket(of: maximum)
      histogram.record(isLast ? maximum : Self.microseconds(ofBucket: bucket), count: UInt64(count))
    }
    return histogram
  }

  /// How many were no longer than this, to two significant digits.
  public func count(upTo limit: Duration) -> UInt64 {
    let microseconds = UInt64(max(0, limit.wholeNanoseconds)) / 1000
    return counts.prefix(Self.bucket(of: min(microseconds, Self.longest)) + 1).reduce(0) { $0 + UInt64($1) }
  }

  /// All of them together, exact.
  public var total: Duration { .nanoseconds(totalNanoseconds) }

  /// What `percentile` (0 to 100) of them do not exceed; nil without any.
  public func value(atPercentile percentile: Double) -> Duration? {
    count == 0 ? nil : .microseconds(histogram.valueAtPercentile(percentile))
  }
}
