import Glibc

/// A moment on the machine's monotonic clock (CLOCK_MONOTONIC), in nanoseconds; it never jumps.
public struct MonotonicTime: InstantProtocol {
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
  package func nanoseconds(since earlier: MonotonicTime) -> UInt64 {
    nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
  }

  /// To the nanosecond; not before the clock's own beginning, and not later than in 292 years.
  public func advanced(by duration: Duration) -> MonotonicTime {
    let (sum, isTooLate) = Int64(clamping: nanoseconds).addingReportingOverflow(duration.wholeNanoseconds)
    return MonotonicTime(nanoseconds: isTooLate ? UInt64(Int64.max) : UInt64(max(0, sum)))
  }

  public func duration(to other: MonotonicTime) -> Duration {
    .nanoseconds(Int64(clamping: other.nanoseconds(since: self)) - Int64(clamping: nanoseconds(since: other)))
  }

  var timespec: Glibc.timespec {
    Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}
