@testable import PipSink

/// A consumer that counts its frames, and keeps them unless it is made not to.
final class CountingConsumer: SampleBufferConsumer {
  private struct State {
    var count = 0
    var sampleBuffers: [SampleBuffer] = []
  }

  private let keepsFrames: Bool
  private let state = Locked(State())

  /// - Parameter keepsFrames: whether frames are kept. Sources with few buffers stand still when nobody returns them.
  init(keepsFrames: Bool = true) { self.keepsFrames = keepsFrames }

  /// The number of frames that have come, with those that were removed.
  var count: Int { state.withLock { $0.count } }
  var sampleBuffers: [SampleBuffer] { state.withLock { $0.sampleBuffers } }

  func consume(_ sampleBuffer: SampleBuffer) {
    state.withLock { state in
      state.count += 1
      if keepsFrames { state.sampleBuffers.append(sampleBuffer) }
    }
  }

  func removeAll() { _ = state.exchange(\.sampleBuffers, []) }
}
