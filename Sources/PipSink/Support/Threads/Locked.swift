import Glibc

/// State behind one lock, with a condition to wait on.
///
/// It is a pthread mutex rather than `Synchronization.Mutex`, because the latter locks by futex inside the standard
/// library, where ThreadSanitizer cannot see it (Swift 6.3 reports a race on every use), and because the presenting
/// threads wait on a condition.
///
/// `@unchecked Sendable`: the state is reached through ``withLock(_:)`` and the waiting calls alone, with the mutex
/// held.
package final class Locked<State: ~Copyable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private let state: UnsafeMutablePointer<State>

  package init(_ initial: consuming sending State) {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    state = .allocate(capacity: 1)
    state.initialize(to: initial)
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    state.deinitialize(count: 1)
    condition.deallocate()
    mutex.deallocate()
    state.deallocate()
  }

  @inline(__always)
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state.pointee)
  }

  /// Wakes every waiting thread. Call it after the change that they wait for.
  @inline(__always)
  package func wakeAll() {
    pthread_cond_broadcast(condition)
  }

  /// Blocks until `body` returns a value; it is asked once at the start and again after each ``wakeAll()``.
  package func wait<Result>(for body: (inout State) -> Result?) -> Result {
    waitStepwise { state in body(&state).map(Step.done) ?? .whenWoken }
  }

  /// The same with a limit: `nil` once `deadline` has passed.
  package func wait<Result>(
    until deadline: MonotonicTime, by clock: SchedulingClock = .system, for body: (inout State) -> Result?
  ) -> Result? {
    waitStepwise(by: clock) { state in
      if let result = body(&state) { return .done(result) }
      return clock.now < deadline ? .at(deadline) : .done(nil)
    }
  }

  /// What a waiting thread is to do next.
  package enum Step<Result> {
    case done(Result)
    /// Ask again at this moment, or when woken.
    case at(MonotonicTime)
    case whenWoken
  }

  /// Blocks until `body` says that it is done; it is asked again as it says, and after each ``wakeAll()``.
  package func waitStepwise<Result>(
    by clock: SchedulingClock = .system, _ body: (inout State) -> Step<Result>
  ) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      switch body(&state.pointee) {
      case .done(let result): return result
      case .whenWoken: pthread_cond_wait(condition, mutex)
      case .at(let moment):
        clock.wait(
          until: moment,
          wokenBy: { [self] in
            // Also those that have looked at the state and are about to wait.
            withLock { _ in }
            wakeAll()
          },
          body: { moment in
            var limit = moment.timespec
            pthread_cond_timedwait(condition, mutex, &limit)
          })
      }
    }
  }
}
