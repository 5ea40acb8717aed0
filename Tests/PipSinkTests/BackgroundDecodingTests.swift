import CGStreamer
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

/// Decoders of streams that are not visible.
@Suite(.timeLimit(.minutes(5))) struct BackgroundDecodingTests {
  /// Keeps the newest frame and counts the frames.
  private final class Screen: SampleBufferConsumer {
    private let state = Locked((count: 0, latest: SampleBuffer?.none, following: [SampleBuffer]()))
    var count: Int { state.withLock { $0.count } }
    var following: [SampleBuffer] { state.withLock { $0.following } }

    func consume(_ sampleBuffer: SampleBuffer) {
      state.withLock { state in
        state.count += 1
        state.latest = sampleBuffer
        if state.following.count < 40 { state.following.append(sampleBuffer) }
      }
    }

    /// Discards the frames that were kept so far.
    func forget() { state.withLock { $0.following = [] } }
  }

  /// White pictures with a keyframe every second. A picture that is decoded without its keyframe would be grey.
  private static func encoded(_ name: String, keyframes: Int = 30) -> String {
    """
    videotestsrc is-live=true pattern=white ! video/x-raw,format=I420,width=64,height=48,framerate=60/1
      ! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=\(keyframes) ! h264parse ! avdec_h264 name=decoder-\(name)
      ! videoconvert ! appsink name=\(name)
    """
  }

  private func isWhite(_ sampleBuffer: SampleBuffer) throws -> Bool {
    let image = try rendered(sampleBuffer, size: PictureSize(width: 16, height: 12))
    return [(0, 0), (8, 6), (15, 11)].allSatisfy { image.pixel($0.0, $0.1).prefix(3).allSatisfy { $0 > 240 } }
  }

  @Test func aStreamThatNobodySeesIsNotDecodedAndComesBackClean() async throws {
    let engine = try VideoEngine(.text(Self.encoded("a") + " " + Self.encoded("b")))
    let screens: [StreamID: Screen] = ["a": Screen(), "b": Screen()]
    let (a, b) = try (#require(screens["a"]), #require(screens["b"]))
    engine.configuration.stallTimeout = .seconds(0.5)
    let events = engine.events()
    try await engine.start { screens[$0]! }
    #expect(await eventually { a.count > 5 && b.count > 5 })
    engine.visibleStreamIDs = ["b"]
    #expect(await eventually { engine.info(of: "a")?.isDecodingSuspended == true })
    #expect(engine.info(of: "b")?.isDecodingSuspended == false)
    // The decoder may still deliver the frames that it was working on.
    let seen = b.count
    #expect(await eventually { b.count > seen + 20 })
    let count = a.count
    let later = b.count
    #expect(await eventually { b.count > later + 60 })
    #expect(a.count == count, "nothing is decoded for longer than the time after which a stall is reported")
    #expect(engine.playState(of: "a") == .playing, "this is not a stall")
    a.forget()
    engine.visibleStreamIDs = nil
    #expect(await eventually { a.following.count >= 20 })
    #expect(try a.following.allSatisfy(isWhite), "the stream resumes with a keyframe")
    #expect(engine.info(of: "a")?.isDecodingSuspended == false)
    await engine.stop()
    var changes: [Bool] = []
    for await event in events {
      if case .decodingSuspended("a", let isSuspended) = event { changes.append(isSuspended) }
      if case .stateChanged(.stopped) = event { break }
    }
    #expect(changes == [true, false])
  }

  @Test func backgroundDecodingCanBeSwitchedOn() async throws {
    let engine = try VideoEngine(.text(Self.encoded("a")))
    let screen = Screen()
    engine.isBackgroundDecodingEnabled = true
    engine.visibleStreamIDs = []
    try await engine.start { _ in screen }
    #expect(await eventually { screen.count > 20 })
    engine.isBackgroundDecodingEnabled = false
    #expect(await eventually { engine.info(of: "a")?.isDecodingSuspended == true })
    engine.isBackgroundDecodingEnabled = true
    let count = screen.count
    #expect(await eventually { screen.count > count + 10 })
    await engine.stop()
  }

  @Test func aStreamThatJoinsUnseenShowsItsFirstPictureAndThenRests() async throws {
    let engine = try VideoEngine()
    let screen = Screen()
    engine.visibleStreamIDs = []
    try engine.startPlayingStream("late", from: .text(Self.encoded("x"))) { _ in screen }
    #expect(await eventually { screen.count > 0 && engine.info(of: "late")?.isDecodingSuspended == true })
    engine.visibleStreamIDs = ["late"]
    let count = screen.count
    #expect(await eventually { screen.count > count + 10 })
    #expect(engine.info(of: "late")?.isDecodingSuspended == false)
    await engine.stop()
  }

  /// The pipeline of a file delivers frames at its pace, whether they are decoded or not.
  @Test func aFileKeepsItsPlaceWhileItIsNotDecoded() async throws {
    let path = "/tmp/pipsink-background-\(getpid()).mkv"
    defer { unlink(path) }
    try TestFrame.run(
      "videotestsrc num-buffers=300 ! video/x-raw,format=I420,width=64,height=48,framerate=60/1"
        + " ! x264enc speed-preset=ultrafast key-int-max=10 ! matroskamux ! filesink location=\(path)")
    let engine = try VideoEngine(
      .text("filesrc location=\(path) ! decodebin ! videoconvert ! appsink name=film"))
    let screen = Screen()
    try await engine.start { _ in screen }
    #expect(await eventually { screen.count > 30 })
    engine.visibleStreamIDs = []
    #expect(await eventually { engine.info(of: "film")?.isDecodingSuspended == true })
    let last = try #require(screen.following.last?.timing.presentationTimeStamp.seconds)
    try await Task.sleep(for: .seconds(1))
    #expect(engine.playState(of: "film") == .playing)
    screen.forget()
    engine.visibleStreamIDs = nil
    #expect(await eventually { !screen.following.isEmpty })
    let next = try #require(screen.following.first?.timing.presentationTimeStamp.seconds)
    // The film is five seconds long. It has neither stopped nor run to its end.
    #expect(next > last + 0.5 && next < 4.9, "from \(last) to \(next)")
    await engine.stop()
  }

  @Test func aDecoderThatAlsoFeedsAStreamInSightGoesOn() async throws {
    let engine = try VideoEngine(
      .text(
        Self.encoded("a").replacing("! videoconvert ! appsink name=a", with: "! tee name=t ! queue ! appsink name=a ")
          + " t. ! queue ! appsink name=b"))
    let screens: [StreamID: Screen] = ["a": Screen(), "b": Screen()]
    try await engine.start { screens[$0]! }
    #expect(await eventually { screens.values.allSatisfy { $0.count > 5 } })
    engine.visibleStreamIDs = ["b"]
    let count = screens["b"]!.count
    #expect(await eventually { screens["b"]!.count > count + 20 })
    #expect(engine.info(of: "a")?.isDecodingSuspended == false)
    engine.visibleStreamIDs = []
    #expect(await eventually { engine.streams.allSatisfy(\.isDecodingSuspended) })
    await engine.stop()
  }

  /// The pictures of two decoders, one of which decodes images, are combined into one stream.
  @Test func allDecodersOfAStreamRestAndGoOn() async throws {
    let engine = try VideoEngine(
      .text(
        "compositor name=m ! appsink name=a "
          + Self.encoded("x").replacing("! videoconvert ! appsink name=x", with: "! m. ")
          + " videotestsrc is-live=true ! video/x-raw,width=16,height=16,framerate=60/1 ! pngenc ! pngdec ! m."))
    let screen = Screen()
    try await engine.start { _ in screen }
    #expect(await eventually { screen.count > 5 })
    engine.visibleStreamIDs = []
    #expect(await eventually { engine.info(of: "a")?.isDecodingSuspended == true })
    #expect(engine.withRun { $0.gates.withLock { $0.count } } == 2)
    engine.visibleStreamIDs = ["a"]
    #expect(await eventually { engine.withRun { $0.gates.withLock { $0.count } } == 0 })
    let count = screen.count
    #expect(await eventually { screen.count > count + 10 })
    await engine.stop()
  }

  @Test func anotherRunBeginsAsUnseenAsTheLastOneEnded() async throws {
    let engine = try VideoEngine(.text(Self.encoded("a")))
    let screen = Screen()
    engine.visibleStreamIDs = []
    for run in 1...2 {
      try await engine.start { _ in screen }
      #expect(await eventually { engine.info(of: "a")?.isDecodingSuspended == true }, "run \(run)")
      await engine.stop()
      #expect(engine.info(of: "a")?.isDecodingSuspended != true, "after the stop, the stream is not suspended any more")
    }
    engine.visibleStreamIDs = nil
    try await engine.start { _ in screen }
    let count = screen.count
    #expect(await eventually { screen.count > count + 5 })
    #expect(engine.info(of: "a")?.isDecodingSuspended == false)
    await engine.stop()
  }

  @Test @MainActor func thePictureInPictureControllerSaysWhatCanBeSeen() async throws {
    let engine = try VideoEngine(.text(Self.encoded("a") + " " + Self.encoded("b")))
    let router = FrameRouter()
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: router, streamID: "a"),
      window: try OffscreenPictureInPictureWindow(size: PictureSize(width: 64, height: 48)))
    controller.engine = engine
    try await engine.start { router.input(for: $0) }
    #expect(await eventually { router.statistics(of: "b")?.received ?? 0 > 2 && controller.isPossible })
    #expect(engine.visibleStreamIDs == nil)
    controller.applicationDidEnterBackground()
    #expect(await eventually { engine.visibleStreamIDs == [] && engine.streams.allSatisfy(\.isDecodingSuspended) })
    controller.applicationWillEnterForeground()
    #expect(engine.visibleStreamIDs == nil)
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await eventually { controller.isActive })
    #expect(engine.visibleStreamIDs == ["a"])
    try controller.setSource(streamID: "b")
    #expect(engine.visibleStreamIDs == ["b"])
    controller.stop()
    #expect(await eventually { engine.visibleStreamIDs == [] })
    controller.applicationWillEnterForeground()
    controller.configuration.decodesOnlyPictureInPictureStream = true
    #expect(engine.visibleStreamIDs == nil)
    try controller.startWhenReady()
    #expect(await eventually { controller.isActive && engine.visibleStreamIDs == ["b"] })
    controller.uninitialize()
    #expect(engine.visibleStreamIDs == nil)
    await engine.stop()
  }
}
