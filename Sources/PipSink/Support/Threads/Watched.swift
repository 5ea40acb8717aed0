/// State behind a lock, for whose changes tasks wait. Threads wait with ``Locked``.
final class Watched<State>: Sendable {
  /// The state, and what completes with its next change.
  private let contents: Locked<(state: State, change: Completion<Void>)>

  /// Takes over the initial state.
  init(_ initial: sending State) { contents = Locked((initial, Completion())) }

  /// Calls `body` with the state while the lock is held. `body` must not take the same lock again.
  func withLock<Result>(_ body: (inout State) -> Result) -> Result { contents.withLock { body(&$0.state) } }

  /// Changes the state, and has the tasks that wait look at it again.
  @discardableResult
  func change<Result>(_ body: (inout State) -> Result) -> Result {
    let (result, change) = contents.withLock { contents in
      defer { contents.change = Completion() }
      return (body(&contents.state), contents.change)
    }
    change.complete(())
    return result
  }

  /// Suspends until `step` is done. It is called again after each change, and at the moment that it asks for.
  func wait<Result>(
    by clock: SchedulingClock, _ step: (inout State) -> Locked<State>.Step<Result>
  ) async -> Result {
    while true {
      let (next, change) = contents.withLock { (step(&$0.state), $0.change) }
      switch next {
      case .done(let result): return result
      case .at(let moment): _ = await change.value(by: moment, of: clock)
      case .whenWoken: _ = await change.value()
      }
    }
  }
}
