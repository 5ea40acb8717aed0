@testable import PipSink

/// A consumer that keeps all frames.
final class FrameCollector: SampleBufferConsumer {
  private let all = Locked<[SampleBuffer]>([])
  var frames: [SampleBuffer] { all.withLock { $0 } }
  func consume(_ sampleBuffer: SampleBuffer) { all.withLock { $0.append(sampleBuffer) } }
  func drop() { all.withLock { $0 = [] } }
}
