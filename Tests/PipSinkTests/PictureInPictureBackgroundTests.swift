import Testing

@testable import PipSink
@testable import TestSupport

/// Picture-in-picture that starts automatically: when it starts, and who may stop it after the user, the window or the
/// app has done something in the meantime.
@MainActor @Suite struct PictureInPictureBackgroundTests {
  private typealias Call = PictureInPictureControllerTests.Call
  private typealias Log = PictureInPictureControllerTests.Log

  private let clock = ManualClock()

  /// Makes a call whose picture-in-picture has started automatically.
  private func startedByItself(
    _ configuration: PictureInPictureController.Configuration = .init()
  ) async throws -> (Call, PictureInPictureController) {
    let call = try Call(configuration, clock: clock)
    let controller = try #require(call.controller)
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(await eventually { controller.isActive && controller.state == .appMinimized })
    return (call, controller)
  }

  /// Advances the clock by the delay after which a change of the app's state takes effect.
  private func settled(_ controller: PictureInPictureController) async -> Bool {
    guard await clock.reach(controller.configuration.backgroundDelay / .seconds(1)) else { return false }
    return await eventually { !controller.isUpdatingForBackground }
  }

  /// Advances the clock until nothing waits any more.
  private func isQuiet(_ controller: PictureInPictureController) async -> Bool {
    await clock.pass() && !controller.isUpdatingForBackground
  }

  private func retrying(after pause: Double) -> PictureInPictureController.Configuration {
    var configuration = PictureInPictureController.Configuration()
    configuration.retryPolicy = RetryPolicy(limit: 3, firstPause: .seconds(pause))
    return configuration
  }

  // MARK: - Started automatically or by the user

  @Test func whatStartedByItselfAndWasThenStartedByTheUserStaysWhenTheAppComesBack() async throws {
    let (call, controller) = try await startedByItself()
    try controller.start()
    controller.applicationWillEnterForeground()
    #expect(await settled(controller))
    #expect(controller.isActive && controller.state == .active)
    #expect(call.window.isOpen)
  }

  @Test func aWindowThatDiesIsOpenedAgainWhileTheAppIsInTheBackground() async throws {
    let (call, controller) = try await startedByItself(retrying(after: 5))
    call.window.die()
    #expect(await clock.isAwaited(in: 5))
    clock.advance(by: 4.9)
    #expect(await clock.isAwaited(in: 0.1))
    #expect(!call.window.isOpen)
    #expect(await clock.reach(0.1))
    #expect(await eventually { controller.isActive })
    // The window still counts as started automatically.
    controller.applicationWillEnterForeground()
    #expect(await settled(controller))
    #expect(await eventually { !call.window.isOpen && !controller.isActive })
  }

  @Test func aWindowThatDiedStaysClosedWhenTheAppComesBackBeforeTheNextTry() async throws {
    let (call, controller) = try await startedByItself(retrying(after: 5))
    let log = Log(controller)
    call.window.die()
    #expect(await clock.isAwaited(in: 5))
    controller.applicationWillEnterForeground()
    #expect(await settled(controller))
    #expect(await isQuiet(controller))
    #expect(!call.window.isOpen && !controller.isActive)
    #expect(await eventually { !log.events.isEmpty })
    #expect(!log.events.contains(.willStart))
  }

  @Test func whatTheUserStartedIsOpenedAgainInTheForegroundWhenItsWindowDies() async throws {
    let call = try Call(retrying(after: 5), clock: clock)
    let controller = try #require(call.controller)
    try controller.start()
    #expect(await eventually { controller.isActive })
    call.window.die()
    #expect(await clock.reach(5))
    #expect(await eventually { controller.isActive })
  }

