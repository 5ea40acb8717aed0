import Testing

@testable import PipSink
@testable import TestSupport

/// The controller with a window in memory and frames that the test sends.
@MainActor @Suite struct PictureInPictureControllerTests {
  private func started(_ call: Call) async throws -> PictureInPictureController {
    let controller = try #require(call.controller)
    try controller.start()
    #expect(await eventually { controller.isActive })
    return controller
  }

  @Test func itStartsShowsTheStreamAndStops() async throws {
    let call = try Call()
    let controller = try #require(call.controller)
    let log = Log(controller)
    #expect(controller.isSupported && controller.isPossible && !controller.isActive)
    #expect(controller.state == .initialized)
    try controller.start()
    try controller.start()
    #expect(await eventually { controller.isActive })
    #expect(controller.state == .active)
    #expect(call.window.image() != nil)
    #expect(call.window.presentation?.aspectRatio == 1)
    call.send("a")
    controller.stop()
    controller.stop()
    #expect(!call.window.isOpen && !controller.isActive)
    #expect(controller.state == .enabled)
    call.send("a")
    #expect(await eventually { log.events.count == 4 })
    #expect(log.events == [.willStart, .didStart(latency: nil), .willStop(.requested), .didStop(.requested)])
    let statistics = try #require(call.router.statistics(of: "a"))
    #expect((statistics.inApp, statistics.pictureInPicture) == (2, 1))
    #expect(call.router.changes.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
  }

  @Test func aSourceWithoutAPictureIsRefused() async throws {
    let call = try Call(ready: [])
    let controller = try #require(call.controller)
    #expect(throws: PipSinkError.pictureInPicture(.sourceNotReady("a"))) { try controller.start() }
    #expect(!controller.isPossible)
    call.send("a")
    _ = try await started(call)
  }

