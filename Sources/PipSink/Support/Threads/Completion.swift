/// A value that comes once, and that any number of threads and tasks wait for, each with a deadline of its own.
package final class Completion<Value: Sendable>: Sendable {
  private struct Waiter {
    let continuation: CheckedContinuation<Value?, Never>
    var timer: Task<Void, Never>?
  }

  private struct State {
    var value: Value?
    var lastKey = 0
    var waiters: [Int: Waiter] = [:]
  }

  private let state = Locked(State())

  package init() {}

  /// What has come; nil while nothing has.
  package var value: Value? { state.withLock { $0.value } }

  /// Gives the value to all who wait. Does nothing when there is one already.
  package func complete(_ value: Value) {
    let waiters = state.withLock { state -> [Waiter] in
      guard state.value == nil else { return [] }
      state.value = value
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    state.wakeAll()
    for waiter in waiters {
      waiter.timer?.cancel()
      waiter.continuation.resume(returning: value)
    }
  }

  /// Blocks until the value is there.
  package func wait() -> Value { state.wait { $0.value } }

  /// Blocks until the value is there; nil once `deadline` has passed.
  package func wait(until deadline: MonotonicTime, by clock: SchedulingClock = .system) -> Value? {
    state.wait(until: deadline, by: clock) { $0.value }
  }

  /// Suspends until the value is there; nil once `deadline` has passed, where there is one.
  package func value(by deadline: MonotonicTime? = nil, of clock: SchedulingClock = .system) async -> Value? {
    await withCheckedContinuation { continuation in
      let (value, key) = state.withLock { state -> (Value?, Int) in
        if let value = state.value { return (value, 0) }
        state.lastKey += 1
        state.waiters[state.lastKey] = Waiter(continuation: continuation)
        return (nil, state.lastKey)
      }
      if let value { return continuation.resume(returning: value) }
      guard let deadline else { return }
      let timer = Task.detached { [state] in
        guard (try? await clock.sleep(until: deadline)) != nil else { return }
        state.withLock { $0.waiters.removeValue(forKey: key) }?.continuation.resume(returning: nil)
      }
      let isWaiting = state.withLock { state in
        state.waiters[key]?.timer = timer
        return state.waiters[key] != nil
      }
      if !isWaiting { timer.cancel() }
    }
  }
}
