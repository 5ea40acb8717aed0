import Synchronization

/// What a stream shares with its surfaces: what becomes of its frames there, and the colours that it has on all of them.
///
/// The surfaces' presenting threads write it, so that a streaming thread never waits for it. A frame counts once, when
/// a surface tries it first: pictures that are shown again do not count.
final class PresentationTally: Sendable {
  struct Counts {
    var shown: UInt64 = 0
    var late: UInt64 = 0
    var hidden: UInt64 = 0
    var failed: UInt64 = 0
    var latencies = IntervalHistogram()
  }

  private let state = Locked(Counts())
  private let balance = Atomic<UInt64>(ColorBalance.neutral.word)

  /// How the stream's colours are changed when its frames are shown.
  var colorBalance: ColorBalance {
    get { ColorBalance(word: balance.load(ordering: .relaxed)) }
    set { balance.store(newValue.word, ordering: .relaxed) }
  }

  var counts: Counts { state.withLock { $0 } }

  func count(_ change: (inout Counts) -> Void) {
    state.withLock { change(&$0) }
  }

  /// The renderer has just returned.
  func countShown(_ sampleBuffer: SampleBuffer) {
    let latency = sampleBuffer.receivedAt.map { CounterClock.now.nanoseconds(since: $0) }
    count { counts in
      counts.shown += 1
      if let latency { counts.latencies.record(nanoseconds: latency) }
    }
  }
}
