import CGStreamer
import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// A source that blocks in a state change delays nothing but itself.
@Suite struct BlockedPipelineTests {
  private static let live = "videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=36,framerate=30/1 ! "
  private static let tries = ProcessInfo.processInfo.environment["PIPSINK_TRIES"].flatMap(Int.init) ?? 20

  /// The events of an engine in their order.
  private final class Log: Sendable {
    private let events = Locked<[String]>([])
    var all: [String] { events.withLock { $0 } }

    init(_ engine: VideoEngine) {
      engine.status.broadcast.observe { [events] event in events.withLock { $0.append("\(event)") } }
    }
  }

  private func seconds(_ body: () async throws -> Void) async rethrows -> Double {
    let start = MonotonicTime.now
    try await body()
    return Double(MonotonicTime.now.nanoseconds(since: start)) / 1e9
  }

  @Test(arguments: BlockingSource.Kind.installed)
  func noCallWaitsLongerThanTheTimeout(kind: BlockingSource.Kind) async throws {
    let source = try BlockingSource(kind)
    let engine = try VideoEngine(source.pipeline())
    engine.configuration.stateChangeTimeout = .seconds(0.2)
    let log = Log(engine)
    // A call that waits for the source takes minutes, or never returns. A busy machine delays a call by a second or
    // two.
    let patience = 15.0
    let taken = try await seconds {
      try await engine.start { _ in CountingConsumer() }
      engine.isPaused = true
      engine.isPaused = false
      engine.visibleStreamIDs = []
      engine.configuration.stallTimeout = .seconds(1)
      #expect(await engine.timeline(of: "blocked")?.position == nil)
      await #expect(throws: PipSinkError.self) { try await engine.seekStream("blocked", to: MediaTime(seconds: 1)) }
      engine.audioSession.beginInterruption(.pause)
      engine.audioSession.endInterruption()
      engine.audioSession.volume = 0.5
      #expect(engine.state != .stopped)
      await #expect(throws: PipSinkError.pipeline(.alreadyRunning)) {
        try await engine.start { _ in CountingConsumer() }
      }
      await engine.stop()
    }
    #expect(taken < patience)
    #expect(engine.state == .stopped && engine.playState(of: "blocked") == .stopped)
    if kind == .fifo || kind == .tcp {
      #expect(engine.abandonedPipelineCount == 1)
      #expect(engine.info(of: "blocked")?.abandonedPipelineCount == 1)
      #expect(log.all.contains { $0.contains("abandoned") })
    }
    // The engine can be started again, and it can be released.
    try await engine.start { _ in CountingConsumer() }
  }

  @Test func anAbandonedPipelineTouchesNothingAndIsReleasedWhenItStopsAtLast() async throws {
    let source = try BlockingSource(.fifo)
    let consumer = CountingConsumer()
    let engine = try VideoEngine(source.pipeline())
    // The source must have had the time to block, also beside other load.
    engine.configuration.stateChangeTimeout = .seconds(2)
    let log = Log(engine)
    try await engine.start { _ in consumer }
    weak let run = engine.withRun { $0 }
    engine.configuration.stateChangeTimeout = .seconds(0.1)
    await engine.stop()
    #expect(engine.abandonedPipelineCount == 1)
    #expect(PipSink.blockedPipelineCount > 0)
    #expect(run != nil)
    let told = log.all
    #expect(told.last?.contains("stopped") == true, "\(told)")
    #expect(await eventually { source.open(frames: 20) })
    #expect(await eventually { run == nil })
    #expect(log.all == told)
    #expect(consumer.sampleBuffers.isEmpty)
    #expect(engine.state == .stopped)
  }

  @Test func aStartThatTakesLongGoesOnByItself() async throws {
    let source = try BlockingSource(.fifo)
    let consumer = CountingConsumer()
    let engine = try VideoEngine(source.pipeline("late"))
    let log = Log(engine)
    engine.configuration.stateChangeTimeout = .seconds(0.1)
    try await engine.start { _ in consumer }
    #expect(consumer.sampleBuffers.isEmpty)
    #expect(await eventually { source.open(frames: 5) })
    #expect(await eventually { engine.playState(of: "late") == .ended })
    #expect(consumer.sampleBuffers.count == 5, "\(log.all)")
    engine.configuration.stateChangeTimeout = .seconds(60)
    await engine.stop()
    #expect(engine.abandonedPipelineCount == 0)
  }

  @Test func anErrorAfterALongStartIsTheStreamsOwn() async throws {
    let source = try BlockingSource(.fifo)
    // This source starts after the FIFO has got its reader, and then reports that its file does not exist.
    let engine = try VideoEngine(
      .text(
        "filesrc location=/nowhere/at-all ! rawvideoparse ! identity ! appsink name=a "
          + source.description + " ! fakesink"))
    let log = Log(engine)
    engine.configuration.stateChangeTimeout = .seconds(0.1)
    do throws(PipSinkError) {
      try await engine.start { _ in CountingConsumer() }
    } catch {
      // GStreamer decides in which order it starts the two sources.
      return
    }
    #expect(await eventually { source.open() })
    #expect(
      await eventually { if case .failed = engine.playState(of: "a") { true } else { false } }, "\(log.all)")
    #expect(await eventually { log.all.contains { $0.contains("finished") } }, "\(log.all)")
    engine.configuration.stateChangeTimeout = .seconds(60)
    await engine.stop()
  }

  @Test @MainActor func theAsyncFormsLetTheMainActorGoOn() async throws {
    let source = try BlockingSource(.fifo)
    let engine = try VideoEngine(source.pipeline())
    var turns = 0
    let clock = Task { @MainActor in
      while (try? await Task.sleep(for: .milliseconds(5))) != nil { turns += 1 }
    }
    try await engine.start(within: .seconds(0.3)) { _ in CountingConsumer() }
    #expect(turns > 3)
    turns = 0
    #expect(await engine.stop(within: .seconds(0.3)) == false)
    #expect(turns > 3)
    try engine.startPlayingStream("own", from: source.pipeline()) { _ in CountingConsumer() }
    #expect(await eventually { engine.isBlocked("own") })
    turns = 0
    #expect(try await engine.stopPlayingStream("own", within: .milliseconds(300)) == false)
    #expect(turns > 3)
    #expect(engine.abandonedPipelineCount == 2)
    clock.cancel()
    // A pipeline that does not block stops long before the timeout.
    let quick = try VideoEngine(.text(Self.live + "appsink name=a"))
    try await quick.start(within: .seconds(60)) { _ in CountingConsumer() }
    #expect(await quick.stop(within: .seconds(60)))
  }

  @Test(arguments: PushedStream.Kind.allCases)
  func noMorePipelinesAreTriedWhileThreeBlock(kind: PushedStream.Kind) async throws {
    let source = try BlockingSource(.fifo)
    var configuration = PipelineConfiguration()
    configuration.stallTimeout = .seconds(3)
    configuration.restartTimeout = .seconds(5)
    configuration.stateChangeTimeout = .seconds(6)
    configuration.retryPolicy = RetryPolicy(limit: .max, firstPause: .seconds(7), longestPause: .seconds(7))
    let clock = ManualClock()
    let engine = try VideoEngine(kind == .first ? source.pipeline("a") : nil, clock: clock.clock)
    engine.configuration = configuration
    let log = Log(engine)
    let consumer = CountingConsumer()
    switch kind {
    // The start waits until the state change has timed out.
    case .first: Task { try? await engine.start { _ in consumer } }
    case .added:
      try engine.startPlayingStream("a", from: source.pipeline(), configuration: configuration) { _ in consumer }
    }
    for count in 1...3 {
      #expect(await eventually { engine.isBlocked("a") })
      // The waits are: for the first frame, for the stop, and for the rest of the 7 seconds before the next try.
      for wait in [8.0, 6, 1] { #expect(await clock.reach(wait)) }
      #expect(engine.info(of: "a")?.abandonedPipelineCount == count)
    }
    // The player now waits for no timeout, but for one of the three pipelines.
    #expect(await eventually { clock.alarmCount == 0 })
    #expect(await !clock.isAwaited(in: 8, within: 0.2))
    clock.advance(by: 1000)
    #expect(log.all.filter { $0.contains("abandoned") }.count == 3)
    if case .reconnecting = engine.playState(of: "a") {} else { Issue.record("\(engine.playState(of: "a"))") }
    // The three pipelines end, and the player tries another one.
    let tries = { log.all.filter { $0.contains("requesting") }.count }
    let before = tries()
    #expect(await eventually { source.open() })
    #expect(await eventually { tries() > before })
    // The source of the new pipeline may wait for data that is never written.
    let isStopped = Locked(false)
    Task {
      await engine.stop()
      isStopped.withLock { $0 = true }
    }
    #expect(
      await eventually {
        clock.advance(by: 1)
        return isStopped.withLock { $0 }
      })
  }

  @Test func aStreamsIDMayBeUsedAgainWhileItsOldPipelineBlocks() async throws {
    let source = try BlockingSource(.fifo)
    let engine = try VideoEngine()
    let old = CountingConsumer()
    try engine.startPlayingStream("a", from: source.pipeline()) { _ in old }
    #expect(await eventually { engine.isBlocked("a") })
    let stop = Task { try await engine.stopPlayingStream("a", within: .seconds(60)) }
    #expect(await eventually { engine.playingStreamIDs.isEmpty })
    let consumer = CountingConsumer()
    try engine.startPlayingStream("a", from: .text(Self.live + "appsink name=x")) { _ in consumer }
    #expect(await eventually { consumer.sampleBuffers.count > 3 })
    #expect(engine.playState(of: "a") == .playing)
    #expect(await eventually { source.open(frames: 5) })
    #expect(try await stop.value)
    #expect(old.sampleBuffers.isEmpty)
    #expect(engine.playState(of: "a") == .playing, "the old pipeline does not change the state of the new one")
    await engine.stop()
  }

  @Test func streamsThatBlockMakeNoFrameOfTheOthersLate() async throws {
    /// Measures the longest time between two frames.
    final class Gaps: SampleBufferConsumer {
      private let state = Locked(
        (last: MonotonicTime?.none, longest: UInt64(0), count: 0, lost: UInt64(0), number: UInt64(0)))
      func consume(_ sampleBuffer: SampleBuffer) {
        state.withLock { state in
          if let last = state.last { state.longest = max(state.longest, MonotonicTime.now.nanoseconds(since: last)) }
          state.last = .now
          state.count += 1
          state.lost += sampleBuffer.sequenceNumber - state.number - 1
          state.number = sampleBuffer.sequenceNumber
        }
      }
      var count: Int { state.withLock { $0.count } }
      var lost: UInt64 { state.withLock { $0.lost } }
      /// Returns the longest time in seconds and starts a new measurement.
      func takeLongest() -> Double {
        state.withLock { state in
          defer { state.longest = 0 }
          return Double(state.longest) / 1e9
        }
      }
    }
    let timeout = Duration.seconds(2)
    let sources = try (0..<Self.tries).map {
      try BlockingSource(BlockingSource.Kind.installed[$0 % BlockingSource.Kind.installed.count])
    }
    let engine = try VideoEngine(.text("\(Self.live) appsink name=a \(Self.live) appsink name=b"))
    let gaps: [StreamID: Gaps] = ["a": Gaps(), "b": Gaps()]
    try await engine.start { gaps[$0] ?? Gaps() }
    #expect(await eventually { gaps.values.allSatisfy { $0.count > 10 } })
    for gap in gaps.values { _ = gap.takeLongest() }
    try await Task.sleep(for: .seconds(1))
    let alone = gaps.values.map { $0.takeLongest() }
    var configuration = PipelineConfiguration()
    configuration.stateChangeTimeout = timeout
    for (number, source) in sources.enumerated() {
      try engine.startPlayingStream("\(number)", from: source.pipeline(), configuration: configuration) { _ in
        CountingConsumer()
      }
    }
    try await Task.sleep(for: .milliseconds(300))
    await withTaskGroup { group in
      for number in sources.indices {
        group.addTask { _ = try? await engine.stopPlayingStream("\(number)", within: nil) }
      }
    }
    let count = gaps.values.map(\.count).min() ?? 0
    #expect(await eventually { gaps.values.allSatisfy { $0.count > count + 30 } })
    let together = gaps.values.map { $0.takeLongest() }
    print("blocked: longest times between frames alone and beside \(sources.count), s: \(alone) \(together)")
    // A frame that waits for one of the blocked sources is late by at least the timeout. A busy machine delays it by
    // less.
    #expect(together.allSatisfy { $0 < timeout / .seconds(1) * 0.75 })
    #expect(gaps.values.allSatisfy { $0.lost == 0 })
    #expect(["a", "b"].allSatisfy { engine.playState(of: $0) == .playing })
    #expect(engine.streams.map(\.id) == ["a", "b"])
    #expect(engine.abandonedPipelineCount > 0)
    await engine.stop()
  }
}
