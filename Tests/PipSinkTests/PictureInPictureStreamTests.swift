import Testing

@testable import PipSink
@testable import TestSupport

/// Which stream a controller shows, and what its window's controls do.
@MainActor @Suite struct PictureInPictureStreamTests {
  private typealias Call = PictureInPictureControllerTests.Call
  private typealias Log = PictureInPictureControllerTests.Log

  private func started(_ call: Call) async throws -> PictureInPictureController {
    let controller = try #require(call.controller)
    for id: StreamID in ["a", "b"] { controller.streamSelector.set(id) }
    try controller.start()
    #expect(await eventually { controller.isActive })
    return controller
  }

  @Test func theUsersStreamStaysWhenOthersComeAndGo() async throws {
    let call = try Call()
    let controller = try await started(call)
    try controller.setSource(streamID: "b")
    controller.streamSelector.set("c")
    controller.streamSelector.remove("c")
    #expect(controller.currentStreamID == "b")
    #expect(controller.streamSelector.selected == "b")
  }

  @Test func aPlaceholderGoesWithTheNextPicture() async throws {
    let call = try Call()
    let controller = try await started(call)
    controller.streamSelector.set("a", placeholder: .reconnecting)
    controller.streamSelector.set("b", placeholder: .cameraOff)
    #expect(controller.streamSelector.places.map(\.placeholder) == [.reconnecting])
    controller.streamSelector.set("a", placeholder: .cameraOff)
    #expect(call.window.presentation?.placeholder == .cameraOff)
    controller.streamSelector.set("b")
    #expect(call.window.presentation?.places.map(\.placeholder) == [nil])
    #expect(controller.currentStreamID == "b")
    controller.streamSelector.remove("b")
    // Another stream is left, but the stream that was shown has ended.
    #expect(call.window.presentation?.placeholder == .ended)
    controller.streamSelector.set("a")
    #expect(call.window.presentation?.places.map(\.placeholder) == [nil])
  }

  // MARK: - A start without a picture of the stream that comes first

  /// A controller whose first stream has no frame yet. The second one may have one.
  private func waiting(_ ready: [StreamID], _ clock: ManualClock? = nil) throws -> (Call, PictureInPictureController) {
    var configuration = PictureInPictureController.Configuration()
    configuration.backgroundDelay = .zero
    let call = try Call(ready: ready, configuration, clock: clock)
    let controller = try #require(call.controller)
    controller.streamSelector.policy = .pinned("a")
    for id: StreamID in ["a", "b"] { controller.streamSelector.set(id) }
    #expect(controller.currentStreamID == "a")
    return (call, controller)
  }

  @Test(arguments: [false, true]) func aStartTakesTheStreamThatHasAPicture(whenReady: Bool) async throws {
    let (call, controller) = try waiting(["b"])
    #expect(throws: PipSinkError.pictureInPicture(.sourceNotReady("a"))) { try controller.start() }
    controller.resetSource()
    if whenReady { try controller.startWhenReady() } else { try controller.start() }
    #expect(await eventually { controller.isActive })
    #expect(call.window.presentation?.places.map(\.streamID) == ["b"])
    call.send("a")
    #expect(await eventually { controller.currentStreamID == "a" })
  }

