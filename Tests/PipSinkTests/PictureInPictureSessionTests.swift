import CGStreamer
import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// One session, whose parts follow each other without any wiring by the app.
@MainActor @Suite(.timeLimit(.minutes(5))) struct PictureInPictureSessionTests {
  /// A session to which the test pushes the frames.
  @MainActor
  private final class Call {
    let display: OffscreenDisplay
    let session: PictureInPictureSession
    var inputs: [StreamID: StreamInput] = [:]
    let events = Locked<[SessionEvent]>([])
    private let picture: PixelBuffer

    init(_ ids: [StreamID] = ["a", "b"], configuration: PictureInPictureSession.Configuration = .init()) throws {
      display = try OffscreenDisplay()
      session = try PictureInPictureSession(display: display, configuration: configuration)
      picture = try PlainFrame.make([255, 255, 255]).pixelBuffer
      session.observeEvents { [events] event in events.withLock { $0.append(event) } }
      for id in ids { inputs[id] = try session.addInput(id, stallTimeout: nil) }
    }

    func push(_ id: StreamID) { inputs[id]?.push(picture) }

    /// Pushes a frame of each stream, and waits until they play.
    func play() async throws {
      for id in inputs.keys.sorted() { push(id) }
      #expect(await eventually { self.inputs.keys.allSatisfy { self.session.engine.playState(of: $0) == .playing } })
      #expect(await eventually { self.inputs.keys.allSatisfy { self.session.playStates[$0] == .playing } })
    }

    /// Opens picture-in-picture while frames arrive.
    func open(_ id: StreamID? = nil) async throws {
      try session.startPictureInPicture(id)
      #expect(await eventually { self.session.controller.isActive })
    }

    var pictureInPictureEvents: [PictureInPictureEvent] {
      events.withLock { events in
        events.compactMap { if case .pictureInPicture(let event, _) = $0 { event } else { nil } }
      }
    }
  }

  /// A film that can be sought in.
  private struct Film {
    private let folder: TemporaryFolder
    let pipeline: PipelineDescription

    init(seconds: Int) throws {
      folder = try TemporaryFolder()
      let path = folder.path("film.mkv")
      try TestFrame.run(
        "videotestsrc num-buffers=\(30 * seconds) ! video/x-raw,width=16,height=16,framerate=30/1 ! jpegenc "
          + "! matroskamux ! filesink location=\(path)")
      pipeline = .text("filesrc location=\(path) ! matroskademux ! jpegdec ! appsink")
    }
  }

  @Test func whatHappensInPictureInPictureNamesItsStreamToItsEnd() async throws {
    let call = try Call(["a", "b"])
    try await call.play()
    call.session.controller.configuration.endAction = .stop
    try await call.open("b")
    try call.session.removeStream("b")
    let events = call.events.withLock { events in
      events.compactMap { event -> String? in
        if case .pictureInPicture(let event, let id) = event { return "\("\(event)".prefix { $0.isLetter }) \(id)" }
        return nil
      }
    }
    let kinds = ["willStart", "didStart", "willStop", "didStop"]
    #expect(events.filter { event in kinds.contains { event.hasPrefix($0) } } == kinds.map { "\($0) b" })
  }

  @Test func whoJoinsAgainWhileTheAppIsHiddenIsInPictureInPictureAgain() async throws {
    let call = try Call([])
    call.session.startsAutomatically = true
    call.session.setBackground(true)
    for round in 1...3 {
      call.inputs["a"] = try call.session.addInput("a", stallTimeout: nil)
      call.push("a")
      #expect(await eventually { call.session.controller.state == .appMinimized }, "round \(round)")
      try call.session.removeStream("a")
      #expect(!call.display.pictureInPictureWindow.isOpen && call.session.controller.state == .background)
    }
  }

  @Test func theNextStreamIsTheOneAfterIt() async throws {
    let call = try Call(["a", "b", "c"])
    try await call.play()
    try await call.open("a")
    for id: StreamID in ["b", "c", "a"] {
      try call.session.perform(.nextStream)
      #expect(call.session.pictureInPictureStreamID == id)
    }
  }

  @Test func theBackgroundStartsTheWindowsOfSingleStreamsToo() async throws {
    let call = try Call(["a", "b"])
    try await call.play()
    let own = try call.session.addPictureInPictureWindow(for: "b")
    call.session.startsAutomatically = true
    call.session.setBackground(true)
    #expect(await eventually { call.session.controller.isActive && own.isActive })
    call.session.setBackground(false)
    #expect(await eventually { !call.session.controller.isActive && !own.isActive })
  }

  @Test func aStreamThatIsStartedAgainIsReconnectingUntilItPlays() async throws {
    let call = try Call(["a"])
    try await call.play()
    let failure = StreamPlayState.reconnecting(
      attempt: 1, pause: .seconds(1), after: .stream(.endedUnexpectedly("a")))
    for state in [failure, .requesting] {
      call.session.engine.setInput("a", to: state)
      #expect(await eventually { call.session.playStates["a"] == state })
      #expect(call.session.placeholder(of: "a") == .reconnecting, "\(state)")
    }
    call.session.engine.setInput("a", to: .playing)
    #expect(await eventually { call.session.placeholder(of: "a") == nil })
  }

  @Test func aWindowWithoutStreamsOfItsOwnDoesNotStartByItself() async throws {
    let call = try Call(["a"])
    try await call.play()
    call.session.startsAutomatically = true
    #expect(call.session.controller.startsAutomatically)
    let own = try call.session.addPictureInPictureWindow(for: "a")
    #expect(own.startsAutomatically && !call.session.controller.startsAutomatically)
    call.session.setBackground(true)
    #expect(await eventually { own.isActive })
    #expect(!call.session.controller.isActive)
  }

  @Test func aRendererThatIsAttachedAgainHasOneLayer() async throws {
    let call = try Call(["a"])
    let renderer = try OffscreenRenderer(size: PictureSize(width: 32, height: 18))
    for gravity in [VideoGravity.resize, .resizeAspectFill] {
      call.session.attach(renderer, toStream: "a", gravity: gravity)
      #expect(call.session.router.attachedLayers(ofStream: "a").map(\.videoGravity) == [gravity])
    }
  }

  /// A display that has room for one stream.
  private final class SmallDisplay: SessionDisplay {
    let kind = "small"
    let pictureInPictureHost: any PictureInPictureHost = NoDisplay().makePictureInPictureHost()
    var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)?
    private var shown: StreamID?

    func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError) {
      guard shown == nil else { throw .system(.displayUnavailable(reason: "there is room for one stream")) }
      shown = streamID
    }
    func removeStream(_ streamID: StreamID) { if shown == streamID { shown = nil } }
    func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {}
    func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)] { [] }
  }

  @Test func aStreamThatTheDisplayRefusesIsUnknownAndMayComeAgain() async throws {
    let session = try PictureInPictureSession(display: SmallDisplay())
    _ = try session.addInput("a", stallTimeout: nil)
    let refusal = PipSinkError.system(.displayUnavailable(reason: "there is room for one stream"))
    #expect(throws: refusal) { _ = try session.addInput("b", stallTimeout: nil) }
    #expect(session.streams.map(\.id) == ["a"] && session.engine.streams.map(\.id) == ["a"])
    try session.removeStream("a")
    _ = try session.addInput("b", stallTimeout: nil)
    #expect(session.streams.map(\.id) == ["b"] && session.engine.streams.map(\.id) == ["b"])
    await session.stop()
  }

  @Test func eachStreamBeginsWithTheGravityOfTheConfiguration() async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.videoGravity = .resizeAspectFill
    configuration.screenShareStreamIDs = ["screen"]
    let session = try PictureInPictureSession(display: OffscreenDisplay(), configuration: configuration)
    for id: StreamID in ["camera", "screen"] { _ = try session.addStream(id) }
    #expect(session.known["camera"]?.layer?.videoGravity == .resizeAspectFill)
    #expect(session.known["screen"]?.layer?.videoGravity == .resizeAspect, "a screen is never cropped")
    try session.setVideoGravity(.resize, of: "camera")
    #expect(session.known["camera"]?.layer?.videoGravity == .resize)
    await session.stop()
  }

  @Test func twoSkipsGoTwiceAsFar() async throws {
    let film = try Film(seconds: 30)
    let session = try PictureInPictureSession(display: NoDisplay())
    let seeks = Locked<[MediaTime]>([])
    session.observeEvents { event in if case .seeked(_, let time) = event { seeks.withLock { $0.append(time) } } }
    try session.startStream("film", from: film.pipeline)
    #expect(await eventually { session.duration(of: "film") != nil })
    for _ in 0..<2 { session.skip("film", by: MediaTime(seconds: 10)) }
    #expect(await eventually { seeks.withLock { $0.count } == 2 })
    #expect(seeks.withLock { $0[1] - $0[0] } >= MediaTime(seconds: 10))
    await session.stop()
  }

  @Test func aSeekGoesNoFurtherThanTheFilmAndSaysWhereItWent() async throws {
    let film = try Film(seconds: 1)
    let session = try PictureInPictureSession(display: NoDisplay())
    let seeks = Locked<[MediaTime]>([])
    session.observeEvents { event in if case .seeked(_, let time) = event { seeks.withLock { $0.append(time) } } }
    try session.startStream("film", from: film.pipeline)
    #expect(await eventually { session.duration(of: "film") != nil })
    let duration = try #require(session.duration(of: "film"))
    for seconds in [-5, 0.5, 1000] { try await session.seek("film", to: MediaTime(seconds: seconds), isAccurate: true) }
    #expect(seeks.withLock { $0 } == [.zero, MediaTime(seconds: 0.5), duration])
    await session.stop()
  }

  /// Whoever offers a bar for a film asks for its duration.
  @Test func aFilmThatCannotBeSoughtInHasNoDuration() async throws {
    let folder = try TemporaryFolder()
    try TestFrame.run(
      "videotestsrc num-buffers=60 ! video/x-raw,width=16,height=16,framerate=30/1 ! jpegenc ! avimux "
        + "! filesink location=\(folder.path("film.avi"))")
    let film = try Data(contentsOf: URL(fileURLWithPath: folder.path("film.avi")))
    let pipe = Pipe()
    defer { try? pipe.fileHandleForReading.close() }
    // A pipe holds the whole of this film.
    try #require(film.count < 65_536)
    try pipe.fileHandleForWriting.write(contentsOf: film)
    try pipe.fileHandleForWriting.close()
    let session = try PictureInPictureSession(display: NoDisplay())
    try session.startStream(
      "film",
      from: .text("fdsrc fd=\(pipe.fileHandleForReading.fileDescriptor) ! avidemux ! jpegdec ! appsink"))
    var timeline: StreamTimeline?
    #expect(
      await eventually {
        timeline = await session.engine.timeline(of: "film")
        return timeline?.duration != nil
      })
    #expect(timeline?.isSeekable == false)
    await session.updateDuration(of: "film").value
    #expect(session.duration(of: "film") == nil)
    await session.stop()
  }

  @Test func aStreamThatIsStartedWhenAllOthersHaveJustEndedKeepsTheSessionRunning() async throws {
    let session = try PictureInPictureSession(display: NoDisplay())
    try session.startStream("a", from: "videotestsrc is-live=true num-buffers=30 ! appsink")
    let hasReturned = Locked(false)
    let run = Task {
      try await session.run()
      hasReturned.withLock { $0 = true }
    }
    #expect(await eventually { session.engine.playState(of: "a") == .playing })
    // The main actor is told of the end only after it has started the next stream.
    let deadline = ContinuousClock.now + .seconds(60)
    while !session.engine.hasFinished, ContinuousClock.now < deadline { g_usleep(1000) }
    #expect(session.engine.hasFinished)
    try session.startStream("b", from: "videotestsrc is-live=true ! video/x-raw,framerate=60/1 ! appsink")
    #expect(!session.engine.hasFinished)
    let received = { session.router.statistics(of: "b")?.received ?? 0 }
    #expect(await eventually { received() > 20 })
    #expect(!hasReturned.withLock { $0 }, "\(received()) frames")
    try session.removeStream("b")
    try await run.value
  }

  @Test func theRemovalOfTheLastStreamThatIsNotOverIsTheEnd() async throws {
    let call = try Call(["a"])
    try call.session.startStream("b", from: "videotestsrc num-buffers=3 ! appsink sync=false")
    #expect(await eventually { call.session.playStates["b"] == .ended })
    #expect(!call.session.engine.hasFinished)
    try call.session.removeStream("a")
    #expect(
      await eventually {
        call.events.withLock { $0.contains { if case .engine(.finished) = $0 { true } else { false } } }
      })
    await call.session.stop()
  }

  @Test func aFilmThatIsRemovedHasNoDurationAnyMore() async throws {
    let film = try Film(seconds: 10)
    let call = try Call([])
    let session = call.session
    try session.startStream("film", from: film.pipeline)
    let skips: Set<PictureInPictureAction> = [.skipBackward, .skipForward]
    #expect(await eventually { session.controller.handledActions.isSuperset(of: skips) })
    call.events.withLock { $0 = [] }
    try session.removeStream("film")
    #expect(session.controller.handledActions.isDisjoint(with: skips))
    #expect(
      await eventually {
        call.events.withLock { $0.contains { if case .durationChanged("film") = $0 { true } else { false } } }
      })
    await session.stop()
  }

  @Test func theWindowShowsHowFarAFilmIsAndTheUserSeeksInIt() async throws {
    let film = try Film(seconds: 30)
    let call = try Call([])
    let (session, window) = (call.session, call.display.pictureInPictureWindow)
    try session.startStream("film", from: film.pipeline)
    #expect(await eventually { session.duration(of: "film") == MediaTime(seconds: 30) })
    try await call.open("film")
    func position() -> Double? { window.presentation?.progress?.position.seconds }
    #expect(await eventually { (position() ?? 0) > 0 }, "it goes on")
    #expect(window.presentation?.progress?.duration == MediaTime(seconds: 30))
    #expect(window.presentation?.actions.contains(.seek) == true)
    session.isPaused = true
    window.eventHandler?(.seek(to: MediaTime(seconds: 20)))
    #expect(position() == 20, "the knob stays where the user has put it")
    func sought() -> [Double] {
      call.events.withLock { events in
        events.compactMap { if case .seeked("film", let time) = $0 { time.seconds } else { nil } }
      }
    }
    #expect(await eventually { sought() == [20] })
    #expect(position() == 20)
    session.isPaused = false
    #expect(await eventually { (position() ?? 0) > 20 }, "\(String(describing: position()))")
    session.controller.requiresLinearPlayback = true
    #expect(window.presentation?.actions.contains(.seek) == false)
    window.eventHandler?(.seek(to: .zero))
    session.controller.requiresLinearPlayback = false
    window.eventHandler?(.seek(to: MediaTime(seconds: 100)))
    #expect(await eventually { sought() == [20, 30] }, "\(sought())")
    try session.removeStream("film")
    #expect(await eventually { session.controller.progress == nil })
    await session.stop()
  }

  @Test func nobodyAsksHowFarAFilmIsWhereTheControlsDoNotShowIt() async throws {
    let film = try Film(seconds: 10)
    var configuration = PictureInPictureSession.Configuration()
    configuration.pictureInPicture.controls = .call
    let call = try Call([], configuration: configuration)
    let session = call.session
    try session.startStream("film", from: film.pipeline)
    #expect(await eventually { session.duration(of: "film") == MediaTime(seconds: 10) })
    try await call.open("film")
    #expect(session.progress.task == nil && session.controller.progress == nil)
    session.controller.configuration.controls = .player
    #expect(await eventually { session.controller.progress?.duration == MediaTime(seconds: 10) })
    session.controller.configuration.controls = .call
    #expect(session.progress.task == nil && session.controller.progress == nil)
    await session.stop()
  }

  @Test func thePlaceOfAStreamOfSoundAloneSaysSo() async throws {
    let folder = try TemporaryFolder()
    try await Tool.gstLaunch("audiotestsrc num-buffers=100 ! wavenc ! filesink location=\(folder.path("sound.wav"))")
    let call = try Call([])
    var configuration = PipelineConfiguration()
    configuration.playsAudio = true
    try call.session.startStream("a", uri: "file://\(folder.path("sound.wav"))", configuration: configuration)
    #expect(await eventually { call.display.placeholders == ["a": .audioOnly] })
    #expect(call.session.controller.streamSelector.places.map(\.placeholder) == [.audioOnly])
    #expect(await eventually { call.display.placeholders == ["a": .ended] })
    // A film in its place has a picture.
    try call.session.removeStream("a")
    try call.session.startStream("a", from: "videotestsrc is-live=true ! appsink")
    #expect(await eventually { call.display.placeholders.isEmpty })
    await call.session.stop()
  }

  @Test func aStreamsPlaceWaitsThenShowsItsPictureThenSaysThatItHasEnded() async throws {
    let call = try Call()
    #expect(call.display.placeholders == ["a": .waiting, "b": .waiting])
    try await call.play()
    #expect(call.display.placeholders.isEmpty)
    #expect(await eventually { call.display.image(of: "a") != nil })
    call.session.endInput("a")
    #expect(await eventually { call.display.placeholders == ["a": .ended] })
    #expect(call.session.placeholder(of: "a") == .ended)
    // The stream continues with its next frame.
    call.push("a")
    #expect(await eventually { call.display.placeholders.isEmpty })
  }

  @Test func aStreamInPictureInPictureSaysSoInItsPlaceFromItsFirstPictureOn() async throws {
    let call = try Call()
    try call.session.startPictureInPicture("b")
    #expect(
      call.display.placeholders == ["a": .waiting, "b": .waiting],
      "picture-in-picture waits for the stream's first picture")
    #expect(call.session.pictureInPictureStreamID == nil)
    try await call.play()
    #expect(await eventually { call.session.controller.isActive })
    #expect(call.session.pictureInPictureStreamID == "b")
    #expect(call.display.placeholders == ["b": .inPictureInPicture])
    try call.session.perform(.nextStream)
    #expect(call.display.placeholders == ["a": .inPictureInPicture])
    call.session.stopPictureInPicture()
    #expect(call.display.placeholders.isEmpty && call.session.pictureInPictureStreamID == nil)
  }

  @Test func aCameraThatIsOffLeavesPictureInPictureToTheNextStream() async throws {
    let call = try Call()
    try await call.play()
    try await call.open("a")
    call.session.engine.setCameraState(.off, of: "a")
    #expect(await eventually { call.session.pictureInPictureStreamID == "b" })
    #expect(call.display.placeholders == ["a": .cameraOff, "b": .inPictureInPicture])
    call.session.engine.setCameraState(.on, of: "a")
    #expect(await eventually { call.display.placeholders == ["a": .inPictureInPicture] })
    #expect(call.session.pictureInPictureStreamID == "a", "the stream that was asked for is back")
  }

  @Test func aStreamThatStallsIsNoCameraThatIsOff() async throws {
    let call = try Call()
    try await call.play()
    try await call.open("a")
    call.session.engine.setInput("a", to: .stalled)
    #expect(await eventually { call.session.controller.streamSelector.places.map(\.placeholder) == [.reconnecting] })
    #expect(call.session.pictureInPictureStreamID == "a")
    #expect(call.display.placeholders == ["a": .reconnecting])
    // Another stream is playing, so the window does not show that it is reconnecting.
    try call.session.setPictureInPictureSource("b")
    #expect(call.session.controller.streamSelector.places.map(\.placeholder) == [nil])
    try call.session.setPictureInPictureSource("a")
    #expect(call.session.controller.streamSelector.places.map(\.placeholder) == [.reconnecting])
    call.session.engine.setInput("a", to: .playing)
    #expect(await eventually { call.session.controller.streamSelector.places.map(\.placeholder) == [nil] })
  }

  @Test func theLoudestStreamTakesPictureInPicture() async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.streamSelectorPolicy = .activeSpeaker
    let call = try Call(configuration: configuration)
    try await call.play()
    try await call.open()
    #expect(call.session.pictureInPictureStreamID == "a")
    let send = { (decibels: Double) in
      call.session.engine.status.broadcast.send(.audioLevel("b", AudioLevel(rms: decibels, peak: decibels)))
    }
    send(-3)
    #expect(await eventually { call.session.controller.streamSelector.streams.last?.audioLevel ?? 0 > 0.5 })
    // More than half a second later, this stream is still the loudest.
    call.session.controller.streamSelector.setAudioLevel("b", 0.7, at: .now.advanced(by: .seconds(1)))
    #expect(call.session.pictureInPictureStreamID == "b")
    call.session.engine.status.broadcast.send(.microphoneStateChanged("b", .off))
    #expect(await eventually { call.session.controller.streamSelector.streams.last?.audioLevel == 0 })
  }

  @Test func theWindowsControlsPauseAndMuteAndEverybodyKnows() async throws {
    let call = try Call()
    try await call.play()
    try await call.open()
    let window = call.display.pictureInPictureWindow
    #expect(window.presentation?.actions.isSuperset(of: [.playPause, .mute, .close, .backToApp]) == true)
    for expected in [true, false] {
      window.perform(.mute)
      window.perform(.playPause)
      #expect(call.session.isMuted == expected && call.session.engine.audioSession.isMuted == expected)
      #expect(call.session.isPaused == expected && call.session.engine.isPaused == expected)
      #expect(window.presentation?.isMuted == expected && window.presentation?.isPaused == expected)
    }
    let changes = call.events.withLock { $0.count { if case .playbackChanged = $0 { true } else { false } } }
    #expect(changes == 4)
    // An app that plays its streams itself handles the action itself.
    call.session.actionHandlers[.mute] = {}
    window.perform(.mute)
    #expect(!call.session.isMuted)
  }

  @Test func anInterruptionShowsAsAPauseAndEndsByItself() async throws {
    let call = try Call()
    try await call.play()
    try await call.open()
    call.session.engine.audioSession.beginInterruption(.pause)
    #expect(await eventually { call.display.pictureInPictureWindow.presentation?.isPaused == true })
    #expect(!call.session.isPaused)
    call.session.engine.audioSession.endInterruption()
    #expect(await eventually { call.display.pictureInPictureWindow.presentation?.isPaused == false })
  }

  @Test func theBackgroundStartsPictureInPictureAndTheForegroundStopsIt() async throws {
    let call = try Call()
    try await call.play()
    call.session.startsAutomatically = true
    call.display.eventHandler?(.background(true))
    #expect(await eventually { call.session.controller.isActive })
    call.display.eventHandler?(.background(false))
    #expect(await eventually { call.session.pictureInPictureStreamID == nil })
    #expect(call.pictureInPictureEvents.contains(.didStop(.foreground)))
  }

  @Test func keysDoTheSameInEveryAppAndSayWhatIsRefused() async throws {
    let call = try Call()
    let press = { call.display.eventHandler?(.key($0)) }
    for key in " m" as String { press(key) }
    #expect(call.session.isPaused && call.session.isMuted)
    press("p")
    #expect(call.session.controller.isWaitingForPicture)
    press("p")
    #expect(!call.session.controller.isWaitingForPicture)
    call.display.pictureInPictureWindow.unsupportedReason = "told to"
    press("p")
    let refused = call.events.withLock { $0.compactMap { if case .refused(let error) = $0 { error } else { nil } } }
    #expect(refused == [.pictureInPicture(.unsupported(reason: "told to"))])
    #expect(SessionAction.keys.map(\.action) == SessionAction.keys.map { SessionAction(key: $0.key) })
    #expect(Set(SessionAction.keys.map(\.key)).count == SessionAction.keys.count && SessionAction(key: "x") == nil)
  }

  @Test func aStreamThatIsRemovedTellsWhatItWasAndLeavesNothing() async throws {
    let call = try Call()
    try await call.play()
    try await call.open("a")
    weak let layer = call.session.layer(of: "a")
    #expect(layer != nil)
    try call.session.removeStream("a")
    #expect(call.session.pictureInPictureStreamID == "b", "picture-in-picture continues with the next stream")
    let summaries = call.events.withLock { events in
      events.compactMap { if case .streamRemoved(_, let summary) = $0 { summary } else { nil } }
    }
    let summary = try #require(summaries.first)
    #expect(summary.streamID == "a" && summary.statistics.received == 1 && summary.info?.id == "a")
    #expect(summary.changes.map(\.to) == [.pictureInPicture, .inApp])
    #expect(layer == nil)
    #expect(call.session.router.streamIDs == ["b"] && call.session.streams.map(\.id) == ["b"])
    #expect(call.session.summary(of: "a") == nil)
    #expect(throws: PipSinkError.stream(.unknown("a", known: ["b"]))) { try call.session.removeStream("a") }
    // A late frame of the removed stream reaches nobody. A stream that comes back with the same ID is a new stream.
    call.push("a")
    call.inputs["a"] = try call.session.addInput("a", stallTimeout: nil)
    #expect(call.session.summary(of: "a")?.statistics.received == 0)
    #expect(throws: PipSinkError.stream(.duplicate("a"))) { _ = try call.session.addInput("a", stallTimeout: nil) }
  }

  @Test func allKindsOfStreamsBehaveAlike() async throws {
    let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink name="
    let display = try OffscreenDisplay()
    let session = try PictureInPictureSession(.text(live + "pipeline"), display: display)
    try await session.start()
    try session.startStream("own", from: .text(live + "x"))
    let input = try session.addInput("pushed", stallTimeout: nil)
    input.push(try PlainFrame.make([255, 255, 255]).pixelBuffer)
    let ids: [StreamID] = ["own", "pipeline", "pushed"]
    #expect(session.streams.map(\.id) == ids)
    #expect(await eventually { session.streams.allSatisfy { $0.state == .playing } })
    #expect(await eventually { display.placeholders.isEmpty })
    for id in ids {
      try session.startPictureInPicture(id)
      #expect(await eventually { session.controller.isActive && session.pictureInPictureStreamID == id })
      #expect(display.placeholders == [id: .inPictureInPicture])
    }
    #expect(session.summaries.map(\.streamID).sorted() == ids)
    // A description with an error leaves no empty place.
    #expect(throws: PipSinkError.self) { try session.startStream("bad", from: "videotestsrc ! nonsense") }
    #expect(session.streams.map(\.id) == ids && display.placeholders.count == 1)
    try session.removeStream("own")
    #expect(throws: PipSinkError.stream(.unknown("pipeline", known: ["pushed"]))) {
      try session.removeStream("pipeline")
    }
    await session.stop()
  }

  @Test func aStreamsProcessorsTakeItsFramesWheneverItComes() async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.processors["later"] = [FrameDecimator(every: 2)]
    let display = try OffscreenDisplay()
    let session = try PictureInPictureSession(display: display, configuration: configuration)
    #expect(session.router.streamIDs.isEmpty)
    let input = try session.addInput("later", stallTimeout: nil)
    let picture = try PlainFrame.make([255, 255, 255]).pixelBuffer
    for _ in 0..<10 { input.push(picture) }
    let summary = try #require(session.summary(of: "later"))
    #expect(summary.statistics.received == 5 && summary.statistics.dropped.processor == 5 && summary.isProcessed)
    #expect(await eventually { display.image(of: "later") != nil })
  }

  @Test func theLastPictureOfACameraThatWasSwitchedOffIsNotSeenAgain() async throws {
    let call = try Call()
    try await call.play()
    let isBlack = { call.display.image(of: "a").map { $0.pixel(320, 180)[0] < 8 } }
    #expect(await eventually { isBlack() == false })
    try call.session.setCameraState(.off, of: "a")
    #expect(await eventually { call.session.placeholder(of: "a") == .cameraOff && isBlack() != false })
    // Some engines send frames even while the camera is off.
    call.push("a")
    #expect(await eventually { isBlack() == false })
    try call.session.setCameraState(.on, of: "a")
    #expect(await eventually { call.session.placeholder(of: "a") == nil && isBlack() != false })
    call.push("a")
    #expect(await eventually { isBlack() == false })
  }

  @Test func processorsAreExchangedWhileFramesFlow() async throws {
    let call = try Call()
    for _ in 0..<4 { call.push("a") }
    #expect(call.session.summary(of: "a")?.isProcessed == false)
    try call.session.setProcessors([FrameDecimator(every: 2)], of: "a")
    #expect(call.session.processors(of: "a").count == 1 && call.session.processors(of: "b").isEmpty)
    for _ in 0..<4 { call.push("a") }
    try call.session.setProcessors([], of: "a")
    call.push("a")
    let statistics = try #require(call.session.summary(of: "a")?.statistics)
    #expect(statistics.received == 7 && statistics.dropped.processor == 2)
    #expect(throws: PipSinkError.stream(.unknown("c", known: ["a", "b"]))) {
      try call.session.setProcessors([], of: "c")
    }
  }

  @Test func whatWasUsedInPictureInPictureIsMeasured() async throws {
    let call = try Call()
    try await call.play()
    #expect(call.session.pictureInPictureUsage == PictureInPictureUsage())
    try await call.open("a")
    let deadline = MonotonicTime.now.advanced(by: .milliseconds(20))
    // This gives the measurement something to count.
    while MonotonicTime.now < deadline { call.push("a") }
    call.session.stopPictureInPicture()
    let usage = call.session.pictureInPictureUsage
    #expect(usage.duration >= .milliseconds(20) && usage.cpuTime > .zero && usage.residentBytes > 1_000_000)
    #expect(usage == call.session.pictureInPictureUsage, "the measurement runs only while picture-in-picture is active")
    try await call.open("a")
    call.session.stopPictureInPicture()
    #expect(call.session.pictureInPictureUsage.duration > usage.duration)
  }

  @Test func aStreamMayHaveAPictureInPictureWindowForItself() async throws {
    let call = try Call(["a", "b", "c"])
    try await call.play()
    try await call.open("a")
    let own = try call.session.addPictureInPictureWindow(for: "b")
    #expect(try call.session.addPictureInPictureWindow(for: "b") === own)
    try own.start()
    #expect(await eventually { own.isActive })
    #expect(call.session.pictureInPictureStreamID == "a" && own.pictureInPictureStreamID == "b")
    #expect(call.display.placeholders == ["a": .inPictureInPicture, "b": .inPictureInPicture])
    #expect(call.session.router.table.entries.values.map(\.streamID).sorted() == ["a", "b"])
    // It is not to be had in the session's window.
    let refusal = PipSinkError.pictureInPicture(.notPossible(reason: "\"b\" has a window for itself"))
    #expect(throws: refusal) { try call.session.setPictureInPictureSource("b") }
    #expect(throws: refusal) { try call.session.startPictureInPicture("b") }
    #expect(throws: refusal) { try call.session.setSecondPictureInPictureStream("b") }
    #expect(call.session.pictureInPictureStreamID == "a" && call.session.secondPictureInPictureStreamID == nil)
    call.session.isMuted = true
    #expect(own.isMuted)
    // The window is closed together with its stream.
    weak let controller = own
    try call.session.removeStream("b")
    #expect(own.pictureInPictureStreamID == nil && call.session.dedicatedControllers.isEmpty)
    #expect(controller != nil)
    #expect(throws: PipSinkError.stream(.unknown("b", known: ["a", "c"]))) {
      try call.session.addPictureInPictureWindow(for: "b")
    }
  }

  @Test(arguments: PictureInPictureEndAction.allCases)
  func aStreamThatGetsAWindowForItselfLeavesTheSessionsWindow(_ endAction: PictureInPictureEndAction) async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.pictureInPicture.endAction = endAction
    let call = try Call(["a", "b"], configuration: configuration)
    try await call.play()
    try await call.open("a")
    let own = try call.session.addPictureInPictureWindow(for: "a")
    try own.start()
    #expect(call.session.pictureInPictureStreamID == (endAction == .stop ? nil : "b"))
    #expect(own.pictureInPictureStreamID == "a")
    let second = try call.session.addPictureInPictureWindow(for: "b")
    #expect(call.session.pictureInPictureStreamID == nil, "there is nothing left to show")
    try second.start()
    #expect(await eventually { own.isActive && second.isActive })
    // A stream that has no picture changes nothing of that.
    call.inputs["c"] = try call.session.addInput("c")
    #expect(call.session.pictureInPictureStreamID == nil)
    #expect(call.session.router.table.entries.values.map(\.streamID).sorted() == ["a", "b"])
    #expect(call.session.router.table.entries[.primary] == nil)
  }

  @Test func aStreamWithoutAPictureDoesNotTakeTheWindowFromOneWhoseCameraIsOff() async throws {
    let call = try Call(["a"])
    try await call.play()
    try await call.open("a")
    call.session.engine.setCameraState(.off, of: "a")
    #expect(await eventually { call.session.controller.streamSelector.places.first?.placeholder == .cameraOff })
    call.inputs["b"] = try call.session.addInput("b", stallTimeout: nil)
    #expect(call.session.pictureInPictureStreamID == "a")
    call.push("b")
    #expect(await eventually { call.session.pictureInPictureStreamID == "b" })
  }

  @Test func aStreamThatGetsAWindowForItselfIsNotWaitedForByTheSessionsWindow() async throws {
    let call = try Call(["a"])
    try call.session.startPictureInPicture("a")
    #expect(call.session.controller.isWaitingForPicture)
    let own = try call.session.addPictureInPictureWindow(for: "a")
    #expect(!call.session.controller.isWaitingForPicture)
    try await call.play()
    try own.start()
    #expect(await eventually { own.isActive })
    #expect(call.session.pictureInPictureStreamID == nil)
  }

  @Test func aSessionBeginsInPictureInPicture() async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.startsInPictureInPicture = true
    configuration.localStreamIDs = ["me"]
    let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink name="
    let session = try PictureInPictureSession(
      .text(live + "me " + live + "anna " + live + "ben"), display: try OffscreenDisplay(),
      configuration: configuration)
    #expect(session.controller.currentStreamID == "anna", "the session does not select the local stream")
    try await session.start()
    #expect(await eventually { session.controller.isActive })
    let statistics = try #require(session.summary(of: "anna")?.statistics)
    #expect(
      statistics.inApp == 0 && statistics.pictureInPicture > 0,
      "all frames go to picture-in-picture from the first one on")
    await session.stop()
  }

  /// Makes a session that starts picture-in-picture with the stream "a" and stops it when that stream ends.
  private func session(_ description: PipelineDescription? = nil) throws -> PictureInPictureSession {
    var configuration = PictureInPictureSession.Configuration()
    configuration.pictureInPictureStreamID = "a"
    configuration.startsInPictureInPicture = true
    configuration.pictureInPicture.endAction = .stop
    return try PictureInPictureSession(description, display: try OffscreenDisplay(), configuration: configuration)
  }

  private let endless: PipelineDescription = "videotestsrc is-live=true name=source ! appsink name=x"

  /// Ends the stream of `source` after its first frame, which `gate` may have held back, and blocks the main actor until
  /// the engine knows that it has ended. The session cannot receive the events of this meanwhile.
  private func endUnheard(_ id: StreamID, of session: PictureInPictureSession) {
    let deadline = MonotonicTime.now.advanced(by: .seconds(60))
    func hold(until condition: () -> Bool) { while !condition(), MonotonicTime.now < deadline { g_usleep(1000) } }
    let run = session.engine.run(of: id)
    _ = run?.withUnsafeElement(named: "gate") { gate in
      gate.withMemoryRebound(to: GObject.self, capacity: 1) { gst_util_set_object_arg($0, "drop", "false") }
    }
    hold { session.summary(of: id)?.statistics.received ?? 0 > 0 }
    _ = run?.withUnsafeElement(named: "source") { source in gst_element_send_event(source, gst_event_new_eos()) }
    hold { session.engine.playState(of: id) == .ended }
    #expect(session.engine.playState(of: id) == .ended)
    #expect(session.playStates[id] != .ended, "the session has not heard of it")
  }

  @Test func anEndThatTheSessionHasNotHeardOfIsNoCameraThatIsOff() async throws {
    let session = try session()
    let events = Locked<[PictureInPictureEvent]>([])
    session.controller.observeEvents { event in events.withLock { $0.append(event) } }
    try await session.start()
    for id: StreamID in ["a", "b"] { try session.startStream(id, from: endless) }
    #expect(await eventually { session.controller.isActive && session.playStates == ["a": .playing, "b": .playing] })
    endUnheard("a", of: session)
    session.handle(EngineEvent.cameraStateChanged("a", .off))
    #expect(session.pictureInPictureStreamID == "a" && session.placeholder(of: "a") == .inPictureInPicture)
    #expect(await eventually { events.withLock { $0.contains(.didStop(.sourceEnded)) } })
    #expect(session.summary(of: "b")?.statistics.pictureInPicture == 0)
    await session.stop()
  }

  @Test func pictureInPictureOfAStreamThatIsOverByThenIsNoOtherStreams() async throws {
    let session = try session(
      """
      videotestsrc is-live=true name=source ! valve name=gate drop=true ! appsink name=a
      videotestsrc is-live=true ! appsink name=b
      """)
    let events = Locked<[PictureInPictureEvent]>([])
    session.controller.observeEvents { event in events.withLock { $0.append(event) } }
    try session.startPictureInPicture()
    // This is what `start()` does. `start()` itself would let the session receive events meanwhile.
    try await session.engine.start { [router = session.router] in router.input(for: $0) }
    endUnheard("a", of: session)
    session.handle(EngineEvent.streamStateChanged("a", .requesting))
    #expect(session.controller.currentStreamID == "b", "the next start shows this stream")
    #expect(await eventually { session.playStates == ["a": .ended, "b": .playing] })
    #expect(await eventually { session.summary(of: "b")?.statistics.received ?? 0 > 5 })
    #expect(events.withLock { $0.first == .willStart })
    #expect(events.withLock { $0.contains(.failedToStart(.pictureInPicture(.cancelled))) })
    let shown = try #require(session.summary(of: "a")?.statistics)
    #expect(shown.pictureInPicture > 0)
    #expect(shown.pictureInPicture == shown.received, "no frame of it went elsewhere")
    #expect(session.summary(of: "b")?.statistics.pictureInPicture == 0)
    await session.stop()
  }

  @Test func aSessionRunsUntilItsStreamsAreOver() async throws {
    let session = try PictureInPictureSession(
      "videotestsrc num-buffers=5 ! appsink name=a sync=false videotestsrc num-buffers=3 ! appsink name=b",
      display: NoDisplay())
    try await session.run()
    #expect(session.streams.map(\.state) == [.ended, .ended])
    #expect(session.summary(of: "a")?.statistics.received == 5)
  }

  @Test func aStreamThatStartsInAPauseMayGoToPictureInPicture() async throws {
    let session = try PictureInPictureSession("videotestsrc ! appsink name=a", display: OffscreenDisplay())
    session.isPaused = true
    try await session.start()
    try session.startPictureInPicture()
    #expect(await eventually { session.controller.isActive })
    #expect(session.summary(of: "a")?.statistics.received == 1)
    await session.invalidate()
  }

  @Test(arguments: [false, true])
  func aSessionThatHasGoneLeavesNothing(isStopped: Bool) async throws {
    weak var session: PictureInPictureSession?
    weak var engine: VideoEngine?
    weak var controller: PictureInPictureController?
    let display = try OffscreenDisplay()
    do {
      let call = try PictureInPictureSession(
        "videotestsrc is-live=true ! appsink name=a videotestsrc is-live=true ! appsink name=b", display: display)
      try await call.start()
      try call.startPictureInPicture()
      #expect(await eventually { call.controller.isActive })
      (session, engine, controller) = (call, call.engine, call.controller)
      if isStopped { await call.stop() }
    }
    #expect(await eventually { session == nil && engine == nil && controller == nil })
    #expect(!display.pictureInPictureWindow.isOpen && display.eventHandler == nil)
  }

  @Test func picturesGoOnWherePictureInPictureCannotBeHad() async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.startsInPictureInPicture = true
    let display = try OffscreenDisplay()
    display.pictureInPictureWindow.unsupportedReason = "told to"
    let session = try PictureInPictureSession(
      "videotestsrc is-live=true ! appsink name=a", display: display, configuration: configuration)
    let refused = Locked<[PipSinkError]>([])
    session.observeEvents { event in if case .refused(let error) = event { refused.withLock { $0.append(error) } } }
    try await session.start()
    #expect(refused.withLock { $0 } == [.pictureInPicture(.unsupported(reason: "told to"))])
    #expect(await eventually { session.engine.playState(of: "a") == .playing })
    await session.stop()
  }
}
