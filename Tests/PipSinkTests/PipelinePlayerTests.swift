import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// Streams that come and go at run time, and come back after failures, in real time.
@Suite(.timeLimit(.minutes(5))) struct PipelinePlayerTests {
  private static let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! "

  private func quick(limit: Int = .max) -> PipelineConfiguration {
    var configuration = PipelineConfiguration()
    configuration.stallTimeout = .seconds(0.3)
    configuration.restartTimeout = .seconds(0.3)
    configuration.retryPolicy = RetryPolicy(
      limit: limit, firstPause: .seconds(0.02), longestPause: .seconds(0.1), jitter: 0.25)
    return configuration
  }

  /// Starts a stream and returns the states that it goes through until it has ended or failed.
  private func states(
    ofStream id: StreamID, from description: PipelineDescription, _ configuration: PipelineConfiguration = .init(),
    in engine: VideoEngine, deliveringTo consumer: any SampleBufferConsumer = CountingConsumer(keepsFrames: false)
  ) async throws -> [StreamPlayState] {
    let events = engine.events()
    try engine.startPlayingStream(id, from: description, configuration: configuration) { _ in consumer }
    var seen: [StreamPlayState] = []
    for await event in events {
      guard case .streamStateChanged(id, let state) = event else { continue }
      seen.append(state)
      if state.isOver { break }
    }
    return seen
  }

  @Test func aStreamPlaysToItsEnd() async throws {
    let counter = CountingConsumer(keepsFrames: false)
    let engine = try VideoEngine()
    #expect(engine.playState(of: "a") == .stopped)
    for round in 1...2 {
      let seen = try await states(
        ofStream: "a", from: "videotestsrc num-buffers=5 ! appsink name=x sync=false", in: engine, deliveringTo: counter
      )
      #expect(seen == [.requesting, .playing, .ended])
      #expect(counter.count == 5 * round)
      try await engine.stopPlayingStream("a")
    }
  }

  @Test func aStreamThatFailsIsStartedAgainUntilThePolicySaysEnough() async throws {
    let engine = try VideoEngine()
    let seen = try await states(
      ofStream: "a", from: "videotestsrc ! identity error-after=3 ! appsink name=x", quick(limit: 2), in: engine)
    guard case .failed = seen.last else {
      Issue.record("\(seen)")
      return
    }
    let attempts = seen.compactMap { state -> Int? in
      if case .reconnecting(let attempt, let pause, .pipeline(.elementFailed(let element, _, _, _))) = state {
        #expect(element.hasPrefix("identity"))
        #expect((.milliseconds(15) ... .milliseconds(50)).contains(pause))
        return attempt
      }
      return nil
    }
    #expect(attempts == [1, 2])
    #expect(seen.filter { $0 == .requesting }.count == 3)
  }

  @Test func aStreamThatIsStoppedBeforeItsNextTryIsTriedNoMore() async throws {
    var configuration = quick()
    configuration.restartsAtEnd = true
    configuration.retryPolicy = RetryPolicy(limit: .max, firstPause: .seconds(60))
    let starts = Locked(0)
    let engine = try VideoEngine()
    for round in 1...20 {
      try engine.startPlayingStream(
        "a", from: "videotestsrc num-buffers=2 ! appsink name=x", configuration: configuration
      ) { _ in
        starts.withLock { $0 += 1 }
        return CountingConsumer(keepsFrames: false)
      }
      #expect(await eventually { if case .reconnecting = engine.playState(of: "a") { true } else { false } })
      try await engine.stopPlayingStream("a")
      #expect(engine.playState(of: "a") == .stopped)
      #expect(starts.withLock { $0 } == round)
    }
  }

  @Test func anEndIsAFailureWhereThereIsNone() async throws {
    var configuration = quick()
    configuration.restartsAtEnd = true
    let counter = CountingConsumer(keepsFrames: false)
    let engine = try VideoEngine()
    try engine.startPlayingStream(
      "a", from: "videotestsrc num-buffers=2 ! appsink name=x", configuration: configuration
    ) { _ in counter }
    #expect(await eventually { counter.count >= 8 })
    try await engine.stopPlayingStream("a")
    #expect(engine.playState(of: "a") == .stopped)
  }

  @Test func aStreamThatStallsSaysSoAndGoesOnOrIsStartedAgain() async throws {
    var configuration = quick()
    configuration.restartTimeout = .seconds(60)
    let engine = try VideoEngine()
    try engine.startPlayingStream(
      "a", from: .text(Self.live + "valve name=valve ! appsink name=x"), configuration: configuration
    ) { _ in CountingConsumer(keepsFrames: false) }
    #expect(await eventually { engine.playState(of: "a") == .playing })
    let setDrop = { (value: String) in
      engine.run(of: "a")?.withUnsafeElement(named: "valve") {
        gst_util_set_object_arg(UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObject.self), "drop", value)
      }
    }
    setDrop("true")
    #expect(await eventually { engine.playState(of: "a") == .stalled })
    setDrop("false")
    #expect(await eventually { engine.playState(of: "a") == .playing })
    await engine.stop()
  }

  @Test func streamsComeAndGoInAnEngineWithoutTouchingTheOthers() async throws {
    let engine = try VideoEngine()
    let events = engine.events()
    let counters: [StreamID: CountingConsumer] = [
      "a": CountingConsumer(keepsFrames: false), "b": CountingConsumer(keepsFrames: false),
      "c": CountingConsumer(keepsFrames: false),
    ]
    for id: StreamID in ["a", "b"] {
      try engine.startPlayingStream(id, from: .text(Self.live + "appsink name=x")) {
        counters[$0] ?? CountingConsumer(keepsFrames: false)
      }
    }
    #expect(engine.playingStreamIDs == ["a", "b"])
    #expect(throws: PipSinkError.stream(.duplicate("a"))) {
      try engine.startPlayingStream("a", from: "videotestsrc ! appsink name=x") { _ in
        CountingConsumer(keepsFrames: false)
      }
    }
    #expect(await eventually { engine.playState(of: "a") == .playing && engine.playState(of: "b") == .playing })
    try engine.startPlayingStream(
      "c", from: "videotestsrc ! identity error-after=2 ! appsink name=x", configuration: quick()
    ) { counters[$0] ?? CountingConsumer(keepsFrames: false) }
    #expect(await eventually { (counters["c"]?.count ?? 0) > 4 }, "the stream comes back after its failures")
    try await engine.stopPlayingStream("b")
    let count = counters["b"]?.count
    let before = counters["a"]?.count ?? 0
    #expect(await eventually { (counters["a"]?.count ?? 0) > before + 10 })
    #expect(counters["b"]?.count == count)
    #expect(engine.playState(of: "a") == .playing)
    await #expect(throws: PipSinkError.stream(.unknown("b", known: ["a", "c"]))) {
      try await engine.stopPlayingStream("b")
    }
    await engine.stop()
    #expect(engine.playingStreamIDs.isEmpty)
    for await event in events {
      guard case .streamStateChanged(let id, let state) = event else { continue }
      if id == "a" {
        #expect([.requesting, .playing, .stopped].contains(state))
        if state == .stopped { break }
      }
    }
  }

  @Test func anEngineThatIsPausedHasItsStreamsStandStillAndThoseThatComeThen() async throws {
    let engine = try VideoEngine()
    let counters: [StreamID: CountingConsumer] = [
      "a": CountingConsumer(keepsFrames: false), "b": CountingConsumer(keepsFrames: false),
    ]
    func start(_ id: StreamID) throws {
      try engine.startPlayingStream(id, from: .text(Self.live + "appsink name=x")) {
        counters[$0] ?? CountingConsumer(keepsFrames: false)
      }
    }
    try start("a")
    #expect(await eventually { (counters["a"]?.count ?? 0) > 2 })
    engine.isPaused = true
    try start("b")
    // The pipeline may still deliver the frames that were on their way.
    try await Task.sleep(for: .milliseconds(200))
    let before = counters["a"]?.count ?? 0
    try await Task.sleep(for: .milliseconds(300))
    #expect(counters["a"]?.count == before)
    #expect(counters["b"]?.count == 0)
    #expect(engine.playState(of: "a") == .playing && engine.playState(of: "b") == .requesting)
    engine.isPaused = false
    #expect(await eventually { counters.values.allSatisfy { $0.count > before } })
    await engine.stop()
  }

  @Test func ofAStreamThatIsRemovedNothingIsToldAndNoConsumerIsAskedFor() async throws {
    let engine = try VideoEngine()
    let (isAsked, isRemoved, isAskedTooLate) = (Locked(false), Locked(false), Locked(false))
    try engine.startPlayingStream(
      "a", from: "videotestsrc ! identity error-after=3 ! appsink name=x", configuration: quick()
    ) { _ in
      // The stream is about to be started again when it is removed.
      if engine.playState(of: "a") == .requesting, engine.info(of: "a")?.failure != nil {
        isAsked.withLock { $0 = true }
        for _ in 0..<200 where !isRemoved.withLock({ $0 }) { g_usleep(1000) }
        if isRemoved.withLock({ $0 }) { isAskedTooLate.withLock { $0 = true } }
      }
      return CountingConsumer(keepsFrames: false)
    }
    #expect(await eventually { isAsked.withLock { $0 } })
    let stop = Task.immediate { try await engine.stopPlayingStream("a") }
    isRemoved.withLock { $0 = true }
    let events = Locked(0)
    engine.status.broadcast.observe { _ in events.withLock { $0 += 1 } }
    #expect(engine.info(of: "a") == nil)
    #expect(try await stop.value)
    #expect(!isAskedTooLate.withLock { $0 } && events.withLock { $0 } == 0)
  }

  @Test func whatARunReportsAfterItsStopIsNotHeard() async throws {
    let engine = try VideoEngine(.text(Self.live + "appsink name=a"))
    try engine.startPlayingStream("b", from: .text(Self.live + "appsink name=x")) { _ in
      CountingConsumer(keepsFrames: false)
    }
    try await engine.start { _ in CountingConsumer(keepsFrames: false) }
    #expect(await eventually { engine.playState(of: "a") == .playing && engine.playState(of: "b") == .playing })
    let runs = try ["a", "b"].map { try #require(engine.run(of: $0)) }
    await engine.stop()
    // This is another stream with the same ID.
    engine.status.add(["b"])
    let events = Locked(0)
    engine.status.broadcast.observe { _ in events.withLock { $0 += 1 } }
    for (id, run) in zip(["a", "b"] as [StreamID], runs) {
      run.setPipeline(.running)
      run.setStream(id, to: .playing)
      run.send(.finished)
      run.report { $0.update(id) { $0.skippedFrameCount = 9 } }
      run.report { $0.setDecodingSuspended(true, of: id) }
      #expect(engine.info(of: id)?.skippedFrameCount == 0 && engine.playState(of: id) == .stopped)
    }
    #expect(events.withLock { $0 } == 0 && engine.state == .stopped)
  }

  @Test func onlyTheStateOfTheFirstPipelineIsThatOfTheEngine() async throws {
    let engine = try VideoEngine()
    try engine.startPlayingStream("a", from: .text(Self.live + "appsink name=x")) { _ in
      CountingConsumer(keepsFrames: false)
    }
    #expect(await eventually { engine.player(of: "a")?.pipelineState == .running })
    #expect(engine.state == .stopped)
    await engine.stop()
  }

  @Test func aDescriptionWithTwoStreamsOrNoneIsRefusedAndNothingHasChanged() async throws {
    let engine = try VideoEngine()
    let events = Locked(0)
    engine.status.broadcast.observe { _ in events.withLock { $0 += 1 } }
    #expect(throws: PipSinkError.pipeline(.notOneStream(["x", "y"]))) {
      try engine.startPlayingStream("a", from: "videotestsrc ! appsink name=x videotestsrc ! appsink name=y") { _ in
        CountingConsumer(keepsFrames: false)
      }
    }
    #expect(throws: PipSinkError.pipeline(.noStreams)) {
      try engine.startPlayingStream("a", from: "videotestsrc ! fakesink") { _ in CountingConsumer(keepsFrames: false) }
    }
    #expect(engine.streams.isEmpty && engine.playingStreamIDs.isEmpty && events.withLock { $0 } == 0)
    await #expect(throws: PipSinkError.pipeline(.empty)) {
      try await VideoEngine().start { _ in CountingConsumer(keepsFrames: false) }
    }
  }

  @Test func thePipelineThatFoundNoMistakeIsTheOneThatPlaysFirst() throws {
    // GStreamer numbers pipelines in the order in which they are parsed.
    let number = { (pipeline: Pipeline) in Int(pipeline.element.elementName.drop { !$0.isNumber }) ?? 0 }
    let pipelines = try PipelineFactory("videotestsrc ! appsink name=x", as: "a")
    let other = try Pipeline("videotestsrc ! appsink name=x")
    let (first, second) = (try pipelines.makePipeline(), try pipelines.makePipeline())
    #expect(number(first) < number(other) && number(other) < number(second))
    #expect(
      first.streams.map(\.id) == ["a"] && second.streams.map(\.id) == ["a"], "the names of the sinks do not matter")
  }

  @Test func theStreamsOfAnEngineThatIsDroppedStop() async throws {
    let counter = CountingConsumer(keepsFrames: false)
    var events: AsyncStream<EngineEvent>?
    do {
      let engine = try VideoEngine()
      try engine.startPlayingStream("gone", from: .text(Self.live + "appsink name=x")) { _ in counter }
      #expect(await eventually { counter.count > 0 })
      events = engine.events()
    }
    for await _ in try #require(events) {}
    let count = counter.count
    try await Task.sleep(for: .milliseconds(100))
    #expect(counter.count == count)
    #expect(await eventually { !threads().values.contains("pipsink-bus") })
  }
}
