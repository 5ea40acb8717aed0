/// Frees the idle memory of all pools, on one thread, which exists only while some pool has memory.
final class IdleTrimmer: Sendable {
  static let shared = IdleTrimmer()

  private struct State {
    var watched: [PoolShelves] = []
    var isRunning = false
    var mustLook = false
  }

  private let state = Locked(State())

  /// Begins to watch a pool, which has new memory.
  func watch(_ shelves: PoolShelves) {
    let mustStart = state.withLock { state in
      if !state.watched.contains(where: { $0 === shelves }) { state.watched.append(shelves) }
      state.mustLook = true
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart {
      // If the system refuses a thread, idle memory is not freed until the next attempt.
      if WorkerThread(name: "pip-pool-trim", body: { [self] in run() }) == nil {
        state.withLock { $0.isRunning = false }
      }
    } else {
      state.wakeAll()
    }
  }

  /// Checks the pools again, because a pool or its memory was released.
  func lookAgain() {
    state.withLock { $0.mustLook = true }
    state.wakeAll()
  }

  private func run() {
    while true {
      let watched = state.withLock { state in
        state.mustLook = false
        return state.watched
      }
      let now = MonotonicTime.now
      let times = watched.map { $0.trimIdle(at: now) }
      let isDone = state.withLock { state in
        // If a pool has got new memory meanwhile, all are checked again.
        guard !state.mustLook else { return false }
        state.watched = zip(watched, times).filter { $1 != nil }.map { $0.0 }
        state.isRunning = !state.watched.isEmpty
        return !state.isRunning
      }
      if isDone { return }
      if let next = times.compactMap(\.self).min() { _ = state.wait(until: next) { $0.mustLook ? true : nil } }
    }
  }
}
