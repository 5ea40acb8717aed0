import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// Streams that come and go at run time, and come back after failures.
@Suite(.timeLimit(.minutes(5))) struct StreamPlayerTests {
  /// Counts frames.
  private final class Counter: SampleBufferConsumer {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    func consume(_ sampleBuffer: SampleBuffer) { count.withLock { $0 += 1 } }
  }

  private static let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! "

  private func quick(limit: Int = .max) -> StreamConfiguration {
    var configuration = StreamConfiguration()
    configuration.stallTimeout = .seconds(0.3)
    configuration.restartTimeout = .seconds(0.3)
    configuration.retryPolicy = RetryPolicy(
      limit: limit, firstPause: .seconds(0.02), longestPause: .seconds(0.1), jitter: 0.25)
    return configuration
  }

  /// Starts a stream and returns the states that it goes through until it has ended or failed.
  private func states(
    ofStream id: StreamID, from description: PipelineDescription, _ configuration: StreamConfiguration = .init(),
    in engine: VideoEngine, deliveringTo consumer: any SampleBufferConsumer = Counter()
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
    let counter = Counter()
    let engine = try VideoEngine()
    #expect(engine.playState(of: "a") == .stopped)
    for round in 1...2 {
      let seen = try await states(
        ofStream: "a", from: "videotestsrc num-buffers=5 ! appsink name=x", in: engine, deliveringTo: counter)
      #expect(seen == [.requesting, .playing, .ended])
      #expect(counter.value == 5 * round)
      try engine.stopPlayingStream("a")
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
        return Counter()
      }
      #expect(await eventually { if case .reconnecting = engine.playState(of: "a") { true } else { false } })
      try engine.stopPlayingStream("a")
      #expect(engine.playState(of: "a") == .stopped)
      #expect(starts.withLock { $0 } == round)
    }
  }

  @Test func anEndIsAFailureWhereThereIsNone() async throws {
    var configuration = quick()
    configuration.restartsAtEnd = true
    let counter = Counter()
    let engine = try VideoEngine()
    try engine.startPlayingStream(
      "a", from: "videotestsrc num-buffers=2 ! appsink name=x", configuration: configuration
    ) { _ in counter }
    #expect(await eventually { counter.value >= 8 })
    try engine.stopPlayingStream("a")
    #expect(engine.playState(of: "a") == .stopped)
  }

  @Test func aStreamThatStallsSaysSoAndGoesOnOrIsStartedAgain() async throws {
    var configuration = quick()
    configuration.restartTimeout = .seconds(60)
    let engine = try VideoEngine()
    try engine.startPlayingStream(
      "a", from: .text(Self.live + "valve name=valve ! appsink name=x"), configuration: configuration
    ) { _ in Counter() }
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
    engine.stop()
  }

  @Test func streamsComeAndGoInAnEngineWithoutTouchingTheOthers() async throws {
    let engine = try VideoEngine()
    let events = engine.events()
    let counters: [StreamID: Counter] = ["a": Counter(), "b": Counter(), "c": Counter()]
    for id: StreamID in ["a", "b"] {
      try engine.startPlayingStream(id, from: .text(Self.live + "appsink name=x")) { counters[$0] ?? Counter() }
    }
    #expect(engine.playingStreamIDs == ["a", "b"])
    #expect(throws: PipSinkError.stream(.duplicate("a"))) {
      try engine.startPlayingStream("a", from: "videotestsrc ! appsink name=x") { _ in Counter() }
    }
    #expect(await eventually { engine.playState(of: "a") == .playing && engine.playState(of: "b") == .playing })
    try engine.startPlayingStream(
      "c", from: "videotestsrc ! identity error-after=2 ! appsink name=x", configuration: quick()
    ) { counters[$0] ?? Counter() }
    #expect(await eventually { (counters["c"]?.value ?? 0) > 4 }, "the stream comes back after its failures")
    try engine.stopPlayingStream("b")
    let count = counters["b"]?.value
    let before = counters["a"]?.value ?? 0
    #expect(await eventually { (counters["a"]?.value ?? 0) > before + 10 })
    #expect(counters["b"]?.value == count)
    #expect(engine.playState(of: "a") == .playing)
    #expect(throws: PipSinkError.stream(.unknown("b", known: ["a", "c"]))) { try engine.stopPlayingStream("b") }
    engine.stop()
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
    let counters: [StreamID: Counter] = ["a": Counter(), "b": Counter()]
    func start(_ id: StreamID) throws {
      try engine.startPlayingStream(id, from: .text(Self.live + "appsink name=x")) { counters[$0] ?? Counter() }
    }
    try start("a")
    #expect(await eventually { (counters["a"]?.value ?? 0) > 2 })
    engine.isPaused = true
    try start("b")
    // The pipeline may still deliver the frames that were on their way.
    try await Task.sleep(for: .milliseconds(200))
    let before = counters["a"]?.value ?? 0
    try await Task.sleep(for: .milliseconds(300))
    #expect(counters["a"]?.value == before)
    #expect(counters["b"]?.value == 0)
    #expect(engine.playState(of: "a") == .playing && engine.playState(of: "b") == .requesting)
    engine.isPaused = false
    #expect(await eventually { counters.values.allSatisfy { $0.value > before } })
    engine.stop()
  }

  @Test func aDescriptionWithTwoStreamsOrNoneIsRefusedAndNothingHasChanged() throws {
    let engine = try VideoEngine()
    let events = Locked(0)
    engine.status.broadcast.observe { _ in events.withLock { $0 += 1 } }
    #expect(throws: PipSinkError.pipeline(.notOneStream(["x", "y"]))) {
      try engine.startPlayingStream("a", from: "videotestsrc ! appsink name=x videotestsrc ! appsink name=y") { _ in
        Counter()
      }
    }
    #expect(throws: PipSinkError.pipeline(.noStreams)) {
      try engine.startPlayingStream("a", from: "videotestsrc ! fakesink") { _ in Counter() }
    }
    #expect(engine.streams.isEmpty && engine.playingStreamIDs.isEmpty && events.withLock { $0 } == 0)
    #expect(throws: PipSinkError.pipeline(.empty)) { try VideoEngine().start { _ in Counter() } }
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
    let counter = Counter()
    do {
      let engine = try VideoEngine()
      try engine.startPlayingStream("gone", from: .text(Self.live + "appsink name=x")) { _ in counter }
      #expect(await eventually { counter.value > 0 })
    }
    let count = counter.value
    try await Task.sleep(for: .milliseconds(100))
    #expect(counter.value == count)
    #expect(!threads().values.contains("pip-gone"))
  }
}
