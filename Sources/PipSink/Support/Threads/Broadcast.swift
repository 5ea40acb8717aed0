/// Sends values to any number of `AsyncStream`s.
final class Broadcast<Element: Sendable>: Sendable {
  private struct State {
    var nextKey = 0
    var continuations: [Int: AsyncStream<Element>.Continuation] = [:]
    var observers: [@Sendable (Element) -> Void] = []
  }
  private let state = Locked(State())

  deinit { finish() }

  /// Ends the streams that there are.
  func finish() {
    let ended = state.withLock { state in
      defer { state.continuations = [:] }
      return Array(state.continuations.values)
    }
    for continuation in ended { continuation.finish() }
  }

  /// Everything that is sent from now on. A reader that falls behind by `limit` values loses the oldest.
  func stream(limit: Int = 1024) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(limit))
    let key = state.withLock { state in
      state.nextKey += 1
      state.continuations[state.nextKey] = continuation
      return state.nextKey
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { _ = $0.continuations.removeValue(forKey: key) }
    }
    return stream
  }

  /// Calls `observer` with everything that is sent from now on, on the thread that sends it.
  func observe(_ observer: @escaping @Sendable (Element) -> Void) {
    state.withLock { $0.observers.append(observer) }
  }

  func send(_ element: Element) {
    let (continuations, observers) = state.withLock { (Array($0.continuations.values), $0.observers) }
    for continuation in continuations { continuation.yield(element) }
    for observer in observers { observer(element) }
  }
}
