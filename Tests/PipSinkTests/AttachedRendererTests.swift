import Testing

@testable import PipSink
@testable import TestSupport

/// Renderers that an app attaches to the streams of a session, before or after these streams exist.
@MainActor @Suite(.timeLimit(.minutes(5))) struct AttachedRendererTests {
  private static let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink name="

  private func makeSession() throws -> PictureInPictureSession { try PictureInPictureSession(display: NoDisplay()) }

  private func frame(_ number: UInt64) throws -> SampleBuffer {
    SampleBuffer(
      pixelBuffer: try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 64, 36)), sequenceNumber: number)
  }

  @Test func aRendererMayComeBeforeItsStreamAndAfter() async throws {
    let session = try makeSession()
    let (early, late) = (TestRenderer(), TestRenderer())
    #expect(!session.attach(early, toStream: "remote"), "the stream does not exist yet")
    try session.startStream("remote", from: .text(Self.live + "x"))
    #expect(await eventually { !early.shown.isEmpty })
    #expect(session.attach(late, toStream: "remote"))
    #expect(await eventually { !late.shown.isEmpty })
    session.detach(early, fromStream: "remote")
    #expect(await eventually { early.state.withLock { $0.log.last } == "remove" })
    let count = (early.shown.count, late.shown.count)
    #expect(await eventually { late.shown.count > count.1 + 5 })
    #expect(early.shown.count == count.0)
    await session.stop()
  }

  @Test func waitingForAStreamThatIsNotThereIsSaidInTheLogWithThoseThatAre() {
    let log = RecordedLog()
    let router = FrameRouter(destination: nil, logger: log.makeLogger("routing", level: .notice))
    let layer = SampleBufferDisplayLayer(name: "test")
    router.attach(layer, toStream: "remote")
    router.attach(layer, toStream: "remote")
    router.setLayer(nil, for: "b")
    router.setLayer(nil, for: "a")
    router.attach(layer, toStream: "b")
    router.attach(layer, toStream: "c")
    #expect(
      log.entries.map(\.message) == [
        "a surface waits for stream \"remote\", which does not exist; there are no streams",
        "a surface waits for stream \"c\", which does not exist; the streams are \"a\", \"b\"",
      ])
  }

  @Test func aRendererThatWaitsForAStreamWaitsNoMoreWhenThatIsRemoved() throws {
    let router = FrameRouter(destination: nil)
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    router.attach(layer, toStream: "remote")
    router.removeStream("remote")
    router.input(for: "remote").consume(try frame(1))
    #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(10))))
    #expect(renderer.shown.isEmpty, "the new stream with the same ID is a different stream")
    router.attach(layer, toStream: "remote")
    router.input(for: "remote").consume(try frame(2))
    #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(10))))
    #expect(!renderer.shown.isEmpty)
  }

  @Test func everyRendererOfAStreamGetsItsFramesAndNoneWaitsForAnother() async throws {
    let session = try makeSession()
    let renderers = (0..<3).map { _ in TestRenderer() }
    for renderer in renderers { session.attach(renderer, toStream: "a") }
    session.attach(renderers[0], toStream: "a", gravity: .resizeAspectFill)
    // One renderer blocks, and another one fails.
    renderers[0].state.withLock { $0.isHeld = true }
    renderers[1].state.withLock { $0.failsNext = .max }
    let consumer = try session.addStream("a", stallTimeout: nil)
    let picture = try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 64, 36, pattern: "white"))
    for number in 1...100 as ClosedRange<UInt64> {
      consumer.consume(SampleBuffer(pixelBuffer: picture, sequenceNumber: number))
    }
    #expect(await eventually { renderers[2].shown.last == 100 })
    #expect(session.summary(of: "a")?.statistics.received == 100)
    renderers[0].state.withLock { $0.isHeld = false }
    renderers[0].state.wakeAll()
    #expect(await eventually { renderers[0].shown.last == 100 })
    #expect(renderers[0].state.withLock { $0.gravities.last } == .resizeAspectFill)
    #expect(renderers[1].shown.isEmpty)
  }

  @Test func aRendererShowsItsStreamAlsoWhileThatIsInPictureInPicture() async throws {
    let session = try makeSession()
    let renderer = TestRenderer()
    let consumer = try session.addStream("a", stallTimeout: nil)
    consumer.consume(try frame(1))
    session.attach(renderer, toStream: "a")
    try session.startPictureInPicture("a")
    consumer.consume(try frame(2))
    #expect(await eventually { renderer.shown.last == 2 })
    #expect(session.summary(of: "a")?.statistics.pictureInPicture == 1)
    session.stopPictureInPicture()
    consumer.consume(try frame(3))
    #expect(await eventually { renderer.shown.last == 3 })
  }

  @Test func aStreamThatIsRemovedLetsItsRenderersGoAndItsConsumerHasNoEffect() async throws {
    let session = try makeSession()
    let renderer = TestRenderer()
    session.attach(renderer, toStream: "a")
    let old = try session.addStream("a", stallTimeout: nil)
    old.consume(try frame(1))
    #expect(await eventually { renderer.shown == [1] })
    try session.removeStream("a")
    #expect(await eventually { renderer.state.withLock { $0.log.last } == "remove" })
    old.consume(try frame(2))
    #expect(!session.attach(renderer, toStream: "a"), "a stream that comes back has not delivered any frame yet")
    try session.addStream("a", stallTimeout: nil).consume(try frame(3))
    #expect(await eventually { renderer.shown == [1, 3] })
  }

  @Test func aRendererOfAStreamThatStandsStillBeginsWithItsNewestFrame() async throws {
    let session = try makeSession()
    let consumer = try session.addStream("a", stallTimeout: nil)
    for number in 1...3 as ClosedRange<UInt64> { consumer.consume(try frame(number)) }
    let renderer = TestRenderer()
    #expect(session.attach(renderer, toStream: "a", gravity: .resize))
    #expect(await eventually { renderer.shown == [3] })
    #expect(renderer.state.withLock { $0.gravities } == [.resize])
    // The renderer is detached, and is attached again while nothing has changed.
    session.detach(renderer, fromStream: "a")
    #expect(await eventually { renderer.state.withLock { $0.log.last } == "remove" })
    session.detach(renderer, fromStream: "a")
    #expect(session.attach(renderer, toStream: "a"))
    #expect(await eventually { renderer.shown == [3, 3] })
  }

  @Test func aStreamMovesToAnotherViewWithAnotherGravity() async throws {
    let host = try OffscreenPictureInPictureWindow()
    let session = try PictureInPictureSession(display: LayerDisplay(pictureInPictureHost: host))
    let (first, second) = (TestRenderer(), TestRenderer())
    let consumer = try session.addStream("a", stallTimeout: nil)
    try session.updateView(first, for: "a", gravity: .resizeAspect)
    consumer.consume(try frame(1))
    #expect(await eventually { first.shown == [1] })
    try session.updateView(second, for: "a", gravity: .resizeAspectFill)
    #expect(await eventually { second.shown == [1] })
    #expect(second.state.withLock { $0.gravities } == [.resizeAspectFill])
    #expect(await eventually { first.state.withLock { $0.log.last } == "remove" })
    #expect(throws: PipSinkError.stream(.unknown("b", known: ["a"]))) {
      try session.updateView(first, for: "b", gravity: .resize)
    }
  }
}
