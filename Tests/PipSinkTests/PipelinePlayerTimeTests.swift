import CGStreamer
import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// When a pipeline is started again, and when not yet, by the same rules for the one that the engine begins with and
/// for those that are added. The test advances the clock.
@Suite struct PipelinePlayerTimeTests {
  private let clock = ManualClock()

  private func configuration(
    _ change: (inout PipelineConfiguration) -> Void = { _ in }
  ) -> PipelineConfiguration {
    var configuration = PipelineConfiguration()
    configuration.stallTimeout = .seconds(3)
    configuration.restartTimeout = .seconds(5)
    configuration.retryPolicy = RetryPolicy(limit: 4, firstPause: .seconds(1), longestPause: .seconds(3))
    change(&configuration)
    return configuration
  }

  /// Returns a configuration with which a stream may play for a long time without a frame.
  private func patient(
    _ change: (inout PipelineConfiguration) -> Void = { _ in }
  ) -> PipelineConfiguration {
    configuration { configuration in
      configuration.stallTimeout = .seconds(100_000)
      change(&configuration)
    }
  }

  /// Starts a stream, makes it fail once, and waits until it plays again after its first try.
  private func playsAfterAFailure(_ stream: PushedStream) async throws -> Bool {
    try await stream.start()
    guard await eventually({ stream.state == .requesting }) else { return false }
    stream.fail()
    guard await tryAgain(stream, after: 1) else { return false }
    return await stream.play()
  }

  /// Waits until the pause after a failure has started, and advances the clock to its end.
  private func tryAgain(_ stream: PushedStream, after pause: Double) async -> Bool {
    guard await eventually(within: 20, { stream.isReconnecting }), await clock.reach(pause) else { return false }
    return await eventually(within: 20) { stream.state == .requesting }
  }

  private func hasFailed(_ stream: PushedStream) -> Bool {
    if case .failed = stream.state { true } else { false }
  }

  @Test(arguments: PushedStream.Kind.allCases)
  func aRunThatWasAbandonedAndStopsAtLastDoesNotSilenceTheNextOne(kind: PushedStream.Kind) async throws {
    let stream = try PushedStream(kind, patient(), clock: clock)
    try await stream.start()
    #expect(await eventually { stream.state == .requesting && stream.engine.run(of: "a") != nil })
    let old = try #require(stream.engine.run(of: "a"))
    stream.fail()
    #expect(await tryAgain(stream, after: 1))
    #expect(await stream.play())
    let player = try #require(stream.engine.player(of: "a"))
    #expect(player.run !== old)
    player.runIsBlocked(old, true)
    player.runIsBlocked(old, false)
    stream.fail()
    #expect(await eventually(within: 20) { stream.isReconnecting })
  }

  // MARK: - Before the first frame

