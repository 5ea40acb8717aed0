import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// What the engine does with a pipeline of several streams when these fail or stall. The test advances the clock.
@Suite(.timeLimit(.minutes(2))) struct EngineRestartTests {
  private let clock = ManualClock()

  /// A pipeline that has a source for each stream. The test controls each source.
  private final class SharedPipeline: Sendable {
    let engine: VideoEngine
    let frames = CountingConsumer()
    private let log = Locked<[(StreamID, StreamPlayState)]>([])
    private let ends = Locked(0)
    private let starts = Locked(0)

    init(
      _ ids: [StreamID] = ["a"], clock: ManualClock, limit: Int = 4, stallTimeout: Duration = .seconds(100_000)
    ) throws {
      let branches = ids.map { "\(PushedSource.description(named: "source-\($0)")) ! appsink name=\($0) sync=false" }
      engine = try VideoEngine(.text(branches.joined(separator: "  ")), clock: clock.clock)
      engine.configuration.stallTimeout = stallTimeout
      engine.configuration.retryPolicy = RetryPolicy(limit: limit, firstPause: .seconds(1), longestPause: .seconds(3))
      engine.status.broadcast.observe { [log, ends] event in
        switch event {
        case .streamStateChanged(let id, let state): log.withLock { $0.append((id, state)) }
        case .finished: ends.withLock { $0 += 1 }
        default: break
        }
      }
    }

    func start() async throws {
      let (frames, starts) = (frames, starts)
      try await engine.start { _ in
        starts.withLock { $0 += 1 }
        return frames
      }
    }

    /// The number of times that a consumer was asked for.
    var startCount: Int { starts.withLock { $0 } }

    private func withSource(_ id: StreamID, _ body: @escaping (GstElementPointer) -> Void) {
      PushedSource.wait(for: { engine.withUnsafeElement(named: "source-\(id)", $0) }, body)
    }

    func fail(_ id: StreamID = "a", _ code: GstResourceError = GST_RESOURCE_ERROR_READ) {
      withSource(id) { PushedSource.fail($0, code) }
    }

    func end(_ id: StreamID) { withSource(id, PushedSource.end) }

    func push(_ id: StreamID) { withSource(id, PushedSource.push) }

    /// Waits until a stream is stalled, while the given others go on.
    func stalls(_ id: StreamID, beside others: StreamID..., clock: ManualClock) async -> Bool {
      // The thread of the pipeline looks at the streams every half second.
      guard await clock.reach(0.5), await clock.isAwaited(in: 0.5) else { return false }
      let count = frames.sampleBuffers.count
      others.forEach(push)
      let haveCome = await eventually(within: 20) { self.frames.sampleBuffers.count == count + others.count }
      guard haveCome else { return false }
      clock.advance(by: 3.1)
      return await eventually(within: 20) { self.state(of: id) == .stalled }
    }

    func play(_ ids: StreamID...) async -> Bool {
      ids.forEach(push)
      return await eventually(within: 20) {
        ids.allSatisfy { self.state(of: $0) == .playing } && self.engine.state == .running
      }
    }

    func state(of id: StreamID) -> StreamPlayState? { engine.info(of: id)?.state }

    func states(of id: StreamID = "a") -> [String] { log.withLock { $0.filter { $0.0 == id }.map(\.1.name) } }

    /// The number of times that the end of all streams was reported.
    var endCount: Int { ends.withLock { $0 } }

    func waitsForTry(_ attempt: Int, of id: StreamID = "a") async -> Bool {
      await eventually(within: 20) {
        if case .reconnecting(attempt, _, _) = self.state(of: id) { true } else { false }
      }
    }

    func hasFailed(_ id: StreamID = "a") async -> Bool {
      await eventually(within: 20) { self.state(of: id)?.name == "failed" }
    }
  }

  @Test func aPipelineThatHasFailedIsStartedAgainAfterItsPause() async throws {
    let pipeline = try SharedPipeline(clock: clock)
    try await pipeline.start()
    #expect(await pipeline.play("a"))
    pipeline.fail()
    #expect(await pipeline.waitsForTry(1))
    #expect(await clock.isAwaited(in: 1))
    clock.advance(by: 0.999)
    #expect(await clock.isAwaited(in: 0.001))
    #expect(pipeline.states() == ["requesting", "playing", "reconnecting"])
    #expect(pipeline.engine.state == .starting)
    await #expect(throws: PipSinkError.pipeline(.alreadyRunning)) { try await pipeline.start() }
    #expect(await clock.reach(0.001))
    #expect(await pipeline.play("a"))
    #expect(pipeline.states() == ["requesting", "playing", "reconnecting", "requesting", "playing"])
    #expect(pipeline.engine.info(of: "a")?.failure == nil)
    #expect(pipeline.frames.sampleBuffers.count == 2)
    #expect(pipeline.endCount == 0)
    await pipeline.engine.stop()
    #expect(pipeline.engine.state == .stopped)
  }

  @Test func whenTheMachineHasSleptItIsStartedAgainAtOnce() async throws {
    let pipeline = try SharedPipeline(clock: clock, limit: 2)
    try await pipeline.start()
    for (attempt, pause) in [(1, 1.0), (2, 2.0)] {
      pipeline.fail()
      #expect(await pipeline.waitsForTry(attempt))
      #expect(await clock.isAwaited(in: pause))
      if attempt == 1 { clock.advance(by: pause) } else { pipeline.engine.retryNow() }
      #expect(await eventually(within: 20) { pipeline.state(of: "a") == .requesting })
    }
    // The attempts count from the beginning. A waking machine is no reason to start a stream again that plays.
    pipeline.fail()
    #expect(await pipeline.waitsForTry(1))
    #expect(await clock.reach(1))
    #expect(await pipeline.play("a"))
    pipeline.engine.retryNow()
    pipeline.fail()
    #expect(await pipeline.waitsForTry(1))
    #expect(await clock.isAwaited(in: 1))
    #expect(pipeline.state(of: "a")?.name == "reconnecting")
    await pipeline.engine.stop()
  }

  @Test func itIsStartedAgainAsOftenInARowAsIsConfigured() async throws {
    let pipeline = try SharedPipeline(clock: clock, limit: 2)
    try await pipeline.start()
    for (attempt, pause) in [(1, 1.0), (2, 2.0)] {
      pipeline.fail()
      #expect(await pipeline.waitsForTry(attempt))
      #expect(await clock.reach(pause))
      #expect(await eventually(within: 20) { pipeline.state(of: "a") == .requesting })
    }
    pipeline.fail()
    #expect(await pipeline.hasFailed())
    #expect(await eventually { pipeline.endCount == 1 })
    await pipeline.engine.stop()
    #expect(pipeline.state(of: "a")?.name == "failed")
    // When the app starts the engine, the number of tries starts again at 0.
    try await pipeline.start()
    pipeline.fail()
    #expect(await pipeline.waitsForTry(1))
    await pipeline.engine.stop()
  }

  @Test func afterTenSecondsOfPlayingEarlierFailuresAreForgotten() async throws {
    let pipeline = try SharedPipeline(clock: clock)
    try await pipeline.start()
    #expect(await pipeline.play("a"))
    clock.advance(by: 9.9)
    pipeline.fail()
    #expect(await pipeline.waitsForTry(1))
    #expect(await clock.reach(1))
    #expect(await pipeline.play("a"))
    clock.advance(by: 9.9)
    pipeline.fail()
    #expect(await pipeline.waitsForTry(2))
    #expect(await clock.reach(2))
    #expect(await pipeline.play("a"))
    clock.advance(by: 10)
    pipeline.fail()
    #expect(await pipeline.waitsForTry(1))
    await pipeline.engine.stop()
  }

  @Test func aStopWhileItWaitsIsTheEndOfIt() async throws {
    let pipeline = try SharedPipeline(clock: clock)
    try await pipeline.start()
    pipeline.fail()
    #expect(await pipeline.waitsForTry(1))
    #expect(await clock.isAwaited(in: 1))
    let player = try #require(pipeline.engine.player(of: "a"))
    await pipeline.engine.stop()
    #expect(pipeline.state(of: "a") == .stopped)
    #expect(pipeline.engine.state == .stopped)
    // Its task has returned, so the try that was planned before the stop cannot happen any more.
    #expect(player.isOver && clock.alarmCount == 0)
    try await pipeline.start()
    #expect(await pipeline.play("a"))
    clock.advance(by: 1)
    #expect(await pipeline.play("a"))
    #expect(pipeline.startCount == 2)
    #expect(pipeline.states() == ["requesting", "reconnecting", "stopped", "requesting", "playing"])
    await pipeline.engine.stop()
  }

  @Test func aStreamThatFailsAloneIsLeftAsItIsUntilTheOthersHaveFailedToo() async throws {
    let pipeline = try SharedPipeline(["a", "b"], clock: clock)
    try await pipeline.start()
    #expect(await pipeline.play("a", "b"))
    pipeline.fail("a")
    #expect(await pipeline.hasFailed("a"))
    #expect(await pipeline.play("b"))
    #expect(!clock.hasAlarm(in: 1), "no restart is planned")
    pipeline.fail("b")
    #expect(await pipeline.waitsForTry(1, of: "a"))
    #expect(await pipeline.waitsForTry(1, of: "b"))
    #expect(await clock.reach(1))
    #expect(await pipeline.play("a", "b"))
    #expect(pipeline.states(of: "b") == ["requesting", "playing", "reconnecting", "requesting", "playing"])
    #expect(pipeline.endCount == 0)
    await pipeline.engine.stop()
  }

  @Test func aPipelineWithAStreamThatHasEndedIsNotPlayedFromItsBeginning() async throws {
    let pipeline = try SharedPipeline(["a", "b"], clock: clock)
    try await pipeline.start()
    #expect(await pipeline.play("a", "b"))
    pipeline.end("a")
    #expect(await eventually(within: 20) { pipeline.state(of: "a") == .ended })
    pipeline.fail("b")
    #expect(await pipeline.hasFailed("b"))
    #expect(await eventually { pipeline.endCount == 1 })
    await pipeline.engine.stop()
  }

  // MARK: - Stalls of several streams

  @Test func aStreamThatStallsWaitsWhileAnotherPlaysAndThenBothAreStartedAgain() async throws {
    let pipeline = try SharedPipeline(["a", "b"], clock: clock, stallTimeout: .seconds(3))
    try await pipeline.start()
    #expect(await pipeline.play("a", "b"))
    #expect(await pipeline.stalls("a", beside: "b", clock: clock))
    #expect(pipeline.state(of: "b") == .playing)
    #expect(!clock.hasAlarm(in: 5), "no restart is planned")
    #expect(await pipeline.stalls("b", clock: clock))
    #expect(await clock.isAwaited(in: 5))
    clock.advance(by: 4.999)
    #expect(await clock.isAwaited(in: 0.001))
    #expect(pipeline.state(of: "a") == .stalled && pipeline.state(of: "b") == .stalled)
    #expect(await clock.reach(0.001))
    for id: StreamID in ["a", "b"] { #expect(await pipeline.waitsForTry(1, of: id)) }
    #expect(pipeline.engine.info(of: "b")?.failure == .stream(.stalled("b", after: .seconds(8))))
    #expect(await clock.reach(1))
    #expect(await pipeline.play("a", "b"))
    await pipeline.engine.stop()
  }

  @Test func aStreamThatStallsIsStartedAgainTogetherWithOneThatHasFailed() async throws {
    let pipeline = try SharedPipeline(["a", "b"], clock: clock, stallTimeout: .seconds(3))
    try await pipeline.start()
    #expect(await pipeline.play("a", "b"))
    pipeline.fail("a")
    #expect(await pipeline.hasFailed("a"))
    #expect(await pipeline.stalls("b", clock: clock))
    #expect(await clock.reach(5))
    for id: StreamID in ["a", "b"] { #expect(await pipeline.waitsForTry(1, of: id)) }
    #expect(pipeline.states(of: "a") == ["requesting", "playing", "failed", "reconnecting"])
    #expect(pipeline.endCount == 0)
    await pipeline.engine.stop()
  }

  @Test func aStreamThatStallsIsNotStartedAgainWhenAnotherHasEnded() async throws {
    let pipeline = try SharedPipeline(["a", "b"], clock: clock, stallTimeout: .seconds(3))
    try await pipeline.start()
    #expect(await pipeline.play("a", "b"))
    pipeline.end("a")
    #expect(await eventually(within: 20) { pipeline.state(of: "a") == .ended })
    #expect(await pipeline.stalls("b", clock: clock))
    #expect(await eventually { clock.alarmCount == 1 && clock.hasAlarm(in: 0.5) }, "no restart is planned")
    clock.advance(by: 1000)
    #expect(await pipeline.play("b"))
    #expect(pipeline.states(of: "b") == ["requesting", "playing", "stalled", "playing"])
    await pipeline.engine.stop()
  }

  @Test func whatCanOnlyFailAgainIsLeftAtThat() async throws {
    let pipeline = try SharedPipeline(clock: clock)
    try await pipeline.start()
    pipeline.fail("a", GST_RESOURCE_ERROR_NOT_AUTHORIZED)
    #expect(await pipeline.hasFailed())
    await pipeline.engine.stop()
    // A source that has already played with this password may play with it again.
    try await pipeline.start()
    #expect(await pipeline.play("a"))
    pipeline.fail("a", GST_RESOURCE_ERROR_NOT_AUTHORIZED)
    #expect(await pipeline.waitsForTry(1))
    await pipeline.engine.stop()
    pipeline.engine.configuration.retryPolicy = nil
    try await pipeline.start()
    #expect(await pipeline.play("a"))
    pipeline.fail()
    #expect(await pipeline.hasFailed())
    await pipeline.engine.stop()
  }

  @Test func customRenderingThatWaitedForTheStopBeginsWithTheRestart() async throws {
    final class Observer: VideoFrameObserver {
      let count = Locked(0)
      func streamDidDeliver(_ pixelBuffer: PixelBuffer, parameters: VideoFrameParameters, streamID: StreamID) {
        count.withLock { $0 += 1 }
      }
    }
    let observer = Observer()
    let pipeline = try SharedPipeline(clock: clock)
    try await pipeline.start()
    #expect(await pipeline.play("a"))
    #expect(pipeline.engine.setCustomVideoRender(.pixelBuffers(observer)) == .afterStop)
    pipeline.fail()
    #expect(await pipeline.waitsForTry(1))
    #expect(await clock.reach(1))
    #expect(await pipeline.play("a"))
    #expect(observer.count.withLock { $0 } == 1)
    await pipeline.engine.stop()
  }

  @Test func anEngineThatIsDroppedWhileItWaitsIsNotKept() async throws {
    weak var engine: VideoEngine?
    do {
      let pipeline = try SharedPipeline(clock: clock)
      engine = pipeline.engine
      try await pipeline.start()
      pipeline.fail()
      #expect(await pipeline.waitsForTry(1))
      #expect(await clock.isAwaited(in: 1))
    }
    #expect(await eventually { engine == nil })
    clock.advance(by: 1)
  }
}
