import CCounter
import Glibc
import Synchronization

/// The clock for the times of frames. It is CLOCK_MONOTONIC, computed from the processor's counter.
///
/// Asking the system for the time costs about 25 nanoseconds. Most of that is spent on waiting until all earlier
/// instructions are done, which the arrival time of a frame does not need. So the counter is read without that wait,
/// and a ``CounterCalibration`` keeps it in step with the system's clock, which is then asked about ten times a second.
///
/// The result agrees with ``MonotonicTime/now`` to within some microseconds. While the system corrects its clock, the
/// difference can be a twentieth of a millisecond. For a tenth of a second after the machine has slept, the clock may
/// be ahead by the time that waking up took. One result may be earlier than the previous one by as much. Where the
/// kernel itself does not use the counter (another processor, a virtual machine that may move), or the process may not
/// read it, this is CLOCK_MONOTONIC itself.
///
/// Any thread may ask at any time, and none waits for another.
enum CounterClock {
  /// The line that times are computed from, behind a sequence lock. A reader that meets a writer asks the system
  /// instead of trying again.
  ///
  /// All its fields are zero at first, which makes it a constant. Otherwise every access would begin by asking the
  /// Swift runtime whether the line has been initialised.
  private struct Line: ~Copyable {
    /// Odd while a thread changes the other fields.
    let sequence = Atomic<UInt64>(0)
    let counter = Atomic<UInt64>(0)
    let nanoseconds = Atomic<UInt64>(0)
    let speed = Atomic<UInt64>(0)
    let length = Atomic<UInt64>(0)
    /// From when on another pair is useful, in nanoseconds on the system's clock.
    let nextPair = Atomic<UInt64>(0)

    /// The time at a counter value; nil outside of the line, and while another thread changes it.
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

    /// Replaces the line by what `body` returns, unless another thread is replacing it.
    func change(_ body: () -> CounterCalibration.Line?) {
      let before = sequence.load(ordering: .relaxed)
      guard before & 1 == 0,
        sequence.compareExchange(expected: before, desired: before &+ 1, ordering: .acquiring).exchanged
      else { return }
      // Everybody who sees what is stored from here on also sees the odd sequence.
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

  /// Whether times are computed from the counter on this machine. They are after two tenths of a second of use.
  static var isUsable: Bool { isTold.load(ordering: .relaxed) }

  /// The time now: from the counter where that is possible, otherwise from the system.
  static var now: MonotonicTime {
    @inline(__always)
    get { told ?? asked() }
  }

  /// The time from the counter; nil where the system has to be asked.
  static var told: MonotonicTime? {
    @inline(__always)
    get { line.time(at: pipsink_counter()) }
  }

  /// Asks the system for the time. Now and then it also takes a pair for the calibration.
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
        // The kernel notices when a counter is unusable, for instance because the counters of two processors differ.
        if !calibration.note(counter: pair.counter, nanoseconds: pair.time.nanoseconds), !isKernelsClock {
          isTold.store(false, ordering: .relaxed)
        }
        line.nextPair.store(calibration.nextPair, ordering: .relaxed)
        return calibration.line
      }
    }
    return pair.time
  }

  /// How many ticks reading a pair may take: one or two microseconds. It normally takes a few hundred ticks, and far
  /// longer when the thread loses its processor in between.
  private static let ticksBetween: UInt64 = 4000
  /// The pause after a pair that took too long, in nanoseconds. Where every pair takes long, as in an emulator, few are
  /// tried.
  private static let pauseAfterSlowPair: UInt64 = 1_000_000

  private static func readPair() -> (counter: UInt64, time: MonotonicTime, ticks: UInt64) {
    let first = pipsink_counter()
    let time = MonotonicTime.now
    let ticks = pipsink_counter() &- first
    return (first &+ ticks / 2, time, ticks)
  }

  /// Whether the kernel itself keeps the time by the counter that this process can read. If so, the counter runs
  /// evenly, and equally on every processor (Documentation/admin-guide/kernel-parameters.txt, "tsc=").
  private static var isKernelsClock: Bool {
    pipsink_counter_is_readable()
      && firstLine(ofFile: "/sys/devices/system/clocksource/clocksource0/current_clocksource") == "tsc\n"
  }
}
