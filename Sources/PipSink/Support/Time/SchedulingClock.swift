/// The clock that the library waits by: until a stream counts as stalled, before the next attempt, for a change to take
/// effect.
///
/// It is the machine's monotonic clock (``system``). A test replaces it by a clock that it moves by hand, and so can
/// check, without waiting, what happens before and at a moment. The arrival times of frames and the durations of
/// operations always come from ``MonotonicTime/now``.
package struct SchedulingClock: Sendable {
  /// A clock that somebody moves by hand.
  package protocol Moved: AnyObject, Sendable {
    /// The clock's time.
    var now: MonotonicTime { get }
    /// Calls `wake` once, on any thread, when the clock reaches `moment`.
    ///
    /// - Returns: a number for ``removeAlarm(_:)``; nil when the moment has passed already, in which case nothing is
    ///   called.
    func setAlarm(at moment: MonotonicTime, _ wake: @escaping @Sendable () -> Void) -> Int?
    /// Removes an alarm. It does nothing for one that has been called.
    func removeAlarm(_ alarm: Int)
  }

  /// The machine's monotonic clock.
  package static var system: SchedulingClock { SchedulingClock() }

  private let moved: (any Moved)?

  /// Makes a clock from one that is moved by hand; nil makes the system's clock.
  package init(_ moved: (any Moved)? = nil) {
    self.moved = moved
  }

  /// The clock's time.
  package var now: MonotonicTime {
    @inline(__always)
    get { if let moved { moved.now } else { .now } }
  }

  /// The moment that is `pause` from now, clamped to the range from now to 31 years from now.
  package func moment(in pause: Duration) -> MonotonicTime {
    now.advanced(by: max(.zero, min(pause, .seconds(1_000_000_000))))
  }

  /// Waits for a moment by means of `body`, which blocks until a moment on the system's clock or until it is woken.
  ///
  /// - Parameters:
  ///   - wake: ends the waiting of `body`. It is called on any thread, and only for a clock that is moved by hand.
  ///   - body: gets the moment on the system's clock. That is `moment` itself or, for a clock that is moved by hand,
  ///     one that has passed or one that never comes.
  @inline(__always)
  package func wait<Result>(
    until moment: MonotonicTime, wokenBy wake: @autoclosure () -> @Sendable () -> Void,
    body: (MonotonicTime) -> Result
  ) -> Result {
    guard let moved else { return body(moment) }
    guard let alarm = moved.setAlarm(at: moment, wake()) else { return body(MonotonicTime(nanoseconds: 0)) }
    defer { moved.removeAlarm(alarm) }
    return body(MonotonicTime(nanoseconds: UInt64(Int64.max)))
  }

  /// Suspends the task until `moment`, or for 31 years if that is shorter.
  ///
  /// - Throws: `CancellationError` when the task is cancelled meanwhile.
  package func sleep(until moment: MonotonicTime) async throws {
    guard let moved else {
      return try await Task.sleep(for: min(MonotonicTime.now.duration(to: moment), .seconds(1_000_000_000)))
    }
    let waking = Completion<Void>()
    let alarm = moved.setAlarm(at: moment) { waking.complete(()) }
    guard let alarm else { return await Task.yield() }
    await withTaskCancellationHandler {
      _ = await waking.value()
    } onCancel: {
      moved.removeAlarm(alarm)
      waking.complete(())
    }
    try Task.checkCancellation()
  }
}
