import Glibc
import PipSink
import Synchronization

/// Switches the taking of times on and off in turn while frames flow, and measures what frames cost in either case.
///
/// A thread of its own does the switching.
final class TimesInTurn: Sendable {
  /// Counts a stream's frames without a lock. When 64 threads share two processors, some of them always hold their
  /// stream's lock while they wait for a processor, and reading their statistics would wait for them.
  private final class Counter: SampleBufferConsumer {
    let count = Atomic<UInt64>(0)
    private let next: any SampleBufferConsumer

    init(next: any SampleBufferConsumer) {
      self.next = next
    }

    func consume(_ sampleBuffer: consuming SampleBuffer) {
      next.consume(sampleBuffer)
      // Only the stream's thread writes the count.
      count.store(count.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
  }

  /// The processor time of all threads, and the number of frames that took it.
  struct Share: Codable {
    var cpuSeconds = 0.0
    var frames: UInt64 = 0

    /// The processor time of one frame, in microseconds.
    var frameMicroseconds: Double { cpuSeconds / Double(frames) * 1e6 }

    static func - (left: Share, right: Share) -> Share {
      Share(cpuSeconds: left.cpuSeconds - right.cpuSeconds, frames: left.frames - right.frames)
    }

    static func += (left: inout Share, right: Share) {
      left.cpuSeconds += right.cpuSeconds
      left.frames += right.frames
    }
  }

  struct Shares: Codable {
    var timed = Share()
    var untimed = Share()
  }

  private struct State {
    /// The sums of the complete rounds.
    var shares = Shares()
    var isOver = false
  }

  /// Whether times are taken, for each turn of a round. The order makes a machine that gets slower do so for both
  /// cases.
  private static let round = [true, false, false, true]
  /// The length of a turn in seconds. The kernel counts the processor time of other threads in ticks, and a turn has
  /// many of them.
  private static let turn = 0.025

  private let state = Locked(State())
  private let counters = Locked<[Counter]>([])
  private let thread = Locked<WorkerThread?>(nil)

  /// Makes a consumer that counts a stream's frames and passes them on.
  func counting(_ next: any SampleBufferConsumer) -> any SampleBufferConsumer {
    let counter = Counter(next: next)
    counters.withLock { $0.append(counter) }
    return counter
  }

  func start() {
    let (state, counters) = (state, counters.withLock { $0 })
    let thread = WorkerThread(name: "times-in-turn") {
      // The first turn, with the start of the pipeline, does not count.
      guard Self.takeTurn(state) else { return }
      var used = Self.used(counters)
      while true {
        var shares = Shares()
        for takesTimes in Self.round {
          RenderStatistics.takesTimes = takesTimes
          guard Self.takeTurn(state) else { return }
          let before = used
          used = Self.used(counters)
          if takesTimes { shares.timed += used - before } else { shares.untimed += used - before }
        }
        let round = shares
        state.withLock { state in
          state.shares.timed += round.timed
          state.shares.untimed += round.untimed
        }
      }
    }
    self.thread.withLock { $0 = thread }
  }

  /// Ends the switching.
  ///
  /// - Returns: the sums of all complete rounds.
  func finish() -> Shares {
    state.withLock { $0.isOver = true }
    state.wakeAll()
    thread.withLock { $0 }?.join()
    return state.withLock { $0.shares }
  }

  /// - Returns: false when the switching must end.
  private static func takeTurn(_ state: Locked<State>) -> Bool {
    state.wait(until: MonotonicTime.now.advanced(by: .seconds(turn))) { $0.isOver ? true : nil } == nil
  }

  private static func used(_ counters: [Counter]) -> Share {
    Share(
      cpuSeconds: FramePathStart.seconds(CLOCK_PROCESS_CPUTIME_ID),
      frames: counters.reduce(0) { $0 + $1.count.load(ordering: .relaxed) })
  }
}
