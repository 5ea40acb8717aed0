/// Measures the rate of frames over about the last second. It costs one comparison for each frame, and one division
/// each second.
struct FrameRateMeter {
  /// The length of a window in nanoseconds.
  private static let window: UInt64 = 1_000_000_000

  private var start: MonotonicTime?
  private var end = MonotonicTime(nanoseconds: 0)
  /// The frames in this window, without the one that it began with.
  private var count = 0
  /// The rate in the last complete window, in frames per second.
  private var last: Double?

  /// Counts a frame that arrived at `now`.
  @inline(__always)
  mutating func countFrame(at now: MonotonicTime) {
    count &+= 1
    if now >= end { beginWindow(at: now) }
  }

  @inline(never)
  private mutating func beginWindow(at now: MonotonicTime) {
    if let start { last = Double(count) * 1e9 / Double(now.nanoseconds(since: start)) }
    start = now
    end = MonotonicTime(nanoseconds: now.nanoseconds + Self.window)
    count = 0
  }

  /// The frames per second in the last complete window; nil during the first window. When frames stop coming, the rate
  /// falls towards 0: it is never higher than it would be if a frame came at `now`.
  func rate(at now: MonotonicTime) -> Double? {
    guard let start, let last else { return nil }
    let elapsed = now.nanoseconds(since: start)
    return elapsed < Self.window ? last : min(last, Double(count + 1) * 1e9 / Double(elapsed))
  }
}
