/// What the library waits by: until a stream counts as stalled, before the next try, for a change to hold.
///
/// It is the machine's monotonic clock (``system``). A test puts one in its place that it moves by hand, and so sees what
/// happens not before a moment, and what happens then, in no time. When frames came, and how long things took, is told
/// by ``CounterClock`` and ``MonotonicTime/now`` whatever is waited by.
package struct SchedulingClock: Sendable {
  /// A clock that is moved by somebody.
  package protocol Moved: AnyObject, Sendable {
    var now: MonotonicTime { get }
    /// Has `wake` called once, on any thread, when the clock gets to `moment`.
    ///
    /// - Returns: what ``removeAlarm(_:)`` takes; nil when the moment has come already, and then nothing is called.
    func setAlarm(at moment: MonotonicTime, _ wake: @escaping @Sendable () -> Void) -> Int?
    /// Does nothing for one that has been called.
    func removeAlarm(_ alarm: Int)
  }

  package static var system: SchedulingClock { SchedulingClock() }

  private let moved: (any Moved)?

  package init(_ moved: (any Moved)? = nil) {
    self.moved = moved
  }

  /// Whether nobody moves it.
  package var isSystem: Bool { moved == nil }

  package var now: MonotonicTime {
    @inline(__always)
    get { if let moved { moved.now } else { .now } }
  }

  /// So much time from now on; not earlier than now, and not later than in 31 years.
  package func moment(in pause: Duration) -> MonotonicTime {
    now.advanced(by: max(.zero, min(pause, .seconds(1_000_000_000))))
  }

  /// Waits for a moment by `body`, which blocks until another one on the system's clock, or until it is woken.
  ///
  /// - Parameters:
  ///   - wake: ends the waiting of `body`; called on any thread, and only with a clock that somebody moves.
  ///   - body: is given the moment on the system's clock: `moment` itself or, with a clock that somebody moves, one that
  ///     is past or that never comes.
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

  /// Suspends until `moment`, at the longest for 31 years.
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
