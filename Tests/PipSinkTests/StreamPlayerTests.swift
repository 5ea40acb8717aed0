import CGStreamer
import Testing

@testable import PipSink

/// Streams that come and go at run time, and come back after failures.
@Suite(.timeLimit(.minutes(5))) struct StreamPlayerTests {
  /// Counts frames.
  private final class Counter: SampleBufferConsumer {
    private let count = Locked(0)
    var value: Int { count.withLock { $0 } }
    func consume(_ sampleBuffer: SampleBuffer) { count.withLock { $0 += 1 } }
  }

  private static let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! "

  private func quick(limit: Int = .max) -> StreamPlayer.Configuration {
    var configuration = StreamPlayer.Configuration()
    configuration.stallTimeout = 0.3
    configuration.restartTimeout = 0.3
    configuration.retryPolicy = RetryPolicy(limit: limit, firstPause: 0.02, longestPause: 0.1, jitter: 0.25)
    return configuration
  }

  /// The states that a player goes through, until one that `isLast` accepts.
  private func states(
    of player: StreamPlayer, until isLast: (StreamPlayState) -> Bool
  ) async -> [StreamPlayState] {
    let states = player.states()
    player.start()
    var seen: [StreamPlayState] = []
    for await state in states {
      seen.append(state)
      if isLast(state) { break }
    }
    return seen
  }

  @Test func aStreamPlaysToItsEnd() async throws {
    let counter = Counter()
    let player = try StreamPlayer(streamID: "a", from: "videotestsrc num-buffers=5 ! appsink name=x") { _ in counter }
    #expect(player.state == .stopped)
    #expect(await states(of: player) { $0 == .ended } == [.requesting, .playing, .ended])
    #expect(counter.value == 5)
    player.stop()
    #expect(await states(of: player) { $0 == .ended }.last == .ended, "it can be started again")
    #expect(counter.value == 10)
  }

  @Test func aStreamThatFailsIsStartedAgainUntilThePolicySaysEnough() async throws {
    let player = try StreamPlayer(
      streamID: "a", from: "videotestsrc ! identity error-after=3 ! appsink name=x", configuration: quick(limit: 2)
    ) { _ in Counter() }
    let seen = await states(of: player) { if case .failed = $0 { true } else { false } }
    let attempts = seen.compactMap { state -> Int? in
      if case .reconnecting(let attempt, let pause, .elementFailed(let element, _, _, _)) = state {
        #expect(element.hasPrefix("identity"))
        #expect((0.015...0.05).contains(pause))
        return attempt
      }
      return nil
    }
    #expect(attempts == [1, 2])
    #expect(seen.filter { $0 == .requesting }.count == 3)
    player.reset()
    #expect(await eventually { if case .failed = player.state { true } else { false } })
  }

  @Test func aPlayerThatIsStoppedBeforeItsNextTryTriesNoMore() async throws {
    var configuration = quick()
    configuration.restartsAtEnd = true
    configuration.retryPolicy = RetryPolicy(limit: .max, firstPause: 60)
    let starts = Locked(0)
    let player = try StreamPlayer(
      streamID: "a", from: "videotestsrc num-buffers=2 ! appsink name=x", configuration: configuration
    ) { _ in
      starts.withLock { $0 += 1 }
      return Counter()
    }
    for round in 1...20 {
      player.start()
      #expect(await eventually { if case .reconnecting = player.state { true } else { false } })
      player.stop()
      #expect(player.state == .stopped)
      #expect(starts.withLock { $0 } == round)
    }
  }

  @Test func anEndIsAFailureWhereThereIsNone() async throws {
    var configuration = quick()
    configuration.restartsAtEnd = true
    let counter = Counter()
    let player = try StreamPlayer(
      streamID: "a", from: "videotestsrc num-buffers=2 ! appsink name=x", configuration: configuration
    ) { _ in counter }
    player.start()
    #expect(await eventually { counter.value >= 8 })
    player.stop()
    #expect(player.state == .stopped)
  }

  @Test func aStreamThatStallsSaysSoAndGoesOnOrIsStartedAgain() async throws {
    var configuration = quick()
    configuration.restartTimeout = 60
    let player = try StreamPlayer(
      streamID: "a", from: .text(Self.live + "valve name=valve ! appsink name=x"), configuration: configuration
    ) { _ in Counter() }
    player.start()
    #expect(await eventually { player.state == .playing })
    let setDrop = { (value: String) in
      player.withUnsafeElement(named: "valve") {
        gst_util_set_object_arg(UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObject.self), "drop", value)
      }
    }
    setDrop("true")
    #expect(await eventually { player.state == .stalled })
    setDrop("false")
    #expect(await eventually { player.state == .playing })
    player.stop()
  }

  @Test func streamsComeAndGoInAnEngineWithoutTouchingTheOthers() async throws {
    let engine = try VideoEngine()
    let events = engine.events()
    let counters = ["a": Counter(), "b": Counter(), "c": Counter()]
    for id in ["a", "b"] {
      try engine.startPlayingStream(id, from: .text(Self.live + "appsink name=x")) { counters[$0] ?? Counter() }
    }
    #expect(engine.playingStreamIDs == ["a", "b"])
    #expect(throws: PipSinkError.duplicateStreamID("a")) {
      try engine.startPlayingStream("a", from: "videotestsrc ! appsink name=x") { _ in Counter() }
    }
    #expect(await eventually { engine.playState(of: "a") == .playing && engine.playState(of: "b") == .playing })
    try engine.startPlayingStream(
      "c", from: "videotestsrc ! identity error-after=2 ! appsink name=x", configuration: quick()
    ) { counters[$0] ?? Counter() }
    #expect(await eventually { (counters["c"]?.value ?? 0) > 4 }, "it comes back")
    try engine.stopPlayingStream("b")
    let count = counters["b"]?.value
    let before = counters["a"]?.value ?? 0
    #expect(await eventually { (counters["a"]?.value ?? 0) > before + 10 })
    #expect(counters["b"]?.value == count)
    #expect(engine.playState(of: "a") == .playing)
    #expect(throws: PipSinkError.unknownStream("b", known: ["a", "c"])) { try engine.stopPlayingStream("b") }
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
    let counters = ["a": Counter(), "b": Counter()]
    func start(_ id: StreamID) throws {
      try engine.startPlayingStream(id, from: .text(Self.live + "appsink name=x")) { counters[$0] ?? Counter() }
    }
    try start("a")
    #expect(await eventually { (counters["a"]?.value ?? 0) > 2 })
    engine.isPaused = true
    try start("b")
    // A pipeline may deliver frames that were under way.
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

  @Test func aDescriptionWithTwoStreamsOrNoneIsRefused() {
    #expect(throws: PipSinkError.notOneStream(["x", "y"])) {
      try StreamPlayer(streamID: "a", from: "videotestsrc ! appsink name=x videotestsrc ! appsink name=y") { _ in
        Counter()
      }
    }
    #expect(throws: PipSinkError.noStreams) {
      try StreamPlayer(streamID: "a", from: "videotestsrc ! fakesink") { _ in Counter() }
    }
    #expect(throws: PipSinkError.emptyPipeline) { try VideoEngine().start { _ in Counter() } }
  }

  @Test func aPlayerThatIsDroppedStops() async throws {
    let counter = Counter()
    do {
      let player = try StreamPlayer(streamID: "gone", from: .text(Self.live + "appsink name=x")) { _ in counter }
      player.start()
      #expect(await eventually { counter.value > 0 })
    }
    let count = counter.value
    try await Task.sleep(for: .milliseconds(100))
    #expect(counter.value == count)
    #expect(!threadNames().contains("pip-gone"))
  }
}
