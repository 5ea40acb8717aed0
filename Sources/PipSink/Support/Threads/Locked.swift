import Glibc

/// State behind one lock, with a condition to wait on.
///
/// It uses a pthread mutex rather than `Synchronization.Mutex`. The latter locks by futex inside the standard library,
/// where ThreadSanitizer cannot see it (with Swift 6.3 it reports a race on every use), and the presenting threads have
/// to wait on a condition.
///
/// `@unchecked Sendable`: the state is only reached through ``withLock(_:)`` and the waiting methods, with the mutex
/// held.
package final class Locked<State: ~Copyable>: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private let state: UnsafeMutablePointer<State>

  /// Takes over the initial state.
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

  /// Calls `body` with the state while the lock is held. `body` must not take the same lock again.
  @inline(__always)
  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&state.pointee)
  }

  /// Replaces the state, and returns the old one, which the caller releases when the lock is free again.
  package func exchange(_ new: State) -> State where State: Copyable {
    withLock { state in
      let old = state
      state = new
      return old
    }
  }

  /// Replaces a part of the state, and returns the old part, which the caller releases when the lock is free again.
  package func exchange<Part>(_ part: WritableKeyPath<State, Part>, _ new: Part) -> Part
  where State: Copyable {
    withLock { state in
      let old = state[keyPath: part]
      state[keyPath: part] = new
      return old
    }
  }

  /// Wakes every waiting thread. Call it after the change that they wait for.
  @inline(__always)
  package func wakeAll() {
    pthread_cond_broadcast(condition)
  }

  /// Blocks until `body` returns a value. `body` is called once at the start and again after each ``wakeAll()``, with
  /// the lock held.
  package func wait<Result>(for body: (inout State) -> Result?) -> Result {
    waitStepwise { state in body(&state).map(Step.done) ?? .whenWoken }
  }

  /// Blocks until `body` returns a value, as ``wait(for:)`` does, and returns nil when `deadline` passes first.
  package func wait<Result>(
    until deadline: MonotonicTime, by clock: SchedulingClock = .system, for body: (inout State) -> Result?
  ) -> Result? {
    waitStepwise(by: clock) { state in
      if let result = body(&state) { return .done(result) }
      return clock.now < deadline ? .at(deadline) : .done(nil)
    }
  }

  /// What a waiting thread does next.
  package enum Step<Result> {
    /// Stop waiting and return this result.
    case done(Result)
    /// Ask again at this moment, or earlier when woken.
    case at(MonotonicTime)
    /// Ask again when woken.
    case whenWoken
  }

  /// Blocks until `body` returns ``Step/done(_:)``. It is called again at the moment that it asks for, and after each
  /// ``wakeAll()``, with the lock held.
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
            // The lock is taken for the threads that have looked at the state and are about to wait: they are woken as
            // well.
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
