import CGStreamer
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

  @Test func theColoursOfAStreamAreAdjustedOnAttachedRenderersToo() async throws {
    let session = try makeSession()
    let consumer = try session.addStream("a", stallTimeout: nil)
    let renderers = try (0..<2).map { _ in try OffscreenRenderer(size: PictureSize(width: 8, height: 8)) }
    session.attach(renderers[0], toStream: "a")
    consumer.consume(
      SampleBuffer(pixelBuffer: try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 64, 36, pattern: "red"))))
    func isGray(_ renderer: OffscreenRenderer) -> Bool? {
      renderer.image().map { abs(Int($0.bytes[4 * 36]) - Int($0.bytes[4 * 36 + 2])) < 4 }
    }
    #expect(await eventually { isGray(renderers[0]) == false })
    // The picture stands still. One renderer has shown it already, the other one begins with it.
    session.router.setColorBalance(ColorBalance(saturation: -1000), for: "a")
    session.attach(renderers[1], toStream: "a")
    for renderer in renderers { #expect(await eventually { isGray(renderer) == true }) }
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

  // MARK: - Formats

  /// Keeps the frames that it gets, of the kind that it takes.
  private final class FormatRenderer: VideoRenderer {
    let formatSeries: FrameFormatSeries
    private let state = Locked((frames: [SampleBuffer](), rebuilds: 0))

    init(_ formatSeries: FrameFormatSeries) { self.formatSeries = formatSeries }

    func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) {
      state.withLock { $0.frames.append(sampleBuffer) }
    }
    func removeImage() {}
    func rebuild() { state.withLock { $0.rebuilds += 1 } }

    var frames: [SampleBuffer] { state.withLock { $0.frames } }
    var newest: PixelBuffer? { frames.last?.pixelBuffer }
    var rebuilds: Int { state.withLock { $0.rebuilds } }
  }

  private func frame(_ format: PixelFormat, _ number: UInt64, size: PictureSize? = nil) throws -> SampleBuffer {
    let source = TestFrame.testSource(format, size?.width ?? 64, size?.height ?? 36)
    return SampleBuffer(pixelBuffer: try TestFrame.keptPixelBuffer(source), sequenceNumber: number)
  }

  /// Formats whose first plane is luma.
  private static let luma = FrameFormatSeries.oneOf([.i420, .nv12, .gray8])

  @Test func aRendererThatReadsLumaGetsItFromEveryFormatAndTheFrameItselfWhereThatHasIt() async throws {
    let session = try makeSession()
    let (gray, planar, any) = (FormatRenderer(.exactly(.gray8)), FormatRenderer(Self.luma), FormatRenderer(.any))
    for renderer in [gray, planar, any] { session.attach(renderer, toStream: "a") }
    let consumer = try session.addStream("a", stallTimeout: nil)
    let bars = try frame(.bgra, 1)
    consumer.consume(bars)
    #expect(await eventually { gray.newest != nil && planar.newest != nil && any.newest != nil })
    #expect(any.newest === bars.pixelBuffer)
    for (renderer, caps) in [(gray, "format=GRAY8,colorimetry=1:4:0:0"), (planar, "format=I420,colorimetry=bt601")] {
      let picture = try #require(renderer.newest)
      let expected = try Oracle.converted(bars.pixelBuffer, to: "video/x-raw,\(caps),width=64,height=36")
      #expect(picture.pixelFormat == expected.pixelFormat)
      let (ours, theirs) = try (Oracle.tightBytes(picture), Oracle.tightBytes(expected))
      #expect(ours.count == theirs.count)
      let difference = zip(ours, theirs).map { abs(Int($0) - Int($1)) }.max() ?? 0
      #expect(difference <= 1, "\(caps)")
    }
    for (number, format) in [(2, PixelFormat.nv12), (3, .i420), (4, .gray8)] as [(UInt64, PixelFormat)] {
      let yuv = try frame(format, number)
      consumer.consume(yuv)
      #expect(await eventually { planar.newest === yuv.pixelBuffer }, "\(format)")
    }
    #expect(await eventually { gray.newest === any.newest })
  }

  @Test func whoeverAttachesARendererMaySayItsFormatsAndChangeThemWhileTheStreamChangesItsOwn() async throws {
    let session = try makeSession()
    let renderer = FormatRenderer(.any)
    session.attach(renderer, toStream: "a", formatSeries: .oneOf([.nv12, .i420]))
    let consumer = try session.addStream("a", stallTimeout: nil)
    let small = PictureSize(width: 32, height: 18)
    for (number, format, size, shown) in [
      (1, PixelFormat.i420, nil, PixelFormat.i420), (2, .bgrx, nil, .nv12), (3, .yuy2, small, .nv12),
      (4, .nv12, small, .nv12), (5, .rgb, nil, .nv12),
    ] as [(UInt64, PixelFormat, PictureSize?, PixelFormat)] {
      let new = try frame(format, number, size: size)
      consumer.consume(new)
      #expect(await eventually { renderer.frames.last?.sequenceNumber == number })
      #expect(renderer.newest?.pixelFormat == shown)
      #expect(renderer.newest?.size == new.pixelBuffer.size)
    }
    // No further frame comes.
    session.attach(renderer, toStream: "a", formatSeries: .exactly(.y444))
    #expect(await eventually { renderer.newest?.pixelFormat == .y444 })
    session.attach(renderer, toStream: "a")
    #expect(await eventually { renderer.newest?.pixelFormat == .rgb })
  }

  @Test func allRenderersOfAStreamShareOneConversionAlsoOfAStillPicture() async throws {
    let host = try OffscreenPictureInPictureWindow()
    let session = try PictureInPictureSession(display: LayerDisplay(pictureInPictureHost: host))
    let renderers = (0..<4).map { _ in FormatRenderer(Self.luma) }
    let consumer = try session.addStream("a", stallTimeout: nil)
    // The first one is in the stream's place in the app, and the last one comes after the last frame.
    try session.updateView(renderers[0], for: "a", gravity: .resize)
    for renderer in renderers[1...2] { session.attach(renderer, toStream: "a") }
    for number in 1...5 as ClosedRange<UInt64> {
      consumer.consume(try frame(number.isMultiple(of: 2) ? .bgra : .rgba, number))
      #expect(await eventually { renderers[0...2].allSatisfy { $0.frames.last?.sequenceNumber == number } })
    }
    session.attach(renderers[3], toStream: "a")
    #expect(await eventually { renderers[3].newest != nil })
    let pictures = Set(renderers.flatMap { $0.frames.map { ObjectIdentifier($0.pixelBuffer) } })
    #expect(pictures.count == 5)
  }

  @Test func aConvertedFrameLooksAsTheFrameDoesAndKeepsItsTimesAndSubtitles() async throws {
    let session = try makeSession()
    let renderers = try (0..<2).map { _ in try OffscreenRenderer(size: PictureSize(width: 160, height: 120)) }
    let converted = FormatRenderer(.exactly(.rgba))
    let source = TestFrame.testSource(.bgra, 96, 64, pixelAspectRatio: "4/3")
    let made = try TestFrame.sample(source)
    defer { gst_sample_unref(made) }
    let buffer = try #require(gst_buffer_copy_deep(gst_sample_get_buffer(made)))
    let meta = try #require(gst_buffer_add_meta(buffer, gst_video_crop_meta_get_info(), nil))
    let crop = UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self)
    (crop.pointee.x, crop.pointee.y, crop.pointee.width, crop.pointee.height) = (16, 8, 64, 48)
    let overlay = try TestFrame.overlay(.init(width: 32, height: 16), at: .init(x: 8, y: 28, width: 48, height: 16))
    let composition = try #require(gst_video_overlay_composition_new(overlay))
    gst_video_overlay_rectangle_unref(overlay)
    gst_buffer_add_video_overlay_composition_meta(buffer, composition)
    gst_video_overlay_composition_unref(composition)
    buffer.pointee.pts = 40_000_000
    buffer.pointee.mini_object.flags |= GST_VIDEO_BUFFER_FLAG_TFF.rawValue
    let format = try VideoFormatDescription.shared(for: gst_sample_get_caps(made))
    var picture = SampleBuffer(
      pixelBuffer: PixelBuffer(owning: buffer, formatDescription: format),
      timing: SampleTiming(presentationTimeStamp: MediaTime(clockTime: 40_000_000)), sequenceNumber: 7)
    picture.orientation = VideoOrientation(rotation: .quarter)

    session.attach(renderers[0], toStream: "a")
    session.attach(renderers[1], toStream: "a", formatSeries: .exactly(.rgba))
    session.attach(converted, toStream: "a")
    try session.addStream("a", stallTimeout: nil).consume(picture)
    #expect(await eventually { renderers.allSatisfy { $0.image() != nil } && converted.newest != nil })
    let looksTheSame = renderers[0].image()?.bytes == renderers[1].image()?.bytes
    #expect(looksTheSame)
    let result = try #require(converted.frames.last)
    #expect(result.pixelBuffer.pixelFormat == .rgba)
    #expect(OverlayComposition(of: result.pixelBuffer)?.rectangles.count == 1)
    #expect(result.timing == picture.timing)
    #expect(result.sequenceNumber == 7)
    result.pixelBuffer.withUnsafeGstSample { sample in
      let buffer = gst_sample_get_buffer(sample)
      #expect(buffer?.pointee.pts == 40_000_000)
      #expect((buffer?.pointee.mini_object.flags ?? 0) & GST_VIDEO_BUFFER_FLAG_TFF.rawValue != 0)
    }
    #expect(result.displayAspectRatio == picture.displayAspectRatio)
  }

  @Test func theMemoryOfConvertedFramesIsUsedAgainAndFreedWhenNoRendererNeedsIt() throws {
    let conversions = FrameConversions()
    weak var last: PixelBuffer?
    for number in 1...20 as ClosedRange<UInt64> {
      // More frames than a pool has, each at another address.
      let copy = try PixelBufferPool().mutableCopy(of: frame(.bgra, number).pixelBuffer).finish()
      last = try conversions.convert(SampleBuffer(pixelBuffer: copy), to: .nv12).pixelBuffer
    }
    #expect(last != nil)
    conversions.forget()
    #expect(last == nil)
  }

  @Test func aFormatThatNothingIsConvertedToIsAnErrorOfItsLayerUntilAnotherIsWanted() async throws {
    let renderer = FormatRenderer(.exactly(.p010))
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.enqueue(try frame(.bgra, 1))
    #expect(await eventually { layer.error?.code == .invalidPixelFormat && layer.status == .failed })
    #expect(layer.error?.reason.contains("P010") == true)
    #expect(renderer.frames.isEmpty)
    layer.formatSeries = .oneOf([.p010, .i420])
    #expect(await eventually { renderer.newest?.pixelFormat == .i420 })
    #expect(await eventually { layer.error == nil && layer.status == .rendering })
    #expect(renderer.rebuilds == 0, "there is nothing wrong with the renderer")
    let ten = try frame(.p010, 2)
    layer.enqueue(ten)
    #expect(await eventually { renderer.newest === ten.pixelBuffer })
  }

  @Test func aRendererInTheAppThatGetsNoFrameItTakesIsReportedByTheSession() async throws {
    let session = try PictureInPictureSession(
      display: LayerDisplay(pictureInPictureHost: OffscreenPictureInPictureWindow()))
    let events = session.events()
    let error = Locked<RenderingError?>(nil)
    let reader = Task {
      for await case .surfaceFailed("a", let new) in events { error.withLock { $0 = new } }
    }
    defer { reader.cancel() }
    let consumer = try session.addStream("a", stallTimeout: nil)
    try session.updateView(FormatRenderer(.exactly(.p010)), for: "a", gravity: .resize)
    consumer.consume(try frame(.i420, 1))
    #expect(await eventually { error.withLock { $0 }?.code == .invalidPixelFormat })
  }
}
