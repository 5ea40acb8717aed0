import Glibc

/// A moment on the machine's monotonic clock (CLOCK_MONOTONIC), with a resolution of one nanosecond. The clock never
/// jumps.
package struct MonotonicTime: InstantProtocol {
  /// The time since the clock's start, in nanoseconds.
  package let nanoseconds: UInt64

  /// Makes the moment that is `nanoseconds` after the clock's start.
  package init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// The current time, as the system tells it. Any thread may ask.
  package static var now: MonotonicTime {
    var time = Glibc.timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    // The clock's times fit. Each frame takes one, so it goes without the checks for that.
    let seconds = UInt64(truncatingIfNeeded: time.tv_sec)
    return MonotonicTime(nanoseconds: seconds &* 1_000_000_000 &+ UInt64(truncatingIfNeeded: time.tv_nsec))
  }

  /// Whether `left` is earlier than `right`.
  package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
    left.nanoseconds < right.nanoseconds
  }

  /// The nanoseconds from `earlier` to this moment; 0 when `earlier` is later.
  package func nanoseconds(since earlier: MonotonicTime) -> UInt64 {
    nanoseconds > earlier.nanoseconds ? nanoseconds - earlier.nanoseconds : 0
  }

  /// The moment that is `duration` later, rounded to the nanosecond. The result is not earlier than the clock's start
  /// and not later than 292 years after it.
  package func advanced(by duration: Duration) -> MonotonicTime {
    let (sum, isTooLate) = Int64(clamping: nanoseconds).addingReportingOverflow(duration.wholeNanoseconds)
    return MonotonicTime(nanoseconds: isTooLate ? UInt64(Int64.max) : UInt64(max(0, sum)))
  }

  /// The time from this moment to `other`; negative when `other` is earlier.
  package func duration(to other: MonotonicTime) -> Duration {
    .nanoseconds(Int64(clamping: other.nanoseconds(since: self)) - Int64(clamping: nanoseconds(since: other)))
  }

  /// The moment as the C library has it.
  var timespec: Glibc.timespec {
    Glibc.timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}
