import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct CounterClockTests {
  /// A machine whose counter and clock run at speeds that the test sets.
  private struct Machine {
    var counter: UInt64 = 77_000_000_000
    var nanoseconds: UInt64 = 5_000_000_000
    var calibration = CounterCalibration()

    /// Advances the counter and the clock.
    mutating func run(milliseconds: Double, gigahertz: Double = 2.5, clockSpeed: Double = 1) {
      counter += UInt64(milliseconds * 1e6 * gigahertz)
      nanoseconds += UInt64(milliseconds * 1e6 * clockSpeed)
    }

    @discardableResult
    mutating func note() -> Bool { calibration.note(counter: counter, nanoseconds: nanoseconds) }

    /// The number of nanoseconds by which the counter's time is ahead of the clock.
    var error: Int64? {
      calibration.line?.nanoseconds(at: counter).map { Int64(bitPattern: $0 &- nanoseconds) }
    }

    /// Makes a machine that has noted enough pairs to tell the time.
    static func calibrated(gigahertz: Double = 2.5) -> Machine {
      var machine = Machine()
      for _ in 0..<3 {
        machine.note()
        machine.run(milliseconds: 60, gigahertz: gigahertz)
      }
      return machine
    }
  }

  @Test(arguments: [0.024, 1, 2.445, 5.7])
  func aTimeIsToldOnceThreePairsAgreeOnTheSpeed(gigahertz: Double) throws {
    var machine = Machine()
    machine.note()
    machine.run(milliseconds: 60, gigahertz: gigahertz)
    machine.note()
    #expect(machine.calibration.line == nil)
    machine.run(milliseconds: 60, gigahertz: gigahertz)
    machine.note()
    for _ in 0..<99 {
      let error = try #require(machine.error)
      // The tolerance is one tick and the error of rounding.
      #expect(Double(abs(error)) <= 2 + 1 / gigahertz)
      machine.run(milliseconds: 1, gigahertz: gigahertz)
    }
    machine.run(milliseconds: 2, gigahertz: gigahertz)
    #expect(machine.error == nil, "a line ends after a tenth of a second")
  }

  @Test func aCounterFromBeforeTheLineTellsNothing() throws {
    let line = try #require(Machine.calibrated().calibration.line)
    #expect(line.nanoseconds(at: line.counter) == line.nanoseconds)
    #expect(line.nanoseconds(at: line.counter - 1) == nil)
    #expect(line.nanoseconds(at: 0) == nil)
    #expect(line.nanoseconds(at: line.counter + line.length - 1) != nil)
    #expect(line.nanoseconds(at: line.counter + line.length) == nil)
  }

  @Test func whereNothingIsKnownNothingIsTold() {
    // This also holds for a counter that is always 0, as on a processor that has no counter.
    let line = CounterCalibration.Line(counter: 0, nanoseconds: 0, speed: 0, length: 0)
    for counter in [0, 1, .max] as [UInt64] { #expect(line.nanoseconds(at: counter) == nil) }
  }

  @Test func pairsThatAreTooCloseMeasureNoSpeed() {
    var machine = Machine()
    for _ in 0..<20 {
      // Each pair is wrong by a microsecond, which is a large part of a fifth of a millisecond.
      machine.nanoseconds += 1000
      let agrees = machine.note()
      #expect(agrees)
      machine.nanoseconds -= 1000
      machine.run(milliseconds: 0.2)
    }
    #expect(machine.calibration.line == nil)
  }

  @Test func pairsAreWantedOnlyWhenTheyTellSomething() {
    var machine = Machine()
    #expect(machine.calibration.nextPair <= machine.nanoseconds)
    var noted = 0
    for _ in 0..<1000 {
      if machine.nanoseconds >= machine.calibration.nextPair, machine.error == nil {
        machine.note()
        noted += 1
      }
      machine.run(milliseconds: 1)
    }
    // These are the first two pairs, the third one, which starts the first line, and one pair for each further line.
    #expect((3 + 8...3 + 9).contains(noted))
    // When a pair contradicts the line, the calibration is discarded and starts again at once.
    machine.counter -= 1_000_000_000
    let agrees = machine.note()
    #expect(!agrees)
    #expect(machine.calibration.nextPair <= machine.nanoseconds)
  }

  @Test(arguments: [1.0005, 0.9995])
  func aClockThatIsBeingCorrectedIsFollowedWithoutGoingBack(clockSpeed: Double) throws {
    var machine = Machine.calibrated()
    machine.note()
    var last: UInt64 = 0
    for step in 0..<3000 {
      machine.run(milliseconds: 1, clockSpeed: step < 1500 ? clockSpeed : 1)
      if machine.error == nil {
        let agrees = machine.note()
        #expect(agrees)
      }
      let error = try #require(machine.error)
      // This is the error of a line that was made before the correction. The lines after it are exact again.
      #expect(abs(error) <= 51_000)
      if step % 1500 > 310 { #expect(abs(error) <= 1000) }
      let now = machine.nanoseconds &+ UInt64(bitPattern: error)
      #expect(now >= last)
      last = now
    }
  }

  @Test func pairsThatAreAMicrosecondOffMoveItByLittleMore() throws {
    var machine = Machine.calibrated()
    var random = SeededGenerator(seed: 7)
    var last: UInt64 = 0
    for _ in 0..<5000 {
      machine.run(milliseconds: Double.random(in: 0.1...40, using: &random))
      if machine.error == nil {
        let off = UInt64.random(in: 0...2000, using: &random)
        let agrees = machine.calibration.note(counter: machine.counter, nanoseconds: machine.nanoseconds - 1000 + off)
        #expect(agrees)
      }
      guard let error = machine.error else { continue }
      // This is the error of a pair, and the error of a speed that two such pairs give.
      #expect(abs(error) <= 3000)
      let now = machine.nanoseconds &+ UInt64(bitPattern: error)
      #expect(now >= last)
      last = now
    }
  }

  @Test func afterALongPauseTheTimeIsToldAtOnce() throws {
    var machine = Machine.calibrated()
    // The machine was suspended. The clock stood still, and the counter did not.
    machine.counter += 3_600_000_000_000
    machine.run(milliseconds: 1500)
    let agrees = machine.note()
    #expect(agrees)
    #expect(machine.error == 0)
    machine.run(milliseconds: 90)
    #expect(abs(try #require(machine.error)) <= 2)
  }

  @Test func aCounterThatStoodOrJumpedIsLearnedAnew() throws {
    for jump in [-40_000_000, 400_000_000, -77_000_000_000] as [Int64] {
      var machine = Machine.calibrated()
      machine.note()
      machine.run(milliseconds: 50)
      machine.counter = UInt64(Int64(machine.counter) + jump)
      let agrees = machine.note()
      #expect(!agrees, "a jump of \(jump) ticks")
      #expect(machine.calibration.line == nil)
      for _ in 0..<3 {
        machine.note()
        machine.run(milliseconds: 60)
      }
      #expect(abs(try #require(machine.error)) <= 2)
    }
  }

  @Test func aCounterThatCannotBeOneIsNotToldBy() {
    for gigahertz in [0, 0.000_05, 20] {
      var machine = Machine()
      for _ in 0..<10 {
        machine.note()
        machine.run(milliseconds: 60, gigahertz: gigahertz)
      }
      #expect(machine.calibration.line == nil, "\(gigahertz) GHz")
    }
  }

  /// Several threads read the clock at the same time, for longer than many of its lines last.
  @Test func itAgreesWithTheSystemsClockOnEveryThread() async throws {
    struct Findings {
      var asked = 0
      var told = 0
      /// The largest difference from the system's clock, or the largest step back.
      var worst: UInt64 = 0
      var threadsDone = 0
    }
    let findings = Locked(Findings())
    let end = MonotonicTime.now.advanced(by: .seconds(1.5))
    let threads = (0..<4).map { number in
      WorkerThread(name: "clock \(number)") {
        var mine = Findings()
        var last = MonotonicTime(nanoseconds: 0)
        while last < end {
          let isTold = CounterClock.told != nil
          let before = MonotonicTime.now
          let now = CounterClock.now
          let after = MonotonicTime.now
          mine.asked += 1
          if isTold { mine.told += 1 }
          mine.worst = max(
            mine.worst, before.nanoseconds(since: now), now.nanoseconds(since: after), last.nanoseconds(since: now))
          last = now
        }
        findings.withLock { all in
          all.asked += mine.asked
          all.told += mine.told
          all.worst = max(all.worst, mine.worst)
          all.threadsDone += 1
        }
      }
    }
    for thread in threads { thread?.join() }
    let all = findings.withLock { $0 }
    #expect(all.threadsDone == 4)
    // The limit is in nanoseconds. Most of it is for a system that corrects its clock meanwhile. A thread that is
    // preempted between its two readings of the system's clock only increases the distance between these readings.
    #expect(all.worst < 60_000)
    // On a machine with a usable counter, the counter must give the time for more than half of the readings.
    #expect(CounterClock.isUsable ? all.told > all.asked / 2 : all.told == 0)
  }
}
