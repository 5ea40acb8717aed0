/// Sends values to any number of `AsyncStream`s and observers. Any thread may use it.
package final class Broadcast<Element: Sendable>: Sendable {
  private struct State {
    var nextKey = 0
    var continuations: [Int: AsyncStream<Element>.Continuation] = [:]
    var observers: [@Sendable (Element) -> Void] = []
  }
  private let state = Locked(State())

  /// Makes a broadcast without receivers.
  package init() {}

  deinit { finish() }

  /// Ends all streams that exist now. Observers stay.
  package func finish() {
    let ended = state.withLock { state in
      defer { state.continuations = [:] }
      return Array(state.continuations.values)
    }
    for continuation in ended { continuation.finish() }
  }

  /// Makes a stream of every value that is sent from now on. A reader that falls behind by `limit` values loses the
  /// oldest ones.
  package func stream(limit: Int = 1024) -> AsyncStream<Element> {
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

  /// Calls `observer` with every value that is sent from now on, on the thread that sends it.
  func observe(_ observer: @escaping @Sendable (Element) -> Void) {
    state.withLock { $0.observers.append(observer) }
  }

  /// Hands a value to every stream and every observer before it returns.
  package func send(_ element: Element) {
    let (continuations, observers) = state.withLock { (Array($0.continuations.values), $0.observers) }
    for continuation in continuations { continuation.yield(element) }
    for observer in observers { observer(element) }
  }
}
