@testable import PipSink

/// A clock that a test moves, and that knows who waits for what.
///
/// Whoever waits by it sets an alarm. So a test that has seen the alarm at the moment that it expects may move the clock to
/// just before it: nothing can happen then, and it need not be waited for.
final class ManualClock: SchedulingClock.Moved {
  private struct State {
    var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    var lastAlarm = 0
    var alarms: [Int: (moment: MonotonicTime, wake: @Sendable () -> Void)] = [:]
  }

  private let state = Locked(State())

  /// What is given to those that are to wait by it.
  var clock: SchedulingClock { SchedulingClock(self) }

  var now: MonotonicTime { state.withLock { $0.now } }

  /// How many wait.
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

  /// Goes on, in one jump.
  ///
  /// - Returns: how many are woken by that.
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

  /// Whether anybody waits until so many seconds from now, to a tenth of a millisecond, or soon will.
  func isAwaited(in seconds: Double, within patience: Double = 20) async -> Bool {
    let deadline = MonotonicTime.now.advanced(by: .seconds(patience))
    while !hasAlarm(in: seconds) {
      if MonotonicTime.now > deadline { return false }
      try? await Task.sleep(for: .milliseconds(1))
    }
    return true
  }

  /// Whether anybody waits until then.
  func hasAlarm(in seconds: Double) -> Bool {
    state.withLock { state in
      let wanted = state.now.advanced(by: .seconds(seconds))
      return state.alarms.values.contains { alarm in
        alarm.moment.nanoseconds(since: wanted) < 100_000 && wanted.nanoseconds(since: alarm.moment) < 100_000
      }
    }
  }

  /// Lets so much time pass that all who wait have got what they wait for, and time for them to act on it.
  ///
  /// - Returns: false when somebody waits all the same.
  func pass() async -> Bool {
    for _ in 0..<20 {
      advance(by: 1000)
      for _ in 0..<20 { try? await Task.sleep(for: .milliseconds(1)) }
      if alarmCount == 0 { return true }
    }
    return false
  }

  /// Waits until somebody waits for a moment that is so far off, and goes there.
  ///
  /// - Returns: false when nobody does.
  func reach(_ seconds: Double) async -> Bool {
    guard await isAwaited(in: seconds) else { return false }
    // What is told in seconds may be a little off.
    advance(by: seconds + 1e-5)
    return true
  }
}
