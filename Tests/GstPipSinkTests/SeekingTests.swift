import Foundation
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// Positions and durations of films.
@Suite struct SeekingTests {
  /// Makes a film of ten seconds and passes its path to `body`. By default, it has a keyframe every second.
  private func withFilm(
    keyframeInterval: Int = 30, isolation: isolated (any Actor)? = #isolation, _ body: (String) async throws -> Void
  ) async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("pipsink-\(UUID().uuidString).mkv")
    defer { try? FileManager.default.removeItem(at: url) }
    try TestFrame.run(
      "videotestsrc num-buffers=300 ! video/x-raw,format=I420,width=64,height=48,framerate=30/1"
        + " ! x264enc speed-preset=ultrafast key-int-max=\(keyframeInterval) ! matroskamux ! filesink location=\(url.path)"
    )
    try await body(url.path)
  }

  private func seconds(_ router: FrameRouter) -> Double {
    router.latestSampleBuffer(of: "film")?.timing.presentationTimeStamp.seconds ?? -1
  }

  @Test func aFilmGoesOnFromAnotherPlaceAndAgainAfterItsEnd() async throws {
    try await withFilm { path in
      let engine = try VideoEngine(.text("filesrc location=\(path) ! decodebin ! videoconvert ! appsink name=film"))
      await #expect(throws: PipSinkError.pipeline(.notSeekable(reason: "nothing is playing"))) {
        try await engine.seekStream("film", to: .zero)
      }
      #expect(await engine.timeline(of: "film") == nil)
      let router = FrameRouter()
      try await engine.start { router.input(for: $0) }
      #expect(await eventually { seconds(router) >= 0 })
      #expect(abs((await engine.timeline(of: "film")?.duration?.seconds ?? 0) - 10) < 0.1)
      try await engine.seekStream("film", to: MediaTime(seconds: 5.5))
      #expect(await eventually { seconds(router) >= 5 }, "playback starts at the keyframe before the position")
      #expect(seconds(router) < 6.5)
      try await engine.seekStream("film", to: MediaTime(seconds: 2.5), isAccurate: true)
      #expect(await eventually { (2.5..<4).contains(seconds(router)) })
      #expect(await eventually { (2.4..<5).contains(await engine.timeline(of: "film")?.position?.seconds ?? 0) })
      try await engine.seekStream("film", to: MediaTime(seconds: 9.5), isAccurate: true)
      #expect(await eventually { engine.playState(of: "film") == .ended })
      try await engine.seekStream("film", to: .zero)
      #expect(await eventually { engine.playState(of: "film") == .playing && seconds(router) < 2 })
      await engine.stop()
    }
  }

  @MainActor @Test func aWindowOffersSkippingInAFilmAndNotInALiveStream() async throws {
    try await withFilm { path in
      let display = try OffscreenDisplay()
      let session = try PictureInPictureSession(
        "videotestsrc is-live=true ! video/x-raw,width=64,height=48 ! appsink name=live", display: display)
      let seeks = Locked<[Double]>([])
      session.observeEvents { event in
        if case .seeked("film", let time) = event { seeks.withLock { $0.append(time.seconds) } }
      }
      session.controller.configuration.skipInterval = .seconds(4)
      try await session.start()
      try session.startStream("film", uri: "file://\(path)")
      #expect(await eventually { session.duration(of: "film") != nil })
      #expect(abs((session.duration(of: "film")?.seconds ?? 0) - 10) < 0.1 && session.duration(of: "live") == nil)
      try session.startPictureInPicture("live")
      #expect(await eventually { session.controller.isActive })
      let skips: Set<PictureInPictureAction> = [.skipBackward, .skipForward]
      #expect(session.controller.presentation.actions.isDisjoint(with: skips))
      try session.setPictureInPictureSource("film")
      #expect(session.controller.presentation.actions.isSuperset(of: skips))
      // Two skips in a row add up.
      session.controller.perform(.skipForward)
      session.controller.perform(.skipForward)
      #expect(await eventually { seeks.withLock { $0.count } == 2 && seconds(session.router) >= 8 })
      #expect(seeks.withLock { $0.last ?? 0 } >= 8)
      for _ in 0..<4 {
        let count = seeks.withLock { $0.count }
        session.controller.perform(.skipBackward)
        #expect(await eventually { seeks.withLock { $0.count } == count + 1 })
      }
      #expect(seeks.withLock { $0.last } == 0, "a skip does not go beyond the start of the film")
      try session.setPictureInPictureSource("live")
      #expect(session.controller.presentation.actions.isDisjoint(with: skips))
      await #expect(throws: PipSinkError.stream(.unknown("other", known: ["live", "film"]))) {
        try await session.seek("other", to: .zero)
      }
      try session.removeStream("film")
      #expect(session.duration(of: "film") == nil)
      await session.stop()
    }
  }

  @MainActor @Test(.timeLimit(.minutes(1))) func aControlSkipsForwardAlsoWhereTheOnlyKeyframeIsTheFirst() async throws {
    try await withFilm(keyframeInterval: 300) { path in
      let session = try PictureInPictureSession(display: try OffscreenDisplay())
      let seeks = Locked<[Double]>([])
      session.observeEvents { event in
        if case .seeked("film", let time) = event { seeks.withLock { $0.append(time.seconds) } }
      }
      session.controller.configuration.skipInterval = .seconds(4)
      try session.startStream("film", uri: "file://\(path)")
      try session.startPictureInPicture("film")
      #expect(await eventually { session.controller.isActive && session.duration(of: "film") != nil })
      session.controller.perform(.skipForward)
      #expect(await eventually { !seeks.withLock(\.isEmpty) })
      let told = try #require(seeks.withLock { $0.first })
      var position: Double?
      // The position is unknown until the first frame after the seek has arrived.
      while position == nil { position = await session.timeline(of: "film")?.position?.seconds }
      #expect(try #require(position) >= told, "the position is not before the one that was reported")
      await session.stop()
    }
  }

  @Test func aStreamOfItsOwnGoesOnFromAnotherPlaceAndAgainAfterItsEnd() async throws {
    try await withFilm { path in
      let engine = try VideoEngine()
      let router = FrameRouter()
      try engine.startPlayingStream("film", uri: "file://\(path)") { router.input(for: $0) }
      #expect(await eventually { engine.playState(of: "film") == .playing })
      try await engine.seekStream("film", to: MediaTime(seconds: 7), isAccurate: true)
      #expect(await eventually { seconds(router) >= 7 })
      try await engine.seekStream("film", to: MediaTime(seconds: 9.5), isAccurate: true)
      #expect(await eventually { engine.playState(of: "film") == .ended })
      try await engine.seekStream("film", to: .zero)
      #expect(await eventually { engine.playState(of: "film") == .playing && seconds(router) < 2 })
      await #expect(throws: PipSinkError.stream(.unknown("other", known: ["film"]))) {
        try await engine.seekStream("other", to: .zero)
      }
      await engine.stop()
    }
  }

  /// The start of a flush comes on the seeking thread, whatever the streaming thread is doing.
  @Test(arguments: ["appsink name=a sync=false", "pipsink name=a sync=false"])
  func flushesInTheMiddleOfFramesDisturbNothing(sink: String) async throws {
    try PipSinkPlugin.register()
    let engine = try VideoEngine(
      .text("videotestsrc num-buffers=1000000 ! video/x-raw,width=16,height=16,framerate=100/1 ! \(sink)"))
    let router = FrameRouter()
    try await engine.start { router.input(for: $0) }
    #expect(await eventually { router.latestSampleBuffer(of: "a") != nil })
    for second in 1...100 {
      try await engine.seekStream("a", to: MediaTime(seconds: Double(second * 50)))
    }
    #expect(
      await eventually { (router.latestSampleBuffer(of: "a")?.timing.presentationTimeStamp.seconds ?? 0) >= 5_000 })
    #expect(engine.playState(of: "a") == .playing)
    await engine.stop()
  }

  @Test func aLiveSourceSaysThatItCannot() async throws {
    let engine = try VideoEngine("videotestsrc is-live=true ! identity sync=true ! appsink name=a")
    let consumer = CountingConsumer()
    try await engine.start { _ in consumer }
    #expect(await eventually { !consumer.sampleBuffers.isEmpty })
    #expect(await engine.timeline(of: "a")?.duration == nil)
    await engine.stop()
    await #expect(throws: PipSinkError.self) { try await engine.seekStream("a", to: MediaTime(seconds: 1)) }
  }
}
