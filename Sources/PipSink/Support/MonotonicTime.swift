import Glibc

/// A moment on the machine's monotonic clock (CLOCK_MONOTONIC), in nanoseconds; it never jumps.
public struct MonotonicTime: Comparable, Sendable {
  public let nanoseconds: UInt64

  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  public static var now: MonotonicTime {
    var time = Glibc.timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
  }

  public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// Nanoseconds from `earlier` to this moment; 0 when `earlier` is later.
  public func nanoseconds(since earlier: MonotonicTime) -> UInt64 {
    nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
  }

  public func advanced(bySeconds seconds: Double) -> MonotonicTime {
    guard seconds > 0 else { return self }
    let sum = Double(nanoseconds) + seconds * 1e9
    return MonotonicTime(nanoseconds: sum < Double(Int64.max) ? UInt64(sum) : UInt64(Int64.max))
  }

  var timespec: Glibc.timespec {
    Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}
