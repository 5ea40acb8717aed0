import PipSink

/// Calls on their way from the bus to the main actor: so many at most, so that nobody can fill the memory with them,
/// and with pauses, so that the app's own events have their turn on its main thread.
final class CallQueue<Call: Sendable>: Sendable {
  private struct State {
    /// Those that wait or are being carried out.
    var calls: [Call] = []
    var isClosed = false
  }

  static var limit: Int { 64 }
  private static var pause: Duration { .milliseconds(5) }
  private let state = Locked(State())

  /// - Parameter perform: carries out one call; called in the order of the calls.
  /// - Returns: false when as many wait as may.
  func add(_ call: Call, perform: @escaping @MainActor @Sendable (Call) -> Void) -> Bool {
    let (isTaken, isFirst) = state.withLock { state in
      guard !state.isClosed, state.calls.count < Self.limit else { return (false, false) }
      state.calls.append(call)
      return (true, state.calls.count == 1)
    }
    if isFirst { Task { @MainActor in await self.drain(perform) } }
    return isTaken
  }

  /// What waits is dropped; its callers see that the connection goes.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.calls = []
    }
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  @MainActor
  private func drain(_ perform: @MainActor (Call) -> Void) async {
    while true {
      let batch = state.withLock { $0.calls }
      // One of them may be what ends the service.
      for call in batch where !isClosed { perform(call) }
      try? await Task.sleep(for: Self.pause)
      let isEmpty = state.withLock { state in
        state.calls.removeFirst(min(batch.count, state.calls.count))
        return state.calls.isEmpty
      }
      if isEmpty { return }
    }
  }
}
