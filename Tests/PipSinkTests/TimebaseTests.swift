import Testing

@testable import PipSink
@testable import TestSupport

/// The time of a stream while its rate changes, and who is told of changes.
@Suite struct TimebaseTests {
  @Test func theTimeGoesOnFromWhereItWasWhenTheRateChanges() async {
    let timebase = Timebase(time: MediaTime(value: 10, timescale: 1), rate: 1000)
    let later = MediaTime(value: 11, timescale: 1)
    #expect(await eventually { timebase.time >= later })
    timebase.rate = 0
    let stopped = timebase.time
    #expect(stopped >= later)
    #expect(timebase.time == stopped, "the time stands still")
    timebase.rate = 1
    #expect(timebase.time >= stopped)
    timebase.rate = 0
    timebase.time = .zero
    #expect(timebase.time == .zero)
  }

  @Test func aRateIsNeverNegative() {
    let timebase = Timebase(time: .zero, rate: -2)
    #expect(timebase.rate == 0)
    timebase.rate = 3
    #expect(timebase.rate == 3)
    timebase.rate = -1
    #expect(timebase.rate == 0)
  }

  @Test func everyChangeIsToldUntilTheObserverIsRemoved() {
    let timebase = Timebase()
    let counts = Locked([0, 0])
    let observers = [0, 1].map { index in timebase.addObserver { counts.withLock { $0[index] += 1 } } }
    timebase.rate = 1
    timebase.time = .zero
    #expect(counts.withLock { $0 } == [2, 2])
    timebase.removeObserver(observers[0])
    timebase.rate = 0
    #expect(counts.withLock { $0 } == [2, 3])
    timebase.removeObserver(observers[1])
    timebase.rate = 1
    #expect(counts.withLock { $0 } == [2, 3])
  }
}
