@testable import PipSink

/// A clock that a test advances, and that knows which moments are waited for.
///
/// Code that waits by this clock sets an alarm. When a test has seen the expected alarm, it may advance the clock to
/// just before that moment. Nothing can happen until then, and the test does not need to wait to check that.
final class ManualClock: SchedulingClock.Moved {
  private struct State {
    var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    var lastAlarm = 0
    var alarms: [Int: (moment: MonotonicTime, wake: @Sendable () -> Void)] = [:]
  }

  private let state = Locked(State())

  /// The clock for the code under test.
  var clock: SchedulingClock { SchedulingClock(self) }

  var now: MonotonicTime { state.withLock { $0.now } }

  /// The number of alarms that are set.
  var alarmCount: Int { state.withLock { $0.alarms.count } }

  func setAlarm(at moment: MonotonicTime, _ wake: @escaping @Sendable () -> Void) -> Int? {
    state.withLock { state in
      guard moment > state.now else { return nil }
      state.lastAlarm += 1
      state.alarms[state.lastAlarm] = (moment, wake)
      return state.lastAlarm
    }
  }

  func removeAlarm(_ alarm: Int) {
    state.withLock { _ = $0.alarms.removeValue(forKey: alarm) }
  }

  /// Advances the clock in one step.
  ///
  /// - Returns: the number of alarms that went off.
  @discardableResult
  func advance(by seconds: Double) -> Int {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: .seconds(seconds))
      let due = state.alarms.filter { $0.value.moment <= state.now }
      for alarm in due.keys { state.alarms[alarm] = nil }
      return due.values
    }
    for alarm in due { alarm.wake() }
    return due.count
  }

  /// Waits until an alarm is set for the moment that is `seconds` from now, to a tenth of a millisecond.
  ///
  /// - Returns: false when there is no such alarm within `patience` seconds of real time.
  func isAwaited(in seconds: Double, within patience: Double = 20) async -> Bool {
    let deadline = MonotonicTime.now.advanced(by: .seconds(patience))
    while !hasAlarm(in: seconds) {
      if MonotonicTime.now > deadline { return false }
      try? await Task.sleep(for: .milliseconds(1))
    }
    return true
  }

  /// Whether an alarm is set for the moment that is `seconds` from now.
  func hasAlarm(in seconds: Double) -> Bool {
    state.withLock { state in
      let wanted = state.now.advanced(by: .seconds(seconds))
      return state.alarms.values.contains { alarm in
        alarm.moment.nanoseconds(since: wanted) < 100_000 && wanted.nanoseconds(since: alarm.moment) < 100_000
      }
    }
  }

  /// Advances the clock so far that every alarm goes off, and gives the waiting code time to react. Repeats this until
  /// no alarm is left.
  ///
  /// - Returns: false when there is still an alarm after 20 repetitions.
  func pass() async -> Bool {
    for _ in 0..<20 {
      advance(by: 1000)
      for _ in 0..<20 { try? await Task.sleep(for: .milliseconds(1)) }
      if alarmCount == 0 { return true }
    }
    return false
  }

  /// Waits until an alarm is set for the moment that is `seconds` from now, and advances the clock to that moment.
  ///
  /// - Returns: false when no such alarm is set.
  func reach(_ seconds: Double) async -> Bool {
    guard await isAwaited(in: seconds) else { return false }
    // A number of seconds may be rounded down.
    advance(by: seconds + 1e-5)
    return true
  }
}
