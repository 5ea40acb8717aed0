import Synchronization

/// Whether frames' times are taken (``RenderStatistics/takesTimes``).
enum FrameTimes {
  private static let state = Atomic<Bool>(true)

  static var areTaken: Bool {
    get { state.load(ordering: .relaxed) }
    set { state.store(newValue, ordering: .relaxed) }
  }
}

/// The rate of frames over the last second or so. It costs a frame a comparison, and a division a second.
struct FrameRateMeter {
  /// Nanoseconds.
  private static let window: UInt64 = 1_000_000_000

  private var start: MonotonicTime?
  private var end = MonotonicTime(nanoseconds: 0)
  /// Frames after the one that the window began with.
  private var count = 0
  private var last: Double?

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

  /// Frames a second in the last window that is complete. When frames stay away it falls towards 0: it is never more
  /// than it would be if one came now. Nil in the first second.
  func rate(at now: MonotonicTime) -> Double? {
    guard let start, let last else { return nil }
    let elapsed = now.nanoseconds(since: start)
    return elapsed < Self.window ? last : min(last, Double(count + 1) * 1e9 / Double(elapsed))
  }
}
