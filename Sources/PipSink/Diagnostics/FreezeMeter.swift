/// Counts a stream's freezes as "Identifiers for WebRTC's Statistics API" (W3C) does in `freezeCount` and
/// `totalFreezesDuration`: a frame comes so late that the time since the frame before is at least three times the
/// average, and at least 150 milliseconds longer than it.
///
/// The average is that of the last 30 intervals, without the one in question. Before five intervals there is none.
struct FreezeMeter: Sendable {
  private static let window = 30
  private static let leastCount = 5
  private static let leastExcess: UInt64 = 150_000_000

  /// The number of freezes that are over.
  private(set) var count: UInt64 = 0
  /// Their time, in nanoseconds.
  private(set) var totalNanoseconds: UInt64 = 0
  private var recent = InlineArray<30, UInt64>(repeating: 0)
  private var recentCount = 0
  private var position = 0
  private var sum: UInt64 = 0

  /// Notes the time between two frames.
  @inline(__always)
  mutating func record(nanoseconds: UInt64) {
    // This goes without the division that the average takes, since it is done for every frame.
    if recentCount >= Self.leastCount, nanoseconds &* UInt64(recentCount) >= limitSum { add(nanoseconds: nanoseconds) }
    sum = sum &- recent[position] &+ nanoseconds
    recent[position] = nanoseconds
    position = position + 1 == Self.window ? 0 : position + 1
    if recentCount < Self.window { recentCount += 1 }
  }

  /// From how long on an interval is a freeze, in nanoseconds; the largest number while there is no average.
  var limit: UInt64 {
    let count = UInt64(recentCount)
    return recentCount < Self.leastCount ? .max : (limitSum + count - 1) / count
  }

  /// The shortest freeze, multiplied by the number of intervals that the average is of.
  private var limitSum: UInt64 { max(3 &* sum, sum &+ Self.leastExcess &* UInt64(recentCount)) }

  /// Counts a freeze.
  mutating func add(nanoseconds: UInt64) {
    count &+= 1
    totalNanoseconds &+= nanoseconds
  }
}
