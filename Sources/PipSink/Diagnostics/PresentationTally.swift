import Synchronization

/// What becomes of a stream's frames on its surfaces.
///
/// Presenting threads write it, so that no streaming thread ever waits for it. A frame counts once, when a renderer
/// first tries it; frames that are shown again do not count.
final class PresentationTally: Sendable {
  /// What has become of the stream's frames so far.
  struct Counts {
    var shown: UInt64 = 0
    var drawnByOpenGL: UInt64 = 0
    var drawnByDisplayServer: UInt64 = 0
    var late: UInt64 = 0
    var hidden: UInt64 = 0
    var failed: UInt64 = 0
    var latencies = IntervalHistogram()
    var screenLatencies = IntervalHistogram()
    var missedRefreshes: UInt64 = 0
  }

  private let state = Locked(Counts())
  private let isFailing = Atomic(false)
  /// Called on a presenting thread with the error when the stream cannot be shown, and with nil when it can again.
  private let failureHandler: @Sendable (RenderingError?) -> Void

  init(failureHandler: @escaping @Sendable (RenderingError?) -> Void = { _ in }) {
    self.failureHandler = failureHandler
  }

  /// Notes whether the stream's newest picture could be shown.
  func note(_ failure: RenderingError?) {
    let (isFailure, wasFailure) = (failure != nil, isFailing.load(ordering: .relaxed))
    guard isFailure != wasFailure, isFailing.exchange(isFailure, ordering: .relaxed) == wasFailure else { return }
    failureHandler(failure)
  }

  var counts: Counts { state.withLock { $0 } }

  /// Changes the counts with the lock held.
  func count(_ change: (inout Counts) -> Void) {
    state.withLock { change(&$0) }
  }

  /// Counts a frame whose renderer has just returned.
  ///
  /// - Parameter drawer: who makes the picture for a screen; nil elsewhere.
  func countShown(_ sampleBuffer: SampleBuffer, drawnBy drawer: FrameDrawer? = nil) {
    let latency = sampleBuffer.receivedAt.map { MonotonicTime.now.nanoseconds(since: $0) }
    count { counts in
      counts.shown += 1
      switch drawer {
      case .openGL: counts.drawnByOpenGL += 1
      case .displayServer: counts.drawnByDisplayServer += 1
      case .processor, nil: break
      }
      if let latency { counts.latencies.record(nanoseconds: latency) }
    }
  }
}
