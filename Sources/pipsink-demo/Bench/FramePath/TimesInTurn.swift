import Glibc
import PipSink
import Synchronization

/// Has times taken and not taken in turn while frames flow, and finds out what they took in either case.
///
/// It turns on a thread of its own.
final class TimesInTurn: Sendable {
  /// Counts a stream's frames where no lock is in the way: of 64 threads that two processors share some always hold
  /// one and wait to go on, and whoever asked them for their statistics would wait as well.
  private final class Counter: SampleBufferConsumer {
    let count = Atomic<UInt64>(0)
    private let next: any SampleBufferConsumer

    init(next: any SampleBufferConsumer) {
      self.next = next
    }

    func consume(_ sampleBuffer: consuming SampleBuffer) {
      next.consume(sampleBuffer)
      // The stream's thread alone writes it.
      count.store(count.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
  }

  /// Processor time of all threads, and the frames that took it.
  struct Share: Codable {
    var cpuSeconds = 0.0
    var frames: UInt64 = 0

    /// A frame's.
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
    /// Of rounds that are complete.
    var shares = Shares()
    var isOver = false
  }

  /// Whether times are taken in the turns of a round: a machine that gets slower does so for both.
  private static let round = [true, false, false, true]
  /// In seconds. The kernel counts the processor time of other threads by its ticks, of which this is many.
  private static let turn = 0.025

  private let state = Locked(State())
  private let counters = Locked<[Counter]>([])
  private let thread = Locked<WorkerThread?>(nil)

  /// A stream's consumer, in front of its route.
  func counting(_ next: any SampleBufferConsumer) -> any SampleBufferConsumer {
    let counter = Counter(next: next)
    counters.withLock { $0.append(counter) }
    return counter
  }

  func start() {
    let (state, counters) = (state, counters.withLock { $0 })
    let thread = WorkerThread(name: "times-in-turn") {
      // What a start takes.
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

  /// Of all complete rounds; from here on nothing turns.
  func finish() -> Shares {
    state.withLock { $0.isOver = true }
    state.wakeAll()
    thread.withLock { $0 }?.join()
    return state.withLock { $0.shares }
  }

  /// - Returns: false at the end.
  private static func takeTurn(_ state: Locked<State>) -> Bool {
    state.wait(until: MonotonicTime.now.advanced(by: .seconds(turn))) { $0.isOver ? true : nil } == nil
  }

  private static func used(_ counters: [Counter]) -> Share {
    Share(
      cpuSeconds: FramePathStart.seconds(CLOCK_PROCESS_CPUTIME_ID),
      frames: counters.reduce(0) { $0 + $1.count.load(ordering: .relaxed) })
  }
}
