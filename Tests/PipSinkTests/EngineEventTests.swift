import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// What an engine knows and reports about its streams, apart from their frames.
@Suite(.timeLimit(.minutes(5))) struct EngineEventTests {
  private static let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1"

  /// Collects the events until `isLast` holds, with a short text for each.
  private func log(
    of events: AsyncStream<EngineEvent>, until isLast: (EngineEvent) -> Bool
  ) async -> [String] {
    var words: [String] = []
    for await event in events {
      switch event {
      case .streamStateChanged(let id, let state): words.append("\(id) \(state)")
      case .cameraStateChanged(let id, let state): words.append("\(id) camera \(state)")
      case .microphoneStateChanged(let id, let state): words.append("\(id) microphone \(state)")
      case .formatChanged(let id, let format): words.append("\(id) \(format.size)")
      default: break
      }
      if isLast(event) { break }
    }
    return words
  }

  /// Closes a valve, and waits until what it had let through is in the sink. Elements have posted their messages about
  /// it by then.
  private func closeValve(_ name: String, of engine: VideoEngine) {
    engine.withUnsafeElement(named: name) { valve in
      gst_util_set_object_arg(UnsafeMutableRawPointer(valve).assumingMemoryBound(to: GObject.self), "drop", "true")
      guard let pad = gst_element_get_static_pad(valve, "sink") else { return }
      defer { gst_object_unref(pad) }
      g_rec_mutex_lock(&pad.pointee.stream_rec_lock)
      g_rec_mutex_unlock(&pad.pointee.stream_rec_lock)
    }
  }

  @Test func aStreamTellsOfItsFirstFrameItsSizeItsStallsAndItsEnd() async throws {
    let clock = ManualClock()
    let engine = try VideoEngine(.text("\(Self.live) ! valve name=valve ! appsink name=a"), clock: clock.clock)
    engine.configuration.stallTimeout = .seconds(4)
    let events = engine.events()
    try await engine.start { _ in CountingConsumer() }
    #expect(await eventually { engine.playState(of: "a") == .playing })
    let set = { (element: String, property: String, value: String) in
      engine.withUnsafeElement(named: element) {
        gst_util_set_object_arg(UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObject.self), property, value)
      }
    }
    set("valve", "drop", "true")
    // The clock goes no further than to the stall. The thread that looks for stalls has set its next alarm by then.
    // The last frame waits for its time on GStreamer's clock, and the stream is not stalled until then.
    let hasStalled = await eventually {
      guard await clock.isAwaited(in: 0.5) else { return false }
      if engine.playState(of: "a") == .stalled { return true }
      clock.advance(by: 0.5)
      return false
    }
    #expect(hasStalled && engine.info(of: "a")?.camera == .off)
    set("valve", "drop", "false")
    #expect(await eventually { engine.playState(of: "a") == .playing })
    // A stream that stands still because it was paused is not stalled.
    engine.isPaused = true
    #expect(await eventually { engine.state == .paused })
    for _ in 0..<3 {
      #expect(await clock.isAwaited(in: 0.5))
      clock.advance(by: 100)
    }
    #expect(await clock.isAwaited(in: 0.5))
    #expect(engine.playState(of: "a") == .playing)
    engine.isPaused = false
    await engine.stop()
    let words = await log(of: events) { if case .stateChanged(.stopped) = $0 { true } else { false } }
    #expect(
      words == [
        "a requesting", "a 64x36", "a playing", "a camera on", "a stalled", "a camera off", "a playing", "a camera on",
        "a stopped", "a camera unknown",
      ])
  }

  @Test func aStreamOfItsOwnTellsTheSame() async throws {
    let engine = try VideoEngine()
    let events = engine.events()
    try engine.startPlayingStream(
      "late", from: "videotestsrc num-buffers=3 ! video/x-raw,width=32,height=32 ! appsink name=x"
    ) {
      _ in CountingConsumer()
    }
    let words = await log(of: events) { if case .cameraStateChanged(_, .unknown) = $0 { true } else { false } }
    #expect(
      words == ["late requesting", "late 32x32", "late playing", "late camera on", "late ended", "late camera unknown"])
    #expect(engine.info(of: "late")?.format?.size == PictureSize(width: 32, height: 32))
    await engine.stop()
    #expect(engine.streams.isEmpty)
  }

  @Test func aPipelineThatHasLostItsClockTakesAnotherOne() async throws {
    let engine = try VideoEngine(.text("\(Self.live) ! appsink name=a"))
    let frames = CountingConsumer()
    try await engine.start { _ in frames }
    #expect(await eventually { engine.state == .running })
    let states = Locked<[EngineState]>([])
    engine.status.broadcast.observe { event in
      if case .stateChanged(let state) = event { states.withLock { $0.append(state) } }
    }
    engine.withRun { run in
      let pipeline = run.pipeline.element
      let clock = gst_element_get_clock(pipeline)
      gst_element_post_message(pipeline, gst_message_new_clock_lost(pipeline.asObject, clock))
      gst_object_unref(clock)
    }
    // A clock is chosen when the pipeline leaves PAUSED.
    #expect(await eventually { states.withLock { $0 } == [.starting, .running] })
    let count = frames.sampleBuffers.count
    #expect(await eventually { frames.sampleBuffers.count > count + 5 })
    await engine.stop()
  }

  @Test func whatTheAppSaysOfADeviceGoesBeforeWhatFramesTell() async throws {
    let engine = try VideoEngine(.text("\(Self.live) ! appsink name=a"))
    #expect(engine.info(of: "a")?.camera == .unknown)
    let events = engine.events()
    engine.setCameraState(.off, of: "a")
    engine.setMicrophoneState(.on, of: "a")
    engine.setCameraState(.off, of: "nobody")
    try await engine.start { _ in CountingConsumer() }
    #expect(await eventually { engine.playState(of: "a") == .playing })
    #expect(engine.info(of: "a")?.camera == .off)
    #expect(engine.info(of: "a")?.microphone == .on)
    engine.setCameraState(.on, of: "a")
    await engine.stop()
    #expect(engine.info(of: "a")?.camera == .on, "what the app has said stays after the stop")
    engine.setCameraState(.unknown, of: "a")
    #expect(engine.info(of: "a")?.camera == .unknown)
    let words = await log(of: events) { if case .cameraStateChanged(_, .unknown) = $0 { true } else { false } }
    #expect(words.filter { $0.contains("camera") } == ["a camera off", "a camera on", "a camera unknown"])
  }

  @Test func aMicrophoneIsOnWhileItsSoundComes() async throws {
    let clock = ManualClock()
    let engine = try VideoEngine(
      .text(
        "\(Self.live) ! appsink name=a audiotestsrc is-live=true ! valve name=a-valve ! level name=a-level interval=20000000"
          + " ! fakesink sync=true async=false"), clock: clock.clock)
    engine.configuration.stallTimeout = .seconds(4)
    let pictures = CountingConsumer()
    try await engine.start { _ in pictures }
    #expect(await eventually { engine.info(of: "a")?.microphone == .on })
    // This is far longer than the time after which the microphone would count as off.
    let (count, isOff) = (Locked(0), Locked(false))
    engine.status.broadcast.observe { event in
      if case .audioLevel = event { count.withLock { $0 += 1 } }
      if case .microphoneStateChanged(_, .off) = event { isOff.withLock { $0 = true } }
    }
    for _ in 0..<20 {
      let (sounds, frames) = (count.withLock { $0 }, pictures.sampleBuffers.count)
      #expect(await eventually { count.withLock { $0 } > sounds && pictures.sampleBuffers.count > frames })
      #expect(await clock.isAwaited(in: 0.5))
      clock.advance(by: 0.5)
    }
    #expect(!isOff.withLock { $0 } && engine.info(of: "a")?.microphone == .on)
    closeValve("a-valve", of: engine)
    // Pictures still arrive.
    for _ in 0..<20 {
      let count = pictures.sampleBuffers.count
      #expect(await eventually { pictures.sampleBuffers.count > count })
      #expect(await clock.isAwaited(in: 0.5))
      clock.advance(by: 0.5)
    }
    #expect(await eventually { engine.info(of: "a")?.microphone == .off })
    #expect(engine.info(of: "a")?.camera == .on)
    await engine.stop()
  }

  @Test func aPipelineThatSomebodyElseHasPausedGoesOn() async throws {
    let engine = try VideoEngine(
      "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=30/1 ! appsink name=a")
    let consumer = CountingConsumer()
    try await engine.start { _ in consumer }
    #expect(await eventually { consumer.sampleBuffers.count > 3 })
    engine.withUnsafeElement(named: "a") { element in
      let pipeline = gst_object_get_parent(element.asObject)
      defer { gst_object_unref(pipeline) }
      UnsafeMutableRawPointer(pipeline)?.withMemoryRebound(to: GstElement.self, capacity: 1) {
        _ = gst_element_set_state($0, GST_STATE_PAUSED)
      }
    }
    let count = consumer.sampleBuffers.count
    #expect(await eventually { consumer.sampleBuffers.count > count + 10 })
    #expect(await eventually { engine.state == .running })
    await engine.stop()
  }

  @Test func localStreamsAreToldFromOthers() async throws {
    let engine = try VideoEngine("videotestsrc ! appsink name=me videotestsrc ! appsink name=you")
    engine.localStreamIDs = ["me", "later"]
    #expect(engine.streams.map(\.id) == ["me", "you"])
    #expect(engine.streams.map(\.isLocal) == [true, false])
    try engine.startPlayingStream("later", from: "videotestsrc ! appsink name=x") { _ in CountingConsumer() }
    #expect(engine.info(of: "later")?.isLocal == true)
    engine.localStreamIDs = []
    #expect(engine.streams.allSatisfy { !$0.isLocal })
    await engine.stop()
  }

  @Test func framesThatElementsDropBecauseTheyAreLateAreCounted() async throws {
    // When a decoder is told by its sink that its frames are late, it skips some frames.
    let engine = try VideoEngine(
      """
      videotestsrc num-buffers=120 ! video/x-raw,format=I420,width=64,height=36,framerate=60/1
        ! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=1 ! avdec_h264 qos=true
        ! identity sleep-time=40000 ! appsink name=a qos=true max-lateness=5000000
      """)
    _ = try await engine.runToEnd { _ in CountingConsumer() }
    #expect(engine.info(of: "a")?.lateFrameCount ?? 0 > 0)
  }

  /// The number in a message is the element's total.
  @Test func anElementsLateFramesAreCountedOnce() async throws {
    let clock = ManualClock()
    var configuration = PipelineConfiguration()
    configuration.stallTimeout = .seconds(100)
    let stream = try PushedStream(.first, configuration, clock: clock)
    try await stream.start()
    #expect(await stream.play())
    let messages: [(element: String, format: GstFormat, total: UInt64, sum: UInt64)] = [
      ("source", GST_FORMAT_BUFFERS, 3, 3), ("source", GST_FORMAT_BUFFERS, 7, 7), ("source", GST_FORMAT_BUFFERS, 7, 7),
      ("a", GST_FORMAT_DEFAULT, 2, 9), ("a", GST_FORMAT_TIME, 90, 9), ("source", GST_FORMAT_BUFFERS, 1, 9),
      ("a", GST_FORMAT_BUFFERS, .max, 9), ("a", GST_FORMAT_BUFFERS, 6, 13),
    ]
    for (element, format, total, sum) in messages {
      stream.engine.withUnsafeElement(named: element) {
        let message = gst_message_new_qos($0.asObject, 0, 0, 0, 0, 0)
        gst_message_set_qos_stats(message, format, 100, guint64(total))
        gst_element_post_message($0, message)
      }
      // They are added up at intervals. The last sum is right only if no message before it was counted wrongly.
      #expect(await clock.isAwaited(in: 0.5))
      clock.advance(by: 0.5)
      #expect(await eventually { stream.engine.info(of: "a")?.lateFrameCount == sum }, "\(element), \(total)")
    }
    await stream.engine.stop()
  }

  @Test func neitherTheMessageNorTheElementOfLateFramesIsKept() async throws {
    let clock = ManualClock()
    let stream = try PushedStream(.first, PipelineConfiguration(), clock: clock)
    try await stream.start()
    #expect(await stream.play())
    let lifetimes = Locked<(message: Lifetime, element: Lifetime)?>(nil)
    stream.engine.withUnsafeElement(named: "source") {
      guard let message = gst_message_new_qos($0.asObject, 0, 0, 0, 0, 0) else { return }
      gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, 100, 3)
      let both = (Lifetime(ofMiniObject: message), Lifetime(ofObject: $0))
      lifetimes.withLock { $0 = both }
      gst_element_post_message($0, message)
    }
    let (message, element) = try #require(lifetimes.withLock { $0 })
    #expect(message.isOver)
    #expect(await clock.reach(0.5))
    #expect(await eventually { stream.engine.info(of: "a")?.lateFrameCount == 3 })
    await stream.engine.stop()
    #expect(await eventually { element.isOver })
  }

  @Test func microphonesThatFallSilentTogetherAreAllOff() async throws {
    let clock = ManualClock()
    let sounds = ["a", "b"].map {
      "\(Self.live) ! appsink name=\($0) audiotestsrc is-live=true ! valve name=valve-\($0) ! level name=\($0)-level "
        + "interval=20000000 ! fakesink sync=true async=false"
    }
    let engine = try VideoEngine(.text(sounds.joined(separator: " ")), clock: clock.clock)
    try await engine.start { _ in CountingConsumer() }
    #expect(await eventually { ["a", "b"].allSatisfy { engine.info(of: $0)?.microphone == .on } })
    for id in ["a", "b"] { closeValve("valve-\(id)", of: engine) }
    // The thread waits again only when it has handled every message, so the last sounds count as heard by now.
    #expect(await clock.reach(0.5))
    #expect(await clock.isAwaited(in: 0.5))
    clock.advance(by: 100)
    #expect(await eventually { ["a", "b"].allSatisfy { engine.info(of: $0)?.microphone == .off } })
    await engine.stop()
  }

  @Test func aMicrophoneThatWasSilentForAPauseIsNotOffYet() async throws {
    let clock = ManualClock()
    let engine = try VideoEngine(
      .text(
        "\(Self.live) ! appsink name=a audiotestsrc is-live=true ! valve name=valve ! level name=a-level "
          + "interval=20000000 ! fakesink sync=true async=false"), clock: clock.clock)
    engine.configuration.stallTimeout = .seconds(4)
    let isOff = Locked(false)
    engine.status.broadcast.observe { event in
      if case .microphoneStateChanged(_, .off) = event { isOff.withLock { $0 = true } }
    }
    try await engine.start { _ in CountingConsumer() }
    #expect(await eventually { engine.info(of: "a")?.microphone == .on })
    closeValve("valve", of: engine)
    engine.isPaused = true
    #expect(await eventually { engine.state == .paused })
    #expect(await clock.isAwaited(in: 0.5))
    clock.advance(by: 100)
    #expect(await clock.isAwaited(in: 0.5))
    engine.isPaused = false
    #expect(await eventually { engine.state == .running })
    for time in [0.5, 3] {
      clock.advance(by: time)
      #expect(await clock.isAwaited(in: 0.5), "the thread has looked at the stream")
    }
    #expect(!isOff.withLock { $0 })
    clock.advance(by: 1)
    #expect(await eventually { isOff.withLock { $0 } })
    await engine.stop()
  }

  @Test func aLiveSourceIsNotPausedByItsBuffering() async throws {
    let stream = try PushedStream(.first, PipelineConfiguration(), clock: ManualClock())
    try await stream.start()
    #expect(await stream.play())
    stream.buffer(percent: 10, mode: GST_BUFFERING_LIVE)
    stream.buffer(percent: 90, mode: GST_BUFFERING_DOWNLOAD)
    // Messages are handled in their order, and the second one is of a source that is read ahead.
    #expect(await stream.isTold { if case .buffering(90) = $0 { true } else { false } })
    // A sink pauses only when the next frame arrives.
    let isPaused = await eventually {
      stream.push()
      return stream.engine.state == .starting
    }
    #expect(isPaused)
    stream.buffer(percent: 100, mode: GST_BUFFERING_LIVE)
    stream.buffer(percent: 95)
    #expect(await stream.isTold { if case .buffering(95) = $0 { true } else { false } })
    #expect(stream.engine.state == .starting)
    stream.buffer(percent: 100)
    #expect(await eventually { stream.engine.state == .running })
    #expect(!stream.hasTold { if case .buffering(10) = $0 { true } else { false } })
    await stream.engine.stop()
  }

  @Test func aSourceThatIsReadAheadStandsStillUntilThereIsEnough() async throws {
    let engine = try VideoEngine(
      """
      videotestsrc num-buffers=60 ! video/x-raw,format=I420,width=64,height=36,framerate=30/1
        ! identity sleep-time=5000 ! queue2 use-buffering=true max-size-time=500000000 max-size-buffers=0 max-size-bytes=0
        ! appsink name=a max-lateness=10000000000
      """)
    let consumer = CountingConsumer()
    let events = try await engine.runToEnd { _ in consumer }
    let percentages = events.compactMap { if case .buffering(let percent) = $0 { percent } else { nil } }
    #expect(percentages.contains { $0 < 100 } && percentages.contains(100))
    #expect(consumer.sampleBuffers.count == 60)
  }
}
