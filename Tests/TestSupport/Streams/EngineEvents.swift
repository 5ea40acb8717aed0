@testable import PipSink

extension VideoEngine {
  /// Starts the engine and collects its events until every stream has ended. A pipeline that fails is not started
  /// again.
  func runToEnd(_ consumers: @escaping @Sendable (StreamID) -> any SampleBufferConsumer) async throws -> [EngineEvent] {
    configuration.retryPolicy = nil
    let events = events()
    try await start(deliveringTo: consumers)
    var seen: [EngineEvent] = []
    for await event in events {
      seen.append(event)
      if case .finished = event { break }
    }
    await stop()
    return seen
  }
}

extension [EngineEvent] {
  var endedStreams: [StreamID] {
    compactMap { if case .streamStateChanged(let id, .ended) = $0 { id } else { nil } }
  }

  var failedStreams: [StreamID] {
    compactMap { if case .streamStateChanged(let id, .failed) = $0 { id } else { nil } }
  }
}
