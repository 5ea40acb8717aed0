import Testing

@testable import PipSink
@testable import TestSupport

/// The time that a blocking pipeline has for its start and for its stop. The test advances the clock.
@Suite struct StopTimeTests {
  private let clock = ManualClock()

  /// A call that runs in the background, and whether it has returned.
  private final class Call: Sendable {
    private let hasEnded = Locked(false)
    var isOver: Bool { hasEnded.withLock { $0 } }

    init(_ body: @escaping @Sendable () async -> Void) {
      Task.detached { [hasEnded] in
        await body()
        hasEnded.withLock { $0 = true }
      }
    }
  }

  @Test func aPipelineIsNotAbandonedBeforeItsTime() async throws {
    let source = try BlockingSource(.fifo)
    let engine = try VideoEngine(source.pipeline(), clock: clock.clock)
    let start = Call { try? await engine.start(within: .seconds(4)) { _ in CountingConsumer() } }
    #expect(await clock.isAwaited(in: 4))
    clock.advance(by: 3.999)
    #expect(await clock.isAwaited(in: 0.001))
    #expect(!start.isOver)
    #expect(await clock.reach(0.001))
    #expect(await eventually { start.isOver })
    #expect(engine.state == .starting, "the start continues in the background")
    #expect(await eventually { engine.isBlocked })
    let stop = Call { #expect(await engine.stop(within: .seconds(6)) == false) }
    #expect(await clock.isAwaited(in: 6))
    clock.advance(by: 5.999)
    #expect(await clock.isAwaited(in: 0.001))
    #expect(!stop.isOver && engine.abandonedPipelineCount == 0)
    #expect(await clock.reach(0.001))
    #expect(await eventually { stop.isOver })
    #expect(engine.abandonedPipelineCount == 1)
  }

  @Test func callsWaitAsLongAsIsConfigured() async throws {
    let source = try BlockingSource(.fifo)
    let engine = try VideoEngine(source.pipeline(), clock: clock.clock)
    engine.configuration.stateChangeTimeout = .seconds(7)
    engine.configuration.restartTimeout = .seconds(1000)
    let start = Call { try? await engine.start { _ in CountingConsumer() } }
    #expect(await clock.reach(7))
    #expect(await eventually { start.isOver && engine.isBlocked })
    let seek = Call {
      await #expect(throws: PipSinkError.self) { try await engine.seekStream("blocked", to: .zero) }
    }
    #expect(await clock.isAwaited(in: 7))
    clock.advance(by: 6.9)
    #expect(await clock.isAwaited(in: 0.1))
    #expect(!seek.isOver)
    #expect(await clock.reach(0.1))
    #expect(await eventually { seek.isOver })
    // A query of the position may take a quarter of a second. Until it is answered, no further query is sent.
    let question = Call { #expect(await engine.timeline(of: "blocked") == nil) }
    #expect(await clock.isAwaited(in: 0.25))
    #expect(await clock.reach(0.25))
    #expect(await eventually { question.isOver })
    #expect(await engine.timeline(of: "blocked") == nil)
    let stop = Call { await engine.stop() }
    #expect(await clock.reach(7))
    #expect(await eventually { stop.isOver })
    #expect(engine.abandonedPipelineCount == 1)
  }

  @Test func aStreamsPipelineIsAbandonedAtItsTimeAndCountsUntilItStopsAtLast() async throws {
    let source = try BlockingSource(.fifo)
    // The pipelines of other tests may end a little later than these tests.
    #expect(await eventually { PipSink.blockedPipelineCount == 0 })
    var configuration = PipelineConfiguration()
    configuration.stateChangeTimeout = .seconds(9)
    let engine = try VideoEngine(clock: clock.clock)
    try engine.startPlayingStream("a", from: source.pipeline(), configuration: configuration) { _ in
      CountingConsumer()
    }
    // This is the wait for the first frame.
    #expect(await clock.isAwaited(in: 8))
    #expect(await eventually { engine.isBlocked("a") })
    let stop = Call { _ = try? await engine.stopPlayingStream("a") }
    #expect(await clock.isAwaited(in: 9))
    clock.advance(by: 8.99)
    #expect(await clock.isAwaited(in: 0.01))
    #expect(engine.abandonedPipelineCount == 0)
    #expect(await clock.reach(0.01))
    #expect(await eventually { stop.isOver })
    #expect(engine.abandonedPipelineCount == 1)
    #expect(PipSink.blockedPipelineCount == 1)
    #expect(await eventually { source.open(frames: 1) })
    #expect(await eventually { PipSink.blockedPipelineCount == 0 })
  }

  @Test func aStopThatIsDoneInTimeIsNotWaitedForAnyLonger() async throws {
    let engine = try VideoEngine("videotestsrc is-live=true ! appsink name=a", clock: clock.clock)
    for _ in 0..<3 {
      try await engine.start { _ in CountingConsumer() }
      #expect(await engine.stop(within: .seconds(5)))
    }
    #expect(engine.abandonedPipelineCount == 0)
    #expect(await eventually { clock.alarmCount == 0 })
  }

  @Test func whatACallerHasStoppedWaitingForIsNotDoneLater() async throws {
    let source = try BlockingSource(.fifo)
    let engine = try VideoEngine(source.pipeline(), clock: clock.clock)
    let start = Call { try? await engine.start(within: .seconds(1)) { _ in CountingConsumer() } }
    #expect(await clock.reach(1))
    #expect(await eventually { start.isOver && engine.isBlocked })
    let run = try #require(engine.withRun { $0 })
    let done = Locked<[Int]>([])
    let clock = clock
    let perform = { (number: Int, seconds: Double) in
      let deadline = clock.clock.moment(in: .seconds(seconds))
      return Call { _ = await run.perform(by: deadline) { _ in done.withLock { $0.append(number) } } }
    }
    let early = perform(1, 2)
    #expect(await clock.isAwaited(in: 2))
    let late = perform(2, 9)
    #expect(await clock.isAwaited(in: 9))
    #expect(await clock.reach(2))
    #expect(await eventually { early.isOver && !late.isOver })
    #expect(await eventually { source.open(frames: 1) })
    #expect(await eventually { late.isOver })
    #expect(done.withLock { $0 } == [2])
    // The thread has no more work and answers at once.
    #expect(await engine.stop(within: .seconds(60)))
    let after = perform(3, 9)
    #expect(await eventually(within: 20) { after.isOver })
    #expect(done.withLock { $0 } == [2])
  }

  @Test func whatAThreadHasNotDoneAtItsEndIsRefused() throws {
    let pipeline = try Pipeline("videotestsrc ! appsink name=a")
    let thread = PipelineThread(of: pipeline.element, clock: clock.clock)
    let answers = Locked<[Bool]>([])
    let call = { @Sendable (isRunning: Bool) in answers.withLock { $0.append(isRunning) } }
    thread.want { $0.calls.append(call) }
    #expect(answers.withLock { $0.isEmpty })
    thread.end()
    #expect(answers.withLock { $0 } == [false])
    thread.want { $0.calls.append(call) }
    #expect(answers.withLock { $0 } == [false, false])
  }

  @Test func aStopThatAStartHasFollowedIsOverWhenTheOldPipelineHasStopped() async throws {
    let (old, new) = (try BlockingSource(.fifo), try BlockingSource(.fifo))
    let engine = try VideoEngine(clock: clock.clock)
    try engine.startPlayingStream("a", from: old.pipeline()) { _ in CountingConsumer() }
    #expect(await eventually { engine.isBlocked("a") })
    let stop = Call { #expect((try? await engine.stopPlayingStream("a", within: .seconds(50))) == true) }
    #expect(await clock.isAwaited(in: 50))
    try engine.startPlayingStream("a", from: new.pipeline()) { _ in CountingConsumer() }
    #expect(await eventually { old.open() })
    #expect(await eventually(within: 20) { stop.isOver })
    #expect(engine.playState(of: "a") == .requesting)
    let last = Call { _ = try? await engine.stopPlayingStream("a", within: .seconds(50)) }
    #expect(
      await eventually {
        clock.advance(by: 10)
        return last.isOver
      })
  }
}
