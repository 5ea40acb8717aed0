import Testing

@testable import PipSink
@testable import TestSupport

/// The clock by which all code waits. The test advances it.
@Suite struct SchedulingClockTests {
  @Test func aTaskSleepsUntilItsMomentAndNoLonger() async throws {
    let clock = ManualClock()
    let isAwake = Locked(false)
    let sleeper = Task {
      try await clock.clock.sleep(until: clock.clock.moment(in: .seconds(60)))
      isAwake.withLock { $0 = true }
    }
    #expect(await clock.isAwaited(in: 60))
    #expect(clock.advance(by: 59.999) == 0)
    #expect(!isAwake.withLock { $0 })
    #expect(clock.advance(by: 0.001) == 1)
    try await sleeper.value
    #expect(isAwake.withLock { $0 })
    // A moment in the past is not waited for.
    try await clock.clock.sleep(until: clock.now)
    #expect(clock.alarmCount == 0)
  }

  @Test func aTaskThatIsCancelledSleepsNoMore() async throws {
    let clock = ManualClock()
    let sleeper = Task { try await clock.clock.sleep(until: clock.clock.moment(in: .seconds(60))) }
    #expect(await clock.isAwaited(in: 60))
    sleeper.cancel()
    await #expect(throws: CancellationError.self) { try await sleeper.value }
    #expect(clock.alarmCount == 0)
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await clock.clock.sleep(until: clock.clock.moment(in: .seconds(60)))
    }
    await #expect(throws: CancellationError.self) { try await late.value }
  }

  @Test func threadsWaitForTheirMomentOrForAWakeUp() async throws {
    let clock = ManualClock()
    let state = Locked(0)
    let seen = Locked<[String]>([])
    let worker = try #require(
      WorkerThread(name: "waiter") {
        let end = clock.clock.moment(in: .seconds(10))
        let result = state.wait(until: end, by: clock.clock) { $0 > 0 ? $0 : nil }
        seen.withLock { $0.append("\(result ?? -1)") }
        let next = clock.clock.moment(in: .seconds(5))
        let last = state.waitStepwise(by: clock.clock) { _ -> Locked<Int>.Step<String> in
          clock.now < next ? .at(next) : .done("over")
        }
        seen.withLock { $0.append(last) }
      })
    #expect(await clock.isAwaited(in: 10))
    // A thread that is woken without a reason continues to wait for the same moment.
    state.wakeAll()
    clock.advance(by: 9)
    #expect(await clock.isAwaited(in: 1))
    #expect(seen.withLock { $0 } == [])
    clock.advance(by: 1)
    #expect(await clock.isAwaited(in: 5))
    #expect(seen.withLock { $0 } == ["-1"])
    #expect(clock.advance(by: 5) == 1)
    worker.join()
    #expect(seen.withLock { $0 } == ["-1", "over"])
    #expect(clock.alarmCount == 0)
  }

  @Test func aValueThatComesInTimeIsTakenAndALateOneNot() async throws {
    let clock = ManualClock()
    let completions = [Completion<Int>(), Completion<Int>()]
    let tasks = completions.map { completion in
      Task { await completion.value(by: clock.clock.moment(in: .seconds(3)), of: clock.clock) }
    }
    #expect(await eventually { clock.alarmCount == 2 })
    clock.advance(by: 2.9)
    completions[0].complete(1)
    #expect(await tasks[0].value == 1)
    clock.advance(by: 0.1)
    #expect(await tasks[1].value == nil)
    completions[1].complete(2)
    #expect(completions[1].value == 2)
    #expect(await eventually { clock.alarmCount == 0 })
  }

  @Test func timesBeyondAllBoundsAreTakenForTheNearestThatCanBeWaitedFor() {
    let clock = ManualClock()
    #expect(clock.clock.moment(in: .seconds(-1)) == clock.now)
    #expect(clock.clock.moment(in: .seconds(Int64.max)).nanoseconds(since: clock.now) == 1_000_000_000_000_000_000)
    let before = MonotonicTime.now
    #expect(SchedulingClock.system.now >= before)
  }
}