  @Test func whereWindowsCannotBeShownTheReasonIsSaid() async throws {
    let window = try OffscreenPictureInPictureWindow()
    window.unsupportedReason = "there is no display"
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: FrameRouter(), streamID: "a"), window: window)
    #expect(!controller.isSupported)
    #expect(controller.support == .unsupported(reason: "there is no display"))
    #expect(controller.state == .error)
    #expect(throws: PipSinkError.pictureInPicture(.unsupported(reason: "there is no display"))) {
      try controller.start()
    }
    window.unsupportedReason = nil
    #expect(throws: PipSinkError.pictureInPicture(.refusal(of: .userTriggers, in: .error))) {
      try controller.start()
    }
    #expect(!controller.isPossible)
    try controller.initialize()
    #expect(controller.state == .initialized)
    let log = Log(controller)
    try controller.initialize()
    #expect(controller.state == .initialized && log.events.isEmpty)
  }

  @Test func anotherSourceTakesTheWindowOver() async throws {
    let call = try Call(ready: ["a"])
    let controller = try await started(call)
    let log = Log(controller)
    #expect(throws: PipSinkError.pictureInPicture(.sourceNotReady("b"))) { try controller.setSource(streamID: "b") }
    #expect(throws: PipSinkError.stream(.unknown("c", known: ["a", "b"]))) { try controller.setSource(streamID: "c") }
    #expect(controller.currentStreamID == "a")
    call.send("b")
    try controller.setSource(streamID: "b")
    call.send("b")
    call.send("a")
    #expect(call.window.presentation?.streamID == "b")
    #expect(call.window.presentation?.aspectRatio == 2)
    #expect(call.router.table.entries[.primary]?.streamID == "b")
    #expect(await eventually { log.events == [.sourceChanged(from: "a", to: "b")] })
    #expect(controller.isActive)
  }

  @Test func theWindowFollowsTheStreamsShapeUnlessOneIsPreferred() async throws {
    let call = try Call()
    let controller = try await started(call)
    #expect(call.window.presentation?.aspectRatio == 1)
    var turned = SampleBuffer(pixelBuffer: try #require(call.frames["b"]), sequenceNumber: 9)
    turned.orientation = VideoOrientation(rotation: .quarter, isMirrored: false)
    call.consumers["a"]?.consume(turned)
    #expect(await eventually { call.window.presentation?.aspectRatio == 0.5 })
    controller.configuration.preferredContentSize = PictureSize(width: 120, height: 90)
    #expect(call.window.presentation?.aspectRatio == 120.0 / 90)
  }

  @Test func aWindowThatCannotBeMadeLeavesEverythingInTheApp() async throws {
    let call = try Call()
    let controller = try #require(call.controller)
    let log = Log(controller)
    call.window.openFailures = [.system(.displayUnavailable(reason: "told to"))]
    try controller.start()
    #expect(!controller.isActive && controller.state == .initialized)
    #expect(call.router.table.entries.isEmpty)
    #expect(
      await eventually { log.events == [.willStart, .failedToStart(.system(.displayUnavailable(reason: "told to")))] })
    _ = try await started(call)
  }

  @Test func aWindowThatFailsIsTriedAgainAsOftenAsIsConfigured() async throws {
    var configuration = PictureInPictureController.Configuration()
    configuration.retryPolicy = RetryPolicy(limit: 3, firstPause: .seconds(0.01))
    let clock = ManualClock()
    let call = try Call(configuration, clock: clock)
    let controller = try #require(call.controller)
    let log = Log(controller)
    call.window.openFailures = Array(repeating: .system(.displayUnavailable(reason: "told to")), count: 2)
    try controller.start()
    for pause in [0.01, 0.02] {
      #expect(!controller.isActive)
      #expect(await clock.reach(pause))
    }
    #expect(await eventually { controller.isActive })
    #expect(await eventually { log.events.filter { $0 == .willStart }.count == 3 })
    call.window.openFailures = Array(repeating: .system(.displayUnavailable(reason: "told to")), count: 9)
    call.window.die()
    // There are three tries after the window has died, and no more.
    for (pause, left) in [(0.01, 8), (0.02, 7), (0.04, 6)] {
      #expect(await clock.reach(pause))
      #expect(await eventually { call.window.openFailures.count == left })
    }
    // Only the wait of the first start is left.
    #expect(await !clock.isAwaited(in: 0.08, within: 0.02))
    clock.advance(by: 60)
    #expect(await eventually { clock.alarmCount == 0 })
    #expect(call.window.openFailures.count == 6 && !controller.isActive)
  }

  @Test func aWindowThatDiesEndsPictureInPictureAndNothingElse() async throws {
    let call = try Call()
    let controller = try await started(call)
    let log = Log(controller)
    call.window.die()
    let error = PipSinkError.pictureInPicture(.windowLost(reason: "it was closed from outside"))
    #expect(await eventually { log.events == [.willStop(.failed(error)), .didStop(.failed(error))] })
    call.send("a")
    #expect(call.router.statistics(of: "a")?.inApp == 2)
    #expect(controller.state == .enabled)
  }

  @Test func stoppingBeforeTheFirstPictureIsAStartThatFailed() async throws {
    let call = try Call()
    let controller = try #require(call.controller)
    let log = Log(controller)
    try controller.start()
    controller.stop()
    #expect(await eventually { log.events == [.willStart, .failedToStart(.pictureInPicture(.cancelled))] })
    #expect(controller.state == .enabled)
    _ = try await started(call)
  }

  // MARK: Controls

  /// An app that shows its window when the test lets it.
  @MainActor private final class Host {
    var log: [String] = []
    var mayAnswer = false
    var answer = true

    init(of controller: PictureInPictureController) {
      controller.restoreUserInterface = { [self] in
        log.append("restore")
        while !mayAnswer { await Task.yield() }
        log.append("restored")
        return answer
      }
      controller.observeEvents { [self] event in
        switch event {
        case .willStop: log.append("willStop")
        case .didStop: log.append("didStop")
        case .action(let action): log.append(action.name)
        default: break
        }
      }
    }
  }

  /// A stream may take seconds to its first picture, and a busy machine to a window's.
  @Test func backToTheAppShowsTheAppAlsoBeforeTheFirstPicture() async throws {
    let call = try Call()
    let controller = try #require(call.controller)
    let log = Log(controller)
    controller.restoreUserInterface = { true }
    try controller.start()
    #expect(call.window.isOpen && !controller.isActive)
    call.window.perform(.backToApp)
    let expected: [PictureInPictureEvent] = [
      .willStart, .didStart(latency: nil), .willStop(.backToApp), .restoreUserInterface, .didStop(.backToApp),
    ]
    #expect(await eventually { log.events == expected })
    #expect(!call.window.isOpen)
    _ = try await started(call)
  }

  @Test func backToTheAppWaitsForTheAppToShowItself() async throws {
    let call = try Call()
    let controller = try await started(call)
    let host = Host(of: controller)
    call.window.perform(.mute)
    call.window.perform(.backToApp)
    #expect(await eventually { host.log.contains("restore") })
    #expect(call.window.isOpen, "the window stays open until the app is ready")
    #expect(throws: PipSinkError.pictureInPicture(.notPossible(reason: "it is stopping"))) {
      try controller.start()
    }
    host.mayAnswer = true
    #expect(await eventually { host.log.last == "didStop" })
    #expect(host.log == ["mute", "willStop", "restore", "restored", "didStop"])
    #expect(!call.window.isOpen)
  }

  @Test func anAppThatCannotShowItselfIsToldOf() async throws {
    let call = try Call()
    let controller = try await started(call)
    let (log, host) = (Log(controller), Host(of: controller))
    (host.mayAnswer, host.answer) = (true, false)
    call.window.perform(.backToApp)
    let reason = "the app could not show it"
    #expect(
      await eventually {
        log.events == [
          .willStop(.backToApp), .restoreUserInterface,
          .restoreFailed(.pictureInPicture(.notRestored(reason: reason))), .didStop(.backToApp),
        ]
      })
    #expect(!call.window.isOpen)
  }

  @Test func anAppThatNeverAnswersDoesNotHoldTheWindowForEver() async throws {
    var configuration = PictureInPictureController.Configuration()
    configuration.restoreTimeout = .seconds(50)
    let clock = ManualClock()
    let call = try Call(configuration, clock: clock)
    let controller = try await started(call)
    let (log, host) = (Log(controller), Host(of: controller))
    call.window.perform(.backToApp)
    #expect(await clock.isAwaited(in: 50))
    clock.advance(by: 49.9)
    #expect(await eventually { host.log == ["willStop", "restore"] })
    #expect(call.window.isOpen)
    #expect(await clock.reach(0.1))
    #expect(await eventually { host.log == ["willStop", "restore", "didStop"] })
    #expect(!call.window.isOpen)
    let late = PipSinkError.pictureInPicture(.notRestored(reason: "the app did not answer within 50.0 s"))
    #expect(await eventually { log.events.contains(.restoreFailed(late)) })
    host.mayAnswer = true
  }

  @Test func theControlsThatMakeSenseAreOffered() async throws {
    let call = try Call()
    let controller = try await started(call)
    #expect(call.window.presentation?.actions == [.playPause, .backToApp, .close, .mute])
    for id: StreamID in ["a", "b"] { controller.streamSelector.set(id) }
    #expect(call.window.presentation?.actions.isSuperset(of: [.previousStream, .nextStream]) == true)
    call.window.perform(.nextStream)
    #expect(controller.currentStreamID == "b")
    call.window.perform(.skipForward)
    call.window.perform(.close)
    #expect(!call.window.isOpen)
  }

  private final class Player: PictureInPicturePlaybackDelegate {
    var isPaused = false
    var range = MediaTimeRange(start: .zero, duration: MediaTime(seconds: 100))
    var skips: [Double] = []
    var sizes: [PictureSize] = []

    func pictureInPictureController(_ controller: PictureInPictureController, setPlaying isPlaying: Bool) {
      isPaused = !isPlaying
    }
    func pictureInPictureControllerIsPlaybackPaused(_ controller: PictureInPictureController) -> Bool { isPaused }
    func pictureInPictureControllerTimeRange(_ controller: PictureInPictureController) -> MediaTimeRange { range }
    func pictureInPictureController(_ controller: PictureInPictureController, skipBy interval: MediaTime) async {
      skips.append(interval.seconds)
    }
    func pictureInPictureController(
      _ controller: PictureInPictureController, didTransitionToRenderSize size: PictureSize
    ) { sizes.append(size) }
  }

  @Test func aDisplayLayerGoesToTheWindowAndBackWithItsPlayer() async throws {
    let home = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "player", renderer: home, videoGravity: .resizeAspectFill)
    let frame = try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 16, 16))
    let window = try OffscreenPictureInPictureWindow()
    let player = Player()
    let controller = PictureInPictureController(
      contentSource: ContentSource(displayLayer: layer, playbackDelegate: player), window: window)
    #expect(!controller.isPossible)
    layer.enqueue(SampleBuffer(pixelBuffer: frame, sequenceNumber: 1))
    #expect(await eventually { home.shown == [1] })
    try controller.start()
    #expect(await eventually { controller.isActive })
    #expect(window.image() != nil)
    #expect(layer.videoGravity == .resizeAspectFill, "the gravity was set by the app")
    #expect(player.sizes == [PictureSize(width: 320, height: 180)])
    #expect(window.presentation?.actions == [.playPause, .backToApp, .close, .skipBackward, .skipForward])
    window.perform(.playPause)
    #expect(player.isPaused && window.presentation?.isPaused == true)
    window.perform(.skipBackward)
    #expect(await eventually { player.skips == [-15] })
    controller.requiresLinearPlayback = true
    #expect(window.presentation?.actions == [.playPause, .backToApp, .close])
    window.perform(.skipForward)
    #expect(await !eventually(within: 0.02) { player.skips.count > 1 }, "an advertisement cannot be skipped")
    controller.requiresLinearPlayback = false
    player.range = .live
    controller.invalidatePlaybackState()
    #expect(window.presentation?.actions == [.playPause, .backToApp, .close])
    layer.enqueue(SampleBuffer(pixelBuffer: frame, sequenceNumber: 2))
    #expect(await eventually { layer.waitUntilPresented(by: .now) })
    controller.stop()
    #expect(await eventually { home.shown == [1, 2] })
    #expect(throws: PipSinkError.self) { try controller.setSource(streamID: "a") }
  }

  @Test func aPlaybackDelegateIsNotKept() throws {
    weak var delegate: Player?
    let controller: PictureInPictureController
    do {
      let player = Player()
      delegate = player
      controller = PictureInPictureController(
        contentSource: ContentSource(displayLayer: SampleBufferDisplayLayer(name: "player"), playbackDelegate: player),
        window: try OffscreenPictureInPictureWindow())
      #expect(controller.source.playbackDelegate === player)
    }
    #expect(delegate == nil)
    #expect(controller.source.playbackDelegate == nil)
  }

  // MARK: Streams that come and go

  @Test func theNextStreamIsShownWhenOneEndsAndPictureInPictureEndsWithTheLast() async throws {
    let call = try Call(ready: ["a"])
    let controller = try #require(call.controller)
    for id: StreamID in ["a", "b"] { controller.streamSelector.set(id) }
    _ = try await started(call)
    controller.streamSelector.set("a", placeholder: .cameraOff)
    // "b" has no picture yet. It is selected as soon as it has one.
    #expect(controller.currentStreamID == "a")
    call.send("b")
    #expect(await eventually { controller.currentStreamID == "b" })
    controller.streamSelector.set("b", placeholder: .cameraOff)
    #expect(call.window.presentation?.placeholder == .cameraOff)
    controller.streamSelector.set("b")
    #expect(call.window.presentation?.places.map(\.placeholder) == [nil])
    controller.streamSelector.remove("b")
    #expect(controller.isActive)
    controller.streamSelector.remove("a")
    #expect(!controller.isActive && !call.window.isOpen)
  }

  // MARK: Lifetime

  @Test func aControllerThatIsDroppedTakesItsWindowItsLayerAndItsThreadsAway() async throws {
    // A controller of an earlier test may still be ending. Its threads do not belong to this test.
    let others = presentingThreads()
    let call = try Call()
    _ = try await started(call)
    let threads = presentingThreads().subtracting(others)
    #expect(threads.count == 1)
    weak let controller = call.controller
    call.controller = nil
    #expect(await eventually { controller == nil })
    #expect(!call.window.isOpen)
    #expect(call.router.table.entries.isEmpty)
    #expect(await eventually { self.presentingThreads().isDisjoint(with: threads) })
    call.send("a")
    #expect(call.router.statistics(of: "a")?.inApp == 2)
  }

  /// The system's IDs of the threads that present in picture-in-picture.
  private func presentingThreads() -> Set<String> { Set(threads().filter { $0.value == "pip-pip" }.keys) }

  @Test func severalControllersShowAStreamEachOrTheSameInTheAppToo() async throws {
    let call = try Call()
    let first = try await started(call)
    let window = try OffscreenPictureInPictureWindow()
    let second = PictureInPictureController(
      contentSource: ContentSource(router: call.router, streamID: "b", keepsShowingInApp: true), window: window)
    try second.start()
    #expect(await eventually { second.isActive })
    call.send("b")
    #expect(call.router.table.entries.count == 2)
    #expect(call.inApp["b"]?.sequences(of: .init(width: 32, height: 16)).count == 2)
    first.stop()
    #expect(second.isActive)
    #expect(call.router.table.entries.values.map(\.streamID) == ["b"])
  }

  @Test func aControllerThatIsGivenUpStartsOnlyAfterItWasSetUpAgain() async throws {
    let call = try Call()
    let controller = try await started(call)
    let log = Log(controller)
    controller.uninitialize()
    #expect(await eventually { log.events == [.willStop(.uninitialized), .didStop(.uninitialized)] })
    #expect(controller.state == .uninitialized && !controller.isPossible && !call.window.isOpen)
    #expect(throws: PipSinkError.pictureInPicture(.refusal(of: .userTriggers, in: .uninitialized))) {
      try controller.start()
    }
    #expect(throws: PipSinkError.pictureInPicture(.refusal(of: .userTriggers, in: .uninitialized))) {
      try controller.startWhenReady()
    }
    try controller.initialize()
    #expect(controller.state == .initialized)
    try controller.start()
    #expect(await eventually { controller.isActive && call.window.isOpen })
  }

  @Test func aStopTellsWhetherThereWasAnything() async throws {
    let call = try Call(ready: [])
    let controller = try #require(call.controller)
    #expect(!controller.stop())
    try controller.startWhenReady()
    #expect(controller.stop())
    #expect(!controller.stop())
    call.send("a")
    try controller.start()
    #expect(await eventually { controller.isActive })
    #expect(controller.stop())
    #expect(!controller.stop())
  }
}
