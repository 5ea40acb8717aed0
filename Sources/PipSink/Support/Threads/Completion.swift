/// A value that is set once. Any number of threads and tasks can wait for it, each with a deadline of its own.
package final class Completion<Value: Sendable>: Sendable {
  /// A task that waits, and the timer that ends its wait.
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

  /// Makes a completion without a value.
  package init() {}

  /// The value; nil while nobody has set it.
  package var value: Value? { state.withLock { $0.value } }

  /// Sets the value and wakes everybody who waits for it. It does nothing when there is a value already.
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

  /// Blocks the calling thread until there is a value.
  package func wait() -> Value { state.wait { $0.value } }

  /// Blocks the calling thread until there is a value, and returns nil when `deadline` passes first.
  package func wait(until deadline: MonotonicTime) -> Value? {
    state.wait(until: deadline) { $0.value }
  }

  /// Suspends the task until there is a value, and returns nil when there is a `deadline` and it passes first.
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