  @Test func aStartByItselfThatFailedIsTriedAgainAsSuch() async throws {
    let call = try Call(retrying(after: 5), clock: clock)
    let controller = try #require(call.controller)
    controller.startsAutomatically = true
    for isBackInTime in [false, true] {
      call.window.openFailures = [.system(.displayUnavailable(reason: "told to"))]
      controller.applicationDidEnterBackground()
      #expect(await settled(controller))
      #expect(await clock.isAwaited(in: 5))
      if isBackInTime {
        controller.applicationWillEnterForeground()
        #expect(await settled(controller))
        #expect(await isQuiet(controller))
      } else {
        #expect(await clock.reach(5))
        #expect(await eventually { controller.isActive })
        controller.applicationWillEnterForeground()
        #expect(await settled(controller))
      }
      #expect(!call.window.isOpen)
    }
  }

  @Test func aTryForTheUserIsTakenBackByAStartByItself() async throws {
    let call = try Call(retrying(after: 5), clock: clock)
    let controller = try #require(call.controller)
    try controller.start()
    #expect(await eventually { controller.isActive })
    call.window.die()
    #expect(await clock.isAwaited(in: 5))
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(await eventually { controller.isActive })
    #expect(await isQuiet(controller))
    // The window still counts as started automatically.
    controller.applicationWillEnterForeground()
    #expect(await settled(controller))
    #expect(!call.window.isOpen)
  }

  @Test func whateverEndsWhatStartedByItselfItMayStartSoAgainUntilItIsGivenUp() async throws {
    let (call, controller) = try await startedByItself()
    call.window.perform(.backToApp)
    #expect(await eventually { controller.state == .background })
    let (other, second) = try await startedByItself()
    other.window.perform(.close)
    #expect(second.state == .background)
    let (_, third) = try await startedByItself()
    third.uninitialize()
    #expect(third.state == .uninitialized)
    #expect(!call.window.isOpen)
  }

  // MARK: - The pause before it starts

  @Test func itStartsNotBeforeTheDelayIsOver() async throws {
    var configuration = PictureInPictureController.Configuration()
    configuration.backgroundDelay = .milliseconds(200)
    let call = try Call(configuration, clock: clock)
    let controller = try #require(call.controller)
    controller.startsAutomatically = true
    #expect(await settled(controller))
    controller.applicationDidEnterBackground()
    #expect(await clock.isAwaited(in: 0.2))
    #expect(clock.advance(by: 0.199) == 0)
    #expect(!call.window.isOpen)
    #expect(await clock.reach(0.001))
    #expect(await eventually { call.window.isOpen })
  }