  @Test(arguments: PushedStream.Kind.allCases) func aStreamHasStallTimeAndRestartTimeForItsFirstFrame(
    kind: PushedStream.Kind
  ) async throws {
    let stream = try PushedStream(kind, configuration(), clock: clock)
    try await stream.start()
    #expect(await clock.isAwaited(in: 8))
    clock.advance(by: 7.999)
    #expect(await clock.isAwaited(in: 0.001))
    #expect(stream.states == [.requesting])
    #expect(await clock.reach(0.001))
    #expect(await eventually { stream.isReconnecting })
    #expect(
      stream.state == .reconnecting(attempt: 1, pause: .seconds(1), after: .stream(.stalled("a", after: .seconds(8)))))
  }

  @Test(arguments: PushedStream.Kind.allCases) func aFrameInTheLastMomentIsInTime(kind: PushedStream.Kind) async throws
  {
    let stream = try PushedStream(kind, configuration(), clock: clock)
    try await stream.start()
    #expect(await clock.isAwaited(in: 8))
    clock.advance(by: 7.999)
    #expect(await clock.isAwaited(in: 0.001))
    #expect(await stream.play())
    clock.advance(by: 1)
    #expect(await clock.isAwaited(in: 0.5), "the player's thread has looked at the stream")
    #expect(stream.state == .playing)
  }

  @Test(arguments: PushedStream.Kind.allCases) func bufferingExtendsThePatience(kind: PushedStream.Kind) async throws {
    let stream = try PushedStream(kind, configuration(), clock: clock)
    try await stream.start()
    for percent in [10, 20, 30] {
      #expect(await clock.isAwaited(in: 8))
      clock.advance(by: 7)
      #expect(await clock.isAwaited(in: 1))
      stream.buffer(percent: percent)
      #expect(await stream.isTold { if case .buffering(percent) = $0 { true } else { false } })
    }
    #expect(await clock.isAwaited(in: 8))
    clock.advance(by: 7.9)
    #expect(await clock.isAwaited(in: 0.1))
    #expect(stream.states == [.requesting])
    #expect(await clock.reach(0.1))
    #expect(await eventually { stream.isReconnecting })
  }

  @Test(arguments: PushedStream.Kind.allCases) func whatStoodStillForAPauseHasItsWholeTimeAgain(kind: PushedStream.Kind)
    async throws
  {
    let stream = try PushedStream(kind, configuration(), clock: clock)
    try await stream.start()
    #expect(await clock.isAwaited(in: 8))
    clock.advance(by: 7)
    #expect(await clock.isAwaited(in: 1))
    // When this message is reported, the player has handled the start as well.
    stream.buffer(percent: 100)
    #expect(await stream.isTold { if case .buffering = $0 { true } else { false } })
    #expect(await clock.isAwaited(in: 8))
    clock.advance(by: 7)
    #expect(await clock.isAwaited(in: 1))
    stream.engine.isPaused = true
    #expect(await eventually { !clock.hasAlarm(in: 1) })
    clock.advance(by: 1000)
    stream.engine.isPaused = false
    #expect(await clock.isAwaited(in: 8))
    #expect(stream.states == [.requesting])
    #expect(await clock.reach(8))
    #expect(await eventually { stream.isReconnecting })
  }

  /// A source that does not open in the pause keeps the pipeline from reporting that it is paused.
  @Test func whatIsStartedInAPauseAndDoesNotComeUpIsNotStartedAgain() async throws {
    let source = try BlockingSource(.fifo)
    let engine = try VideoEngine(clock: clock.clock)
    engine.isPaused = true
    try engine.startPlayingStream("a", from: source.pipeline(), configuration: configuration()) { _ in
      CountingConsumer()
    }
    #expect(await eventually { engine.isBlocked("a") })
    // The player has looked at the stream when it waits without an alarm.
    #expect(await eventually { clock.alarmCount == 0 })
    clock.advance(by: 1000)
    engine.isPaused = false
    #expect(await clock.isAwaited(in: 8))
    #expect(engine.playState(of: "a") == .requesting)
    source.open()
    await engine.stop()
  }

  /// Until a frame comes, the pipeline only reaches READY, and it does not report that it resumes.
  @Test(arguments: PushedStream.Kind.allCases, [true, false])
  func whatWasPausedBeforeItCameUpHasItsTimeFromTheResumptionOn(kind: PushedStream.Kind, isInterrupted: Bool)
    async throws
  {
    let stream = try PushedStream(kind, configuration(), clock: clock)
    if isInterrupted { stream.engine.audioSession.beginInterruption(.pause) } else { stream.engine.isPaused = true }
    try await stream.start()
    #expect(await eventually { stream.isStandingStill })
    clock.advance(by: 1000)
    #expect(stream.states == [.requesting])
    if isInterrupted { stream.engine.audioSession.endInterruption() } else { stream.engine.isPaused = false }
    #expect(await clock.isAwaited(in: 8))
    #expect(await eventually { !stream.isStandingStill })
    #expect(await clock.reach(8))
    #expect(await eventually { stream.isReconnecting })
  }

  @Test(arguments: PushedStream.Kind.allCases) func eachStartHasTheWholeTime(kind: PushedStream.Kind) async throws {
    let stream = try PushedStream(kind, configuration(), clock: clock)
    try await stream.start()
    for pause in [1.0, 2, 3, 3] {
      #expect(await clock.reach(8))
      #expect(await tryAgain(stream, after: pause))
    }
    #expect(await clock.reach(8))
    #expect(await eventually { hasFailed(stream) })
    #expect(stream.attempts == [1, 2, 3, 4])
    #expect(stream.states.filter { $0 == .requesting }.count == 5)
  }

  // MARK: - Stalls

  @Test(arguments: PushedStream.Kind.allCases) func aStreamThatStallsIsStartedAgainAfterTheRestartTimeAndNotBefore(
    kind: PushedStream.Kind
  ) async throws {
    let stream = try PushedStream(kind, configuration(), clock: clock)
    try await stream.start()
    #expect(await stream.play())
    // The thread looks at the stream every half second. It sees the frame, and then it sees no other frame for three
    // seconds.
    #expect(await clock.reach(0.5))
    #expect(await clock.isAwaited(in: 0.5))
    clock.advance(by: 2.99)
    #expect(await clock.isAwaited(in: 0.5))
    #expect(stream.state == .playing)
    #expect(await clock.reach(0.5))
    #expect(await eventually { stream.state == .stalled })
    #expect(await clock.isAwaited(in: 5))
    clock.advance(by: 4.999)
    #expect(await clock.isAwaited(in: 0.001))
    #expect(stream.state == .stalled)
    #expect(await clock.reach(0.001))
    #expect(await eventually { stream.isReconnecting })
    #expect(stream.states.prefix(3) == [.requesting, .playing, .stalled])
  }

  @Test(arguments: PushedStream.Kind.allCases) func aStreamThatComesBackFromAStallGoesOnAndMayStallAgain(
    kind: PushedStream.Kind
  ) async throws {
    let stream = try PushedStream(kind, configuration(), clock: clock)
    try await stream.start()
    #expect(await stream.play())
    for round in 1...2 {
      #expect(await clock.reach(0.5))
      #expect(await clock.isAwaited(in: 0.5))
      clock.advance(by: 3.1)
      #expect(await eventually { stream.state == .stalled }, "round \(round)")
      #expect(await clock.isAwaited(in: 5))
      clock.advance(by: 4.9)
      #expect(await clock.isAwaited(in: 0.1))
      stream.push()
      #expect(await eventually { stream.hasArrived })
      #expect(await eventually { !clock.hasAlarm(in: 0.1) }, "no restart is planned")
    }
    #expect(stream.attempts.isEmpty)
    #expect(stream.states == [.requesting, .playing, .stalled, .playing, .stalled, .playing])
  }

  @Test(arguments: PushedStream.Kind.allCases) func standingStillIsNoStall(kind: PushedStream.Kind) async throws {
    let stream = try PushedStream(kind, configuration(), clock: clock)
    try await stream.start()
    #expect(await stream.play())
    stream.engine.isPaused = true
    for _ in 0..<3 {
      #expect(await clock.isAwaited(in: 0.5))
      clock.advance(by: 100)
    }
    #expect(await clock.isAwaited(in: 0.5))
    stream.engine.isPaused = false
    // A stream that was silent during the pause has three seconds from here on.
    #expect(await clock.reach(0.5))
    #expect(await clock.isAwaited(in: 0.5))
    clock.advance(by: 2.9)
    #expect(await clock.isAwaited(in: 0.5))
    #expect(stream.states == [.requesting, .playing])
    #expect(await clock.reach(0.5))
    #expect(await eventually { stream.state == .stalled })
  }

  @Test(arguments: PushedStream.Kind.allCases) func aFrameNowAndThenIsNoStall(kind: PushedStream.Kind) async throws {
    let stream = try PushedStream(kind, configuration(), clock: clock)
    try await stream.start()
    #expect(await stream.play())
    for number in 2...6 {
      #expect(await clock.isAwaited(in: 0.5))
      clock.advance(by: 2.9)
      #expect(await clock.isAwaited(in: 0.5))
      stream.push()
      #expect(await eventually { stream.frames.sampleBuffers.count == number })
    }
    #expect(stream.states == [.requesting, .playing])
  }

  /// The film has a picture at its start or none, and another one after an hour.
  @Test(arguments: PushedStream.Kind.allCases, [0, 1]) func aFilmWhosePicturesAreFarApartIsNotStartedAgain(
    kind: PushedStream.Kind, early: Int
  ) async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("pipsink-\(UUID().uuidString).mkv").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let offset = early == 1 ? 0 : 3_600_000_000_000
    try TestFrame.run(
      "matroskamux name=m ! filesink location=\(path) audiotestsrc num-buffers=2 ! m. "
        + "videotestsrc num-buffers=2 timestamp-offset=\(offset) "
        + "! video/x-raw,width=16,height=16,framerate=1/3600 ! jpegenc ! m.")
    let film: PipelineDescription = "filesrc location=\(path) ! matroskademux ! image/jpeg ! jpegdec ! appsink name=a"
    let engine = try VideoEngine(kind == .first ? film : nil, clock: clock.clock)
    let frames = CountingConsumer()
    switch kind {
    case .first: try await engine.start { _ in frames }
    case .added: try engine.startPlayingStream("a", from: film) { _ in frames }
    }
    if early == 1 {
      #expect(await eventually { engine.playState(of: "a") == .playing })
      #expect(await clock.reach(0.5))
      #expect(await clock.isAwaited(in: 0.5))
      clock.advance(by: 3.1)
      #expect(await clock.isAwaited(in: 0.5))
      #expect(engine.playState(of: "a") == .playing, "its picture is not covered")
    }
    // Only the regular look at the stream is waited for.
    #expect(await eventually { clock.alarmCount == 1 && clock.hasAlarm(in: 0.5) })
    clock.advance(by: 1000)
    #expect(await clock.isAwaited(in: 0.5))
    #expect(engine.playState(of: "a") == (early == 1 ? .playing : .requesting))
    #expect(frames.sampleBuffers.count == early)
    await engine.stop()
  }

  @Test func whatASeekBringsBackLongAfterItsEndHasTheWholeTime() async throws {
    let engine = try VideoEngine(clock: clock.clock)
    let states = Locked<[String]>([])
    engine.status.broadcast.observe { event in
      if case .streamStateChanged(_, let state) = event { states.withLock { $0.append(state.name) } }
    }
    try engine.startPlayingStream("a", from: "videotestsrc num-buffers=2 ! appsink name=x") { _ in CountingConsumer() }
    #expect(await eventually { engine.playState(of: "a") == .ended })
    clock.advance(by: 1000)
    // The source has no more pictures, so the stream ends again.
    try await engine.seekStream("a", to: .zero)
    #expect(await eventually { states.withLock { $0.count } == 5 })
    #expect(states.withLock { $0 } == ["requesting", "playing", "ended", "requesting", "ended"])
    await engine.stop()
  }

  @Test func aRunThatWaitsForASeekDoesNothingMeanwhile() async throws {
    let engine = try VideoEngine()
    try engine.startPlayingStream("a", from: "videotestsrc num-buffers=2 ! appsink name=x") { _ in CountingConsumer() }
    #expect(await eventually { engine.playState(of: "a") == .ended })
    let run = try #require(engine.run(of: "a"))
    // The start of the wait may still be in progress.
    for _ in 0..<3 { _ = await engine.timeline(of: "a") }
    final class Count: Sendable { let value = Locked(0) }
    let count = Count()
    run.withUnsafeElement(named: "x") { sink in
      guard let pad = gst_element_get_static_pad(sink, "sink") else { return }
      defer { gst_object_unref(pad) }
      gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
        { _, info, context in
          guard let query = gst_pad_probe_info_get_query(info), let context, query.pointee.type == GST_QUERY_SEEKING
          else { return GST_PAD_PROBE_OK }
          Unmanaged<Count>.fromOpaque(context).takeUnretainedValue().value.withLock { $0 += 1 }
          return GST_PAD_PROBE_OK
        }, Unmanaged.passRetained(count).toOpaque(),
        { if let count = $0 { Unmanaged<Count>.fromOpaque(count).release() } })
    }
    for _ in 0..<5 { #expect(await engine.timeline(of: "a")?.isSeekable == true) }
    // A probe is called before a query and after it.
    #expect(count.value.withLock { $0 } == 10)
    await engine.stop()
  }

  @Test func aStreamWhoseSourceCannotGoBackWaitsForNoSeek() async throws {
    let stream = try PushedStream(.added, configuration(), clock: clock)
    try await stream.start()
    #expect(await stream.play())
    stream.end()
    #expect(await eventually { stream.engine.player(of: "a")?.isOver == true })
    #expect(stream.states == [.requesting, .playing, .ended])
    #expect(stream.engine.playState(of: "a") == .ended)
    await stream.engine.stop()
  }

  @Test func anEndThatIsAFailureWaitsForNoSeek() async throws {
    let engine = try VideoEngine()
    let configuration = configuration {
      ($0.restartsAtEnd, $0.retryPolicy) = (true, nil)
    }
    try engine.startPlayingStream(
      "a", from: "videotestsrc num-buffers=2 ! appsink name=x", configuration: configuration
    ) { _ in CountingConsumer() }
    #expect(await eventually { engine.player(of: "a")?.isOver == true })
    #expect(engine.playState(of: "a") == .failed(.stream(.endedUnexpectedly("a"))))
    await engine.stop()
  }

  // MARK: - The number of tries

  @Test(arguments: PushedStream.Kind.allCases) func theNextTryComesAfterItsPauseAndNotBefore(kind: PushedStream.Kind)
    async throws
  {
    let stream = try PushedStream(kind, patient(), clock: clock)
    try await stream.start()
    for pause in [1.0, 2, 3] {
      #expect(await eventually { stream.state == .requesting })
      stream.fail()
      #expect(await eventually { stream.isReconnecting })
      #expect(await clock.isAwaited(in: pause))
      clock.advance(by: pause - 0.001)
      #expect(await clock.isAwaited(in: 0.001))
      #expect(stream.isReconnecting)
      #expect(await clock.reach(0.001))
    }
    #expect(await eventually { stream.state == .requesting })
    #expect(stream.attempts == [1, 2, 3])
  }

  @Test(arguments: PushedStream.Kind.allCases) func failuresAreForgottenWhenItHasSettledAndNotBefore(
    kind: PushedStream.Kind
  ) async throws {
    let stream = try PushedStream(kind, patient(), clock: clock)
    #expect(try await playsAfterAFailure(stream))
    #expect(await clock.isAwaited(in: 10))
    clock.advance(by: 9.999)
    #expect(await clock.isAwaited(in: 0.001))
    stream.fail()
    #expect(await eventually { stream.attempts == [1, 2] })
    #expect(await tryAgain(stream, after: 2))
    #expect(await stream.play())
    #expect(await clock.reach(10))
    // Only the regular look at the stream is waited for.
    #expect(await eventually { clock.alarmCount == 1 && clock.hasAlarm(in: 0.5) })
    stream.fail()
    #expect(await eventually { stream.attempts == [1, 2, 1] })
  }

  @Test(arguments: PushedStream.Kind.allCases) func aFrameThatComesWhileItsStallIsToldEndsTheStall(
    kind: PushedStream.Kind
  ) async throws {
    let stream = try PushedStream(kind, configuration { $0.restartTimeout = .seconds(1000) }, clock: clock)
    try await stream.start()
    #expect(await stream.play())
    // An observer must not ask the engine for the run.
    let (run, frames) = (stream.engine.run(of: "a"), stream.frames)
    stream.engine.status.broadcast.observe { event in
      guard case .streamStateChanged(_, .stalled) = event else { return }
      let count = frames.sampleBuffers.count
      run?.withUnsafeElement(named: "source", PushedSource.push)
      for _ in 0..<20_000 where frames.sampleBuffers.count == count { g_usleep(1000) }
    }
    #expect(await clock.reach(0.5))
    #expect(await clock.isAwaited(in: 0.5))
    clock.advance(by: 3.1)
    #expect(await eventually { stream.states.suffix(3) == [.playing, .stalled, .playing] }, "\(stream.states)")
    #expect(stream.frames.sampleBuffers.count == 2)
  }

  @Test(arguments: PushedStream.Kind.allCases) func theTimeForSettlingBeginsAnewAfterAStall(kind: PushedStream.Kind)
    async throws
  {
    let stream = try PushedStream(kind, configuration { $0.restartTimeout = .seconds(1000) }, clock: clock)
    #expect(try await playsAfterAFailure(stream))
    #expect(await clock.reach(0.5))
    #expect(await clock.isAwaited(in: 0.5))
    clock.advance(by: 3.1)
    #expect(await eventually { stream.state == .stalled })
    #expect(await clock.isAwaited(in: 1000))
    clock.advance(by: 500)
    stream.push()
    #expect(await eventually { stream.state == .playing })
    #expect(await clock.isAwaited(in: 10))
    stream.fail()
    #expect(await eventually { stream.attempts == [1, 2] })
  }

  @Test(arguments: PushedStream.Kind.allCases) func theTimeForSettlingBeginsAnewAfterAnInterruption(
    kind: PushedStream.Kind
  ) async throws {
    let stream = try PushedStream(kind, patient(), clock: clock)
    #expect(try await playsAfterAFailure(stream))
    #expect(await clock.isAwaited(in: 10))
    clock.advance(by: 9)
    #expect(await clock.isAwaited(in: 1))
    stream.engine.audioSession.beginInterruption(.pause)
    // A sink pauses only when the next frame arrives.
    let isStanding = await eventually {
      stream.push()
      return stream.isStandingStill && !clock.hasAlarm(in: 1)
    }
    #expect(isStanding)
    clock.advance(by: 1000)
    stream.engine.audioSession.endInterruption()
    #expect(await clock.isAwaited(in: 10))
    stream.fail()
    #expect(await eventually { stream.attempts == [1, 2] })
  }

  @Test(arguments: PushedStream.Kind.allCases) func aStartAnewForgetsFailuresAndDoesNotWait(kind: PushedStream.Kind)
    async throws
  {
    let stream = try PushedStream(kind, patient(), clock: clock)
    try await stream.start()
    #expect(await eventually { stream.state == .requesting })
    stream.fail()
    #expect(await tryAgain(stream, after: 1))
    stream.fail()
    #expect(await eventually { stream.attempts == [1, 2] })
    #expect(await clock.isAwaited(in: 2))
    try await stream.startAnew()
    #expect(await eventually { stream.state == .requesting })
    stream.fail()
    #expect(await eventually { stream.attempts == [1, 2, 1] })
    #expect(await tryAgain(stream, after: 1))
    // The same holds while the stream plays.
    #expect(await stream.play())
    try await stream.startAnew()
    #expect(await eventually { stream.state == .requesting })
    stream.fail()
    #expect(await eventually { stream.attempts == [1, 2, 1, 1] })
  }

  @Test(arguments: PushedStream.Kind.allCases) func aStreamThatHasFailedForGoodBeginsItsTriesAnewAfterAStart(
    kind: PushedStream.Kind
  ) async throws {
    let stream = try PushedStream(kind, patient { $0.retryPolicy?.limit = 1 }, clock: clock)
    try await stream.start()
    for round in 1...2 {
      #expect(await eventually { stream.state == .requesting })
      stream.fail()
      #expect(await tryAgain(stream, after: 1))
      stream.fail()
      #expect(await eventually { hasFailed(stream) })
      #expect(stream.attempts == Array(repeating: 1, count: round))
      try await stream.startAnew()
    }
  }

  @Test(arguments: PushedStream.Kind.allCases) func withoutAPolicyTheFirstFailureIsTheLast(kind: PushedStream.Kind)
    async throws
  {
    let stream = try PushedStream(kind, patient { $0.retryPolicy = nil }, clock: clock)
    try await stream.start()
    #expect(await eventually { stream.state == .requesting })
    stream.fail()
    #expect(await eventually { hasFailed(stream) })
    #expect(stream.states.count == 2)
  }

  // MARK: - What is tried again

  @Test(arguments: PushedStream.Kind.allCases) func aPermanentFailureIsTriedAgainOnlyOfAStreamThatHasPlayed(
    kind: PushedStream.Kind
  ) async throws {
    let stream = try PushedStream(kind, patient(), clock: clock)
    try await stream.start()
    #expect(await eventually { stream.state == .requesting })
    #expect(await stream.play())
    stream.fail(GST_RESOURCE_ERROR_NOT_AUTHORIZED)
    #expect(await tryAgain(stream, after: 1))
    // After this try, the stream has not played.
    stream.fail(GST_RESOURCE_ERROR_NOT_AUTHORIZED)
    #expect(await eventually { hasFailed(stream) })
    #expect(stream.attempts == [1])
  }

  @Test(arguments: PushedStream.Kind.allCases) func anEndIsAnEndUnlessItIsConfiguredAsAFailure(kind: PushedStream.Kind)
    async throws
  {
    for restarts in [nil, false, true] {
      let stream = try PushedStream(kind, patient { $0.restartsAtEnd = restarts }, clock: clock)
      try await stream.start()
      #expect(await stream.play())
      stream.end()
      if restarts == true {
        #expect(await eventually { stream.isReconnecting })
        #expect(
          stream.state == .reconnecting(attempt: 1, pause: .seconds(1), after: .stream(.endedUnexpectedly("a"))))
      } else {
        #expect(await eventually { stream.state == .ended })
        #expect(stream.attempts.isEmpty)
      }
    }
  }
}
