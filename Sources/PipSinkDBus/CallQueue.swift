import PipSink

/// Calls on their way from the bus to the main actor. Their number is limited, so that nobody can fill the memory with
/// them. There are pauses between them, so that the app's own events get their turn on the main thread.
final class CallQueue<Call: Sendable>: Sendable {
  private struct State {
    /// The calls that wait or are being carried out.
    var calls: [Call] = []
    var isClosed = false
  }

  /// How many calls may wait.
  static var limit: Int { 64 }
  private static var pause: Duration { .milliseconds(5) }
  private let state = Locked(State())

  /// Adds a call.
  ///
  /// - Parameter perform: carries out one call, in the order in which they were added.
  /// - Returns: false when too many calls wait already.
  func add(_ call: Call, perform: @escaping @MainActor @Sendable (Call) -> Void) -> Bool {
    let (isTaken, isFirst) = state.withLock { state in
      guard !state.isClosed, state.calls.count < Self.limit else { return (false, false) }
      state.calls.append(call)
      return (true, state.calls.count == 1)
    }
    if isFirst { Task { @MainActor in await self.drain(perform) } }
    return isTaken
  }

  /// Drops the calls that wait. Their callers notice that the connection is gone.
  func close() {
    state.withLock { state in
      state.isClosed = true
      state.calls = []
    }
  }

  private var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Carries out calls until none is left.
  @MainActor
  private func drain(_ perform: @MainActor (Call) -> Void) async {
    while true {
      let batch = state.withLock { $0.calls }
      // One of the calls may end the service.
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

/// Hands the calls that a connection receives on to a service, which does not exist yet when the connection starts.
final class CallInbox: Sendable {
  private let queue = CallQueue<BusCall>()
  /// Carries out a call. Calls before it is set are dropped.
  @MainActor var perform: (@MainActor (BusCall) -> Void)?

  /// Takes a call, or refuses it where too many wait already.
  func take(_ call: BusCall) {
    let isTaken = queue.add(call) { self.perform?($0) }
    if !isTaken {
      call.refuse(
        "org.freedesktop.DBus.Error.LimitsExceeded",
        "\(CallQueue<BusCall>.limit) calls are waiting already; wait for their answers")
    }
  }

  /// Drops the calls that wait, and refuses others.
  func close() { queue.close() }
}
