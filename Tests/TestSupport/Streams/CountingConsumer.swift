@testable import PipSink

/// A consumer that keeps and counts its frames.
final class CountingConsumer: SampleBufferConsumer {
  private let state = Locked<[SampleBuffer]>([])

  var sampleBuffers: [SampleBuffer] { state.withLock { $0 } }

  func consume(_ sampleBuffer: SampleBuffer) {
    state.withLock { $0.append(sampleBuffer) }
  }

  func removeAll() { state.withLock { $0 = [] } }
}
