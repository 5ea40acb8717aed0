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
  /// From how long on an interval is a freeze, in nanoseconds; the largest number while there is no average.
  private(set) var limit = UInt64.max

  private var recent = InlineArray<30, UInt64>(repeating: 0)
  private var recentCount = 0
  private var position = 0
  private var sum: UInt64 = 0

  /// Notes the time between two frames.
  @inline(__always)
  mutating func record(nanoseconds: UInt64) {
    if nanoseconds >= limit { add(nanoseconds: nanoseconds) }
    sum = sum &- recent[position] &+ nanoseconds
    recent[position] = nanoseconds
    position = position + 1 == Self.window ? 0 : position + 1
    if recentCount < Self.window { recentCount += 1 }
    guard recentCount >= Self.leastCount else { return }
    let average = sum / UInt64(recentCount)
    limit = max(3 &* average, average &+ Self.leastExcess)
  }

  /// Counts a freeze.
  mutating func add(nanoseconds: UInt64) {
    count &+= 1
    totalNanoseconds &+= nanoseconds
  }
}