  @Test func anAppThatIsBackBeforeTheFirstPictureHasNoWindowAfterIt() async throws {
    let call = try Call(clock: clock)
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: call.router, streamID: "a"), window: try UnseenWindow(), clock: clock.clock)
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    let isStarting = { controller.pictureInPictureStreamID == "a" && !controller.isActive }
    #expect(isStarting())
    #expect(await clock.isAwaited(in: 2))
    controller.applicationWillEnterForeground()
    #expect(await settled(controller))
    #expect(isStarting())
    // Then it counts as started.
    #expect(await isQuiet(controller))
    #expect(await eventually { !controller.isActive && controller.state == .background })
  }

  @Test func anAppThatHasGoneWhileAStartFailedHasAWindowThatOpensByItself() async throws {
    let (call, window) = (try Call(clock: clock), try UnseenWindow())
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: call.router, streamID: "a"), window: window, clock: clock.clock)
    controller.startsAutomatically = true
    #expect(await settled(controller))
    try controller.start()
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(controller.pictureInPictureStreamID == "a" && controller.phase.run?.isAutomatic == false)
    window.eventHandler?(.lost(.pictureInPicture(.windowLost(reason: "told to"))))
    #expect(controller.pictureInPictureStreamID == nil)
    #expect(await settled(controller))
    #expect(controller.pictureInPictureStreamID == "a" && controller.phase.run?.isAutomatic == true)
    controller.stop()
  }

  @Test func anAppThatIsBackWithinTheDelayOpensNoWindow() async throws {
    var configuration = PictureInPictureController.Configuration()
    configuration.backgroundDelay = .milliseconds(400)
    let call = try Call(configuration, clock: clock)
    let controller = try #require(call.controller)
    let log = Log(controller)
    controller.startsAutomatically = true
    #expect(await settled(controller))
    for away in [0.001, 0.2, 0.399] {
      controller.applicationDidEnterBackground()
      #expect(await clock.isAwaited(in: 0.4))
      #expect(clock.advance(by: away) == 0)
      controller.applicationWillEnterForeground()
      #expect(await clock.reach(0.4 - away))
      #expect(await isQuiet(controller))
      #expect(!call.window.isOpen)
    }
    #expect(log.events.isEmpty)
  }

  // MARK: - Background and foreground

  @Test func itStartsInTheBackgroundAndStopsInTheForeground() async throws {
    let call = try Call(clock: clock)
    let controller = try #require(call.controller)
    controller.startsAutomatically = true
    #expect(controller.state == .background)
    #expect(await settled(controller))
    for _ in 0..<3 {
      controller.applicationDidEnterBackground()
      #expect(await settled(controller))
      #expect(await eventually { controller.isActive && controller.state == .appMinimized })
      controller.applicationWillEnterForeground()
      #expect(await settled(controller))
      #expect(await eventually { !controller.isActive && controller.state == .background })
      #expect(!call.window.isOpen)
    }
    controller.startsAutomatically = false
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(!call.window.isOpen)
  }

  @Test func ofQuickChangesTheLastCountsAndNothingFlaps() async throws {
    let call = try Call(clock: clock)
    let controller = try #require(call.controller)
    controller.startsAutomatically = true
    let log = Log(controller)
    for _ in 0..<20 {
      controller.applicationDidEnterBackground()
      controller.applicationWillEnterForeground()
    }
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(await eventually { controller.isActive })
    for _ in 0..<20 {
      controller.applicationWillEnterForeground()
      controller.applicationDidEnterBackground()
    }
    #expect(await settled(controller))
    #expect(controller.isActive)
    #expect(await eventually { log.events == [.willStart, .didStart(latency: nil)] })
    // The app comes back during the start. Picture-in-picture stops as soon as it has started.
    controller.stop()
    controller.applicationWillEnterForeground()
    #expect(await settled(controller))
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(await eventually { call.window.isOpen })
    controller.applicationWillEnterForeground()
    // One delay is enough, or two if the first picture arrives in between.
    let isClosed = await eventually {
      clock.advance(by: controller.configuration.backgroundDelay / .seconds(1) + 0.001)
      return !call.window.isOpen
    }
    #expect(isClosed)
  }

  @Test func whatTheUserStartedStaysWhenTheAppComesBack() async throws {
    let call = try Call(clock: clock)
    let controller = try #require(call.controller)
    controller.startsAutomatically = true
    try controller.start()
    #expect(await eventually { controller.isActive })
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(controller.state == .appMinimized)
    controller.applicationWillEnterForeground()
    #expect(await settled(controller))
    #expect(controller.state == .active)
    #expect(controller.isActive)
  }

  @Test func whatTheUserClosedInTheBackgroundStaysClosedUntilTheNextTime() async throws {
    let call = try Call(clock: clock)
    let controller = try #require(call.controller)
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(await eventually { controller.isActive })
    call.window.perform(.close)
    #expect(controller.state == .background)
    // The only alarm that may be left is that of the first start, which waits for its first picture.
    #expect(!controller.isUpdatingForBackground && clock.alarmCount <= 1)
    clock.advance(by: 60)
    #expect(await eventually { clock.alarmCount == 0 })
    #expect(!call.window.isOpen)
    controller.applicationWillEnterForeground()
    #expect(await settled(controller))
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(await eventually { controller.isActive })
  }

  @Test func inTheBackgroundItStartsWithTheFirstPicture() async throws {
    let call = try Call(ready: [], clock: clock)
    let controller = try #require(call.controller)
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(!call.window.isOpen)
    call.send("a")
    #expect(await settled(controller))
    #expect(await eventually { controller.isActive })
  }

  // MARK: - After the end of its stream

  @Test(arguments: [false, true], [false, true])
  func afterTheEndItStartsWithTheNextPictureUnlessTheUserHasClosedIt(isClosed: Bool, isAnother: Bool) async throws {
    let call = try Call(ready: ["a"], clock: clock)
    let controller = try #require(call.controller)
    controller.streamSelector.set("a")
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(await eventually { controller.isActive })
    if isClosed { call.window.perform(.close) }
    controller.streamSelector.set("a", placeholder: .ended)
    #expect(await isQuiet(controller))
    #expect(!call.window.isOpen && controller.state == .background, "there is nothing to show")
    if isAnother {
      controller.streamSelector.set("b")
      call.send("b")
    } else {
      controller.streamSelector.set("a")
    }
    #expect(await isQuiet(controller))
    #expect(controller.isActive == !isClosed)
    #expect(call.window.presentation?.streamID == (isClosed ? nil : isAnother ? "b" : "a"))
    // It still counts as started automatically.
    controller.applicationWillEnterForeground()
    #expect(await settled(controller))
    #expect(await eventually { !call.window.isOpen })
  }

  @Test func anAppThatGoesToTheBackgroundAfterTheEndOpensNoWindow() async throws {
    let call = try Call(ready: ["a"], clock: clock)
    let controller = try #require(call.controller)
    controller.streamSelector.set("a", placeholder: .ended)
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(await isQuiet(controller))
    #expect(!call.window.isOpen)
    controller.streamSelector.set("a")
    #expect(await settled(controller))
    #expect(await eventually { controller.isActive })
  }

  // MARK: - A window that is minimised

  @Test func aMinimisedWindowsStreamIsNotVisibleAndTheNextStartIsNotSuspended() async throws {
    let (call, controller) = try await startedByItself()
    let engine = try VideoEngine()
    controller.engine = engine
    let log = Log(controller)
    #expect(engine.visibleStreamIDs == ["a"])
    call.window.eventHandler?(.visibilityChanged(false))
    #expect(controller.isSuspended)
    #expect(engine.visibleStreamIDs == [])
    call.window.eventHandler?(.visibilityChanged(true))
    #expect(!controller.isSuspended)
    #expect(engine.visibleStreamIDs == ["a"])
    #expect(await eventually { log.events.count == 2 })
    #expect(log.events == [.suspendedChanged(true), .suspendedChanged(false)])
    call.window.eventHandler?(.visibilityChanged(false))
    controller.stop()
    #expect(!controller.isSuspended)
    #expect(engine.visibleStreamIDs == [])
    try controller.start()
    #expect(await eventually { controller.isActive })
    #expect(!controller.isSuspended)
    #expect(engine.visibleStreamIDs == ["a"])
  }

  @Test func aStartShowsTheWindowAgainThatIsMinimised() async throws {
    let (call, controller) = try await startedByItself()
    call.window.openFailures = [.pictureInPicture(.windowLost(reason: "asked for again"))]
    try controller.start()
    #expect(call.window.openFailures.count == 1, "the window is shown already")
    call.window.eventHandler?(.visibilityChanged(false))
    #expect(throws: PipSinkError.pictureInPicture(.windowLost(reason: "asked for again"))) { try controller.start() }
    #expect(controller.isActive && controller.isSuspended)
    // Going to the background shows no window that the user has minimised.
    call.window.openFailures = [.pictureInPicture(.windowLost(reason: "asked for again"))]
    controller.applicationWillEnterForeground()
    #expect(await settled(controller))
    controller.applicationDidEnterBackground()
    #expect(await settled(controller))
    #expect(call.window.openFailures.count == 1)
  }

  @Test func aWindowThatIsClosedTellsNothingOfItsVisibility() async throws {
    let call = try Call()
    let controller = try #require(call.controller)
    call.window.eventHandler?(.visibilityChanged(false))
    #expect(!controller.isSuspended)
  }
}