  @Test func anAutomaticStartDoesNotWaitForTheStreamThatWasChosen() async throws {
    let (call, controller) = try waiting(["b"])
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await eventually { controller.isActive })
    #expect(call.window.presentation?.places.map(\.streamID) == ["b"])
    call.send("a")
    #expect(await eventually { controller.currentStreamID == "a" })
  }

  @Test func aStartThatWaitsTakesAnyStreamAfterATimeUnlessOneWasChosen() async throws {
    for isChosen in [true, false] {
      let clock = ManualClock()
      let (call, controller) = try waiting([], clock)
      if !isChosen { controller.resetSource() }
      try controller.startWhenReady()
      call.send("b")
      #expect(await clock.isAwaited(in: 2))
      #expect(controller.isWaitingForPicture && controller.currentStreamID == "a")
      #expect(await clock.reach(2))
      guard isChosen else {
        #expect(await eventually { controller.isActive && controller.currentStreamID == "b" })
        continue
      }
      #expect(await !eventually(within: 0.05) { !controller.isWaitingForPicture })
      call.send("a")
      #expect(await eventually { controller.isActive && controller.currentStreamID == "a" })
    }
  }

  @Test func aStreamThatLeavesAndComesBackIsInTheWindowAgain() async throws {
    let call = try Call()
    let controller = try await started(call)
    // The window waits for another stream meanwhile, and none has a picture.
    controller.streamSelector.set("b", placeholder: .cameraOff)
    controller.streamSelector.remove("a")
    call.router.removeStream("a")
    #expect(call.window.presentation?.placeholder == .ended)
    let consumer = call.router.addStream("a", inApp: call.inApp["a"])
    controller.streamSelector.set("a")
    #expect(call.window.presentation?.placeholder == .waiting)
    consumer.consume(SampleBuffer(pixelBuffer: try #require(call.frames["a"]), sequenceNumber: 1))
    #expect(await eventually { call.window.presentation?.places.map(\.placeholder) == [nil] })
    #expect(call.router.table.entries[.primary]?.streamID == "a")
    #expect(await eventually { call.window.image() != nil })
  }

  @Test func theLastPictureOfACameraThatIsOffIsNotLeftUnderItsPlaceholder() async throws {
    let call = try Call(ready: ["a"])
    let controller = try #require(call.controller)
    controller.streamSelector.set("a", placeholder: .cameraOff)
    try controller.start()
    #expect(await eventually { controller.isActive })
    #expect(call.window.presentation?.placeholder == .cameraOff)
    #expect(await eventually { call.window.image() == nil })
  }

  @Test func whoIsInPictureInPictureHasOneAnswerFromWillStartToTheEnd() async throws {
    let call = try Call(ready: [])
    let controller = try #require(call.controller)
    let answers = Locked<[String]>([])
    controller.observeEvents { [weak controller] event in
      let name =
        switch event {
        case .willStart: "willStart"
        case .didStart: "didStart"
        case .willStop: "willStop"
        case .didStop: "didStop"
        case .failedToStart: "failed"
        case .sourceChanged: "changed"
        default: ""
        }
      let answer = "\(name) \(controller?.pictureInPictureStreamID ?? "-")"
      if !name.isEmpty { answers.withLock { $0.append(answer) } }
    }
    try controller.startWhenReady()
    #expect(controller.isWaitingForPicture && controller.pictureInPictureStreamID == nil)
    for id: StreamID in ["a", "b"] { call.send(id) }
    #expect(await eventually { controller.isActive })
    #expect(!controller.isWaitingForPicture)
    try controller.setSource(streamID: "b")
    controller.stop()
    call.window.openFailures = [.system(.displayUnavailable(reason: "told to"))]
    try controller.start()
    #expect(
      answers.withLock { $0 } == [
        "willStart a", "didStart a", "changed b", "willStop b", "didStop -", "willStart b", "failed -",
      ])
  }

  // MARK: - The end of a stream

  private func configured(_ action: PictureInPictureEndAction) -> PictureInPictureController.Configuration {
    var configuration = PictureInPictureController.Configuration()
    configuration.endAction = action
    return configuration
  }

  @Test func whereNoStreamIsLeftPictureInPictureEndsAndSaysWhy() async throws {
    let call = try Call()
    let controller = try await started(call)
    let log = Log(controller)
    controller.streamSelector.remove("a")
    #expect(controller.currentStreamID == "b")
    #expect(call.window.presentation?.streamID == "b")
    controller.streamSelector.remove("b")
    #expect(!controller.isActive && !call.window.isOpen)
    #expect(call.router.table.mode == .normal)
    let expected: [PictureInPictureEvent] = [
      .sourceChanged(from: "a", to: "b"), .willStop(.sourceEnded), .didStop(.sourceEnded),
    ]
    #expect(await eventually { log.events == expected }, "\(log.events)")
    #expect(controller.state == .enabled)
    // A stream that comes back does not open the window.
    controller.streamSelector.set("b")
    #expect(await !eventually(within: 0.05) { call.window.isOpen })
    try controller.start()
    #expect(await eventually { controller.isActive })
    #expect(call.window.presentation?.places.map(\.placeholder) == [nil])
  }

  @Test func pictureInPictureEndsWithItsStreamWhereThatIsConfigured() async throws {
    let call = try Call(configured(.stop))
    let controller = try await started(call)
    let log = Log(controller)
    controller.streamSelector.remove("b")
    #expect(controller.isActive)
    controller.streamSelector.set("b")
    controller.streamSelector.remove("a")
    let expected: [PictureInPictureEvent] = [
      .willStop(.sourceEnded), .didStop(.sourceEnded), .sourceChanged(from: "a", to: "b"),
    ]
    #expect(await eventually { log.events == expected }, "\(log.events)")
    // The next start shows the remaining stream.
    try controller.start()
    #expect(await eventually { controller.isActive })
    #expect(call.window.presentation?.streamID == "b")
  }

  @Test func aPlaceholderKeepsThePlaceOfAStreamThatEnded() async throws {
    let call = try Call(configured(.placeholder))
    let controller = try await started(call)
    controller.streamSelector.remove("a")
    for level in [0.2, 0.9] {
      #expect(controller.isActive && controller.currentStreamID == "a")
      #expect(call.window.presentation?.placeholder == .ended)
      // Changes of the other streams do not matter.
      controller.streamSelector.setAudioLevel("b", level)
    }
    // The button for the next stream leads to a remaining stream, even if there is only one.
    #expect(call.window.presentation?.actions.contains(.nextStream) == true)
    controller.perform(.nextStream)
    #expect(controller.currentStreamID == "b")
    #expect(call.window.presentation?.places.map(\.placeholder) == [nil])
    controller.streamSelector.remove("b")
    #expect(call.window.presentation?.placeholder == .ended)
    // The stream comes back.
    controller.streamSelector.set("b")
    #expect(call.window.presentation?.places.map(\.placeholder) == [nil])
    #expect(call.window.presentation?.streamID == "b" && controller.isActive)
    // A window that was closed in the meantime opens with a stream that is left.
    controller.streamSelector.set("a")
    controller.streamSelector.remove("b")
    controller.stop()
    try controller.start()
    #expect(await eventually { controller.isActive })
    #expect(call.window.presentation?.streamID == "a" && call.window.presentation?.places.map(\.placeholder) == [nil])
  }

  @Test func theWindowSaysThatItsStreamHasEndedUntilTheNextOneHasAPicture() async throws {
    let call = try Call(ready: ["a"])
    let controller = try await started(call)
    controller.streamSelector.remove("a")
    #expect(controller.currentStreamID == "a" && call.window.presentation?.placeholder == .ended)
    call.send("b")
    #expect(await eventually { controller.currentStreamID == "b" })
    #expect(call.window.presentation?.places.map(\.placeholder) == [nil])
  }

  @Test func aStreamThatEndsBeforeItsFirstPictureInTheWindowHasNotStarted() throws {
    let call = try Call(configured(.stop))
    let controller = try #require(call.controller)
    let log = Locked<[PictureInPictureEvent]>([])
    controller.observeEvents { event in log.withLock { $0.append(event) } }
    for id: StreamID in ["a", "b"] { controller.streamSelector.set(id) }
    try controller.start()
    controller.streamSelector.remove("a")
    #expect(!call.window.isOpen && controller.currentStreamID == "b")
    let events = log.withLock { $0 }
    #expect(events.contains(.willStart) && events.contains(.failedToStart(.pictureInPicture(.cancelled))))
    #expect(!events.contains(.willStop(.sourceEnded)))
  }

  @Test func aStreamThatIsWaitedForIsForgottenWhenTheSelectorWantsAnother() async throws {
    let call = try Call(ready: ["a"])
    let controller = try await started(call)
    controller.streamSelector.set("a", placeholder: .cameraOff)
    #expect(controller.currentStreamID == "a")
    controller.streamSelector.set("a")
    controller.streamSelector.select("a")
    call.send("b")
    #expect(await eventually { call.router.statistics(of: "b")?.received == 1 })
    #expect(await !eventually(within: 0.05) { controller.currentStreamID != "a" })
  }

  @Test func controlsThatMakeNoSenseDoNothing() async throws {
    let call = try Call()
    let controller = try #require(call.controller)
    let log = Log(controller)
    for action in PictureInPictureAction.known { controller.perform(action) }
    #expect(!controller.isActive && controller.currentStreamID == "a")
    try controller.start()
    #expect(await eventually { controller.isActive })
    controller.perform(.nextStream)
    controller.perform(.skipForward)
    controller.perform(.mute)
    controller.perform(.playPause)
    #expect(
      await eventually { log.events == [.willStart, .didStart(latency: nil), .action(.mute), .action(.playPause)] })
    #expect(controller.currentStreamID == "a")
  }

  @Test func onlyControlsThatSomebodyHandlesAreOffered() async throws {
    let call = try Call()
    let controller = try await started(call)
    let log = Log(controller)
    controller.streamSelector.remove("b")
    controller.handledActions = []
    #expect(call.window.presentation?.actions == [.backToApp, .close])
    for action in [PictureInPictureAction.mute, .playPause] { call.window.perform(action) }
    // Only the controller itself decides about these actions.
    controller.handledActions = [.mute, .skipForward, .nextStream]
    #expect(call.window.presentation?.actions == [.backToApp, .close, .mute, .skipForward])
    for action in [PictureInPictureAction.mute, .skipForward, .skipBackward] { call.window.perform(action) }
    #expect(await eventually { log.events == [.action(.mute), .action(.skipForward)] }, "\(log.events)")
    controller.requiresLinearPlayback = true
    #expect(call.window.presentation?.actions == [.backToApp, .close, .mute])
    controller.requiresLinearPlayback = false
    #expect(call.window.presentation?.actions == [.backToApp, .close, .mute, .skipForward])
  }

  @Test func theWindowIsToldWhatTheAppSays() async throws {
    let call = try Call()
    let controller = try await started(call)
    controller.isMuted = true
    #expect(call.window.presentation?.isMuted == true)
    controller.isPaused = true
    #expect(call.window.presentation?.isPaused == true)
    controller.configuration.videoGravity = .resizeAspectFill
    #expect(controller.displayLayer.videoGravity == .resizeAspectFill)
    controller.configuration.preferredContentSize = PictureSize(width: 0, height: 9)
    #expect(controller.aspectRatio == 1, "an invalid size defines no shape")
  }

  @Test func previousAndNextGoRoundAndToggleGoesThereAndBack() async throws {
    let call = try Call()
    let controller = try await started(call)
    let turns: [(PictureInPictureAction, StreamID)] = [(.nextStream, "b"), (.nextStream, "a"), (.previousStream, "b")]
    for (action, id) in turns {
      call.window.perform(action)
      #expect(controller.currentStreamID == id)
    }
    try controller.toggle()
    #expect(!call.window.isOpen)
    try controller.toggle()
    #expect(await eventually { controller.isActive })
  }

  @Test func aStreamThatWasSentToTheWindowBeforeItOpenedIsBackAfterAStop() throws {
    let call = try Call()
    let controller = try #require(call.controller)
    try call.router.enterPictureInPicture("a", on: .primary)
    controller.stop()
    #expect(call.router.table.entries.isEmpty)
  }

  @Test func aStreamThatIsInTheWindowAlreadyStartsWithItsPictureAndNotAfterATime() async throws {
    let call = try Call(clock: ManualClock())
    let controller = try #require(call.controller)
    try call.router.enterPictureInPicture("a", on: .primary)
    try controller.start()
    // The clock stands still.
    #expect(await eventually(within: 20) { controller.isActive })
  }

  @Test func aMirroredSourceStaysInTheAppWhicheverStreamItIs() async throws {
    let call = try Call()
    call.controller = nil
    let window = try OffscreenPictureInPictureWindow()
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: call.router, streamID: "a", keepsShowingInApp: true), window: window)
    try controller.start()
    #expect(await eventually { controller.isActive })
    try controller.setSource(streamID: "b")
    let before = call.inApp["b"]?.sequences(of: .init(width: 32, height: 16)).count
    call.send("b")
    #expect(call.inApp["b"]?.sequences(of: .init(width: 32, height: 16)).count == before.map { $0 + 1 })
    #expect(call.router.statistics(of: "b")?.pictureInPicture == 1)
  }

  @Test func theEngineDecodesAllAgainWhenTheControllerHasGone() async throws {
    let engine = try VideoEngine()
    var call: Call? = try Call()
    call?.controller?.engine = engine
    call?.controller?.applicationDidEnterBackground()
    for _ in 0..<200 where engine.visibleStreamIDs == nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(engine.visibleStreamIDs == [])
    call = nil
    #expect(await eventually { engine.visibleStreamIDs == nil })
  }
}
