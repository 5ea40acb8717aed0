import CCounter
import Glibc
import Synchronization

/// The clock of frames' times: CLOCK_MONOTONIC, told by the processor's counter.
///
/// To ask the system costs some 25 nanoseconds, most of them for waiting until everything before has been done. For
/// when a frame came that wait is of no use. So the counter is read as it is, and a ``CounterCalibration`` keeps it in
/// step with the system's clock, which is then asked some ten times a second.
///
/// It agrees with ``MonotonicTime/now`` to some microseconds; while the system corrects its clock, to a twentieth of a
/// millisecond; for a tenth of a second after the machine slept, it may be ahead by what that took. By as much one
/// answer may be before the last. Where the counter is not what the kernel itself tells the time by (another processor,
/// a virtual machine that may move) or the process may not read it, it is CLOCK_MONOTONIC itself.
///
/// Any thread may ask at any time; nobody waits for another.
enum CounterClock {
  /// The line that is told by: a sequence lock whose readers ask the system instead of trying again.
  ///
  /// All zero at first, which makes it a constant: otherwise every look would begin by asking the Swift runtime whether
  /// it has been made.
  private struct Line: ~Copyable {
    /// Odd while one thread changes the others.
    let sequence = Atomic<UInt64>(0)
    let counter = Atomic<UInt64>(0)
    let nanoseconds = Atomic<UInt64>(0)
    let speed = Atomic<UInt64>(0)
    let length = Atomic<UInt64>(0)
    /// Nanoseconds on the system's clock. Before them a pair would tell nothing.
    let nextPair = Atomic<UInt64>(0)

    @inline(__always)
    func time(at now: UInt64) -> MonotonicTime? {
      let before = sequence.load(ordering: .acquiring)
      let line = CounterCalibration.Line(
        counter: counter.load(ordering: .relaxed), nanoseconds: nanoseconds.load(ordering: .relaxed),
        speed: speed.load(ordering: .relaxed), length: length.load(ordering: .relaxed))
      atomicMemoryFence(ordering: .acquiring)
      guard before & 1 == 0, sequence.load(ordering: .relaxed) == before else { return nil }
      return line.nanoseconds(at: now).map(MonotonicTime.init(nanoseconds:))
    }

    /// Does `body` unless another thread is doing so.
    func change(_ body: () -> CounterCalibration.Line?) {
      let before = sequence.load(ordering: .relaxed)
      guard before & 1 == 0,
        sequence.compareExchange(expected: before, desired: before &+ 1, ordering: .acquiring).exchanged
      else { return }
      // What is stored from here on is seen with an odd sequence.
      atomicMemoryFence(ordering: .releasing)
      let line = body()
      counter.store(line?.counter ?? 0, ordering: .relaxed)
      nanoseconds.store(line?.nanoseconds ?? 0, ordering: .relaxed)
      speed.store(line?.speed ?? 0, ordering: .relaxed)
      length.store(line?.length ?? 0, ordering: .relaxed)
      sequence.store(before &+ 2, ordering: .releasing)
    }
  }

  private static let line = Line()
  private static let calibration = Locked(CounterCalibration())
  private static let isTold = Atomic<Bool>(isKernelsClock)

  /// Whether the counter is told by on this machine; it takes two tenths of a second of use until it is.
  static var isUsable: Bool { isTold.load(ordering: .relaxed) }

  static var now: MonotonicTime {
    @inline(__always)
    get { told ?? asked() }
  }

  /// The time, if it can be told without asking the system.
  static var told: MonotonicTime? {
    @inline(__always)
    get { line.time(at: pipsink_counter()) }
  }

  /// What the system says; now and then it is also what the counter is told by from here on.
  @inline(never)
  private static func asked() -> MonotonicTime {
    let time = MonotonicTime.now
    guard time.nanoseconds >= line.nextPair.load(ordering: .relaxed) else { return time }
    guard isUsable else {
      line.nextPair.store(.max, ordering: .relaxed)
      return time
    }
    let pair = readPair()
    guard pair.ticks <= ticksBetween else {
      line.nextPair.store(pair.time.nanoseconds + pauseAfterSlowPair, ordering: .relaxed)
      return pair.time
    }
    line.change {
      calibration.withLock { calibration in
        // The kernel finds out when a counter is no good, for instance since those of two processors differ.
        if !calibration.note(counter: pair.counter, nanoseconds: pair.time.nanoseconds), !isKernelsClock {
          isTold.store(false, ordering: .relaxed)
        }
        line.nextPair.store(calibration.nextPair, ordering: .relaxed)
        return calibration.line
      }
    }
    return pair.time
  }

  /// Ticks that reading a pair may take: a microsecond or two. It takes a few hundred, and long when the thread loses
  /// its processor in between.
  private static let ticksBetween: UInt64 = 4000
  /// Nanoseconds. Where every pair takes long, as under an emulator, few are tried.
  private static let pauseAfterSlowPair: UInt64 = 1_000_000

  private static func readPair() -> (counter: UInt64, time: MonotonicTime, ticks: UInt64) {
    let first = pipsink_counter()
    let time = MonotonicTime.now
    let ticks = pipsink_counter() &- first
    return (first &+ ticks / 2, time, ticks)
  }

  /// Whether the kernel itself tells the time by the counter that this process can read: then it runs evenly, and
  /// alike on every processor (Documentation/admin-guide/kernel-parameters.txt, "tsc=").
  private static var isKernelsClock: Bool {
    pipsink_counter_is_readable()
      && firstLine(ofFile: "/sys/devices/system/clocksource/clocksource0/current_clocksource") == "tsc\n"
  }
}
