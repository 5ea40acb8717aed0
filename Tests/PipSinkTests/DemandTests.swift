import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// How large the pictures of a session's streams have to be.
@MainActor @Suite(.timeLimit(.minutes(5))) struct DemandTests {
  private let clock = ManualClock()

  private func makeSession() throws -> PictureInPictureSession {
    try PictureInPictureSession(try VideoEngine(clock: clock.clock), NoDisplay(), .init())
  }

  private func size(_ width: Int, _ height: Int) -> StreamDemand { .size(PictureSize(width: width, height: height)) }

  private func demand(_ session: PictureInPictureSession) -> StreamDemand? { session.info(of: "a")?.demand }

  /// Adds the stream "a", which plays.
  private func play(in session: PictureInPictureSession, _ orientation: VideoOrientation = .upright) async throws {
    let input = try session.addInput("a", stallTimeout: nil)
    input.push(try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 64, 36)), orientation: orientation)
    #expect(await eventually { session.info(of: "a")?.state == .playing })
  }

  @Test func moreIsAskedForAtOnceAndLessAfterHalfASecond() {
    var delay = DemandDelay()
    let start = MonotonicTime(nanoseconds: 1_000_000_000)
    func ask(_ old: StreamDemand, _ new: StreamDemand, _ milliseconds: Int) -> (StreamDemand, Bool) {
      let (demand, later) = delay.demand(after: old, asking: new, at: start.advanced(by: .milliseconds(milliseconds)))
      return (demand, later != nil)
    }
    #expect(ask(.hidden, size(640, 360), 0) == (size(640, 360), false))
    #expect(ask(size(640, 360), size(320, 180), 0) == (size(640, 360), true))
    #expect(ask(size(640, 360), size(320, 180), 499) == (size(640, 360), true))
    #expect(ask(size(640, 360), size(640, 360), 499) == (size(640, 360), false), "it is wanted again")
    #expect(ask(size(640, 360), .hidden, 600) == (size(640, 360), true), "the time begins anew")
    #expect(ask(size(640, 360), .hidden, 1100) == (.hidden, false))
    #expect(ask(size(640, 360), size(360, 640), 1200) == (size(360, 640), false), "more is asked for in height")
    #expect(ask(size(640, 360), .fullSize, 1200) == (.fullSize, false))
    #expect(ask(.fullSize, size(9999, 9999), 1200) == (.fullSize, true))
  }

  @Test func theLargestPlaceThatCanBeSeenCounts() async throws {
    let session = try makeSession()
    let (small, large) = (TestPlace(320, 180), TestPlace(1280, 720))
    session.attach(small, toStream: "a")
    session.attach(large, toStream: "a")
    try await play(in: session)
    #expect(await eventually { demand(session) == size(1280, 720) })
    large.set(isVisible: false)
    #expect(await clock.isAwaited(in: 0.5))
    clock.advance(by: 0.4)
    session.updateDemand()
    #expect(demand(session) == size(1280, 720))
    clock.advance(by: 0.2)
    #expect(await eventually { demand(session) == size(320, 180) })
    large.set(isVisible: true)
    #expect(await eventually { demand(session) == size(1280, 720) })
    large.set(1920, 1080)
    #expect(await eventually { demand(session) == size(1920, 1080) })
    session.attach(TestPlace(), toStream: "a")
    #expect(await eventually { demand(session) == .fullSize })
    await session.stop()
  }

  @Test func aTurnedPictureIsAskedForAsItIsBeforeItIsTurned() async throws {
    let session = try makeSession()
    session.attach(TestPlace(360, 640), toStream: "a")
    try await play(in: session, VideoOrientation(rotation: .quarter))
    #expect(await eventually { demand(session) == size(640, 360) })
    await session.stop()
  }

  @Test func nobodySeesAStreamWhoseCameraIsOffOrThatHasEnded() async throws {
    let session = try makeSession()
    session.attach(TestPlace(320, 180), toStream: "a")
    try await play(in: session)
    var events = session.events().makeAsyncIterator()
    #expect(await eventually { demand(session) == size(320, 180) })
    try session.setCameraState(.off, of: "a")
    #expect(await clock.reach(0.5))
    #expect(await eventually { demand(session) == .hidden })
    try session.setCameraState(.on, of: "a")
    #expect(await eventually { demand(session) == size(320, 180) })
    var told: [StreamDemand] = []
    while told.count < 2, let event = await events.next() {
      if case .demandChanged("a", let demand) = event { told.append(demand) }
    }
    #expect(told == [.hidden, size(320, 180)])
    session.endInput("a")
    #expect(await clock.reach(0.5))
    #expect(await eventually { demand(session) == .hidden })
    await session.stop()
  }

  /// A stream that waits for its picture is covered wherever it is to be shown.
  @Test func aStreamWithoutAPictureIsAskedForWhereItIsToBeShown() async throws {
    let session = try makeSession()
    let place = TestPlace(320, 180)
    place.set(isVisible: false)
    session.attach(place, toStream: "a")
    _ = try session.addInput("a", stallTimeout: nil)
    #expect(await eventually { demand(session) == size(320, 180) })
    await session.stop()
  }

  // MARK: - Upstream

  /// Otherwise its decoder would wait for the keyframe after the first one.
  @Test func aStreamThatIsAddedWhereItIsSeenIsNotSaidToBeHidden() async throws {
    let session = try makeSession()
    session.attach(TestPlace(320, 180), toStream: "a")
    let app = try AppPipeline("videotestsrc ! appsink name=s max-buffers=1")
    gst_element_set_state(app.pipeline, GST_STATE_PLAYING)
    _ = try session.addInput("a", unsafeSinkPad: app.sinkPad, stallTimeout: nil)
    #expect(await eventually { !app.events.demands.isEmpty })
    #expect(app.events.demands == ["320x180"])
    await session.stop()
  }

  @Test func aNewStreamThatNobodySeesIsSaidToBeHiddenAfterHalfASecond() async throws {
    let session = try makeSession()
    let app = try AppPipeline("videotestsrc ! appsink name=s max-buffers=1")
    gst_element_set_state(app.pipeline, GST_STATE_PLAYING)
    _ = try session.addInput("a", unsafeSinkPad: app.sinkPad, stallTimeout: nil)
    #expect(await clock.isAwaited(in: 0.5))
    #expect(app.events.demands == [])
    clock.advance(by: 0.5)
    #expect(await eventually { app.events.demands == ["0x0"] })
    await session.stop()
  }

  @Test func theDecoderInAnAppsPipelineRestsWhileNobodySeesTheStream() async throws {
    let session = try PictureInPictureSession(display: NoDisplay())
    let place = TestPlace(320, 180)
    session.attach(place, toStream: "a")
    let app = try AppPipeline("\(AppPipeline.encoded) ! appsink name=s max-buffers=8")
    let input = try session.addInput("a", unsafeSinkPad: app.sinkPad, stallTimeout: .seconds(1))
    let thread = app.deliver(to: input)
    #expect(await eventually { session.info(of: "a")?.state == .playing })
    #expect(await eventually { app.events.demands.last == "320x180" })
    place.set(isVisible: false)
    #expect(await eventually { session.info(of: "a")?.isDecodingSuspended == true })
    #expect(app.events.demands.last == "0x0")
    place.set(isVisible: true)
    #expect(await eventually { session.info(of: "a")?.isDecodingSuspended == false })
    let count = session.router.statistics(of: "a")?.received ?? 0
    // The encoder sends a keyframe by itself every ten seconds only.
    #expect(await eventually { session.router.statistics(of: "a")?.received ?? 0 > count + 30 })
    #expect(session.info(of: "a")?.state == .playing)
    gst_element_set_state(app.pipeline, GST_STATE_NULL)
    thread?.join()
    await session.stop()
  }

  @Test func aDecoderWhosePicturesOthersGetTooGoesOn() async throws {
    let session = try makeSession()
    let refusals = Locked<[String]>([])
    let app = try AppPipeline(
      "\(AppPipeline.encoded) ! tee name=t ! queue ! appsink name=s drop=true max-buffers=1 t. ! queue ! fakesink")
    gst_element_set_state(app.pipeline, GST_STATE_PLAYING)
    let upstream = UpstreamDemand(before: app.sinkPad) { _, refusal in
      refusals.withLock { $0 += [refusal].compactMap(\.self) }
    }
    upstream.suspendsDecoder = true
    upstream.set(.hidden)
    #expect(await eventually { !refusals.withLock { $0.isEmpty } })
    upstream.repeatDemand()
    #expect(await eventually { app.events.demands.count >= 2 })
    #expect(refusals.withLock { $0 } == ["the element \"t\" passes the stream's pictures to others, too"])
    upstream.end()
    await session.stop()
  }

  @Test func theEnginesOwnPipelinesAreToldToo() async throws {
    let session = try PictureInPictureSession(display: NoDisplay())
    let place = TestPlace(320, 180)
    session.attach(place, toStream: "a")
    try session.startStream(
      "a", from: .text("videotestsrc is-live=true ! video/x-raw,width=64,height=36 ! identity name=i ! appsink"))
    #expect(await eventually { session.info(of: "a")?.state == .playing && demand(session) == size(320, 180) })
    let events = try #require(
      session.engine.run(of: "a")?.withUnsafeElement(named: "i") { element in
        element.withSinkPads { UpstreamEvents(at: $0[0]) }
      })
    place.set(640, 360)
    // The stream may tell of its first demand after it has begun to play.
    #expect(await eventually { events.demands.last == "640x360" }, "\(events.demands)")
    await session.stop()
  }
}
