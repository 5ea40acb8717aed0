import Testing

@testable import PipSink

/// Picture-in-picture that starts by itself: whose it is when the user, the window or the app does something meanwhile.
@MainActor @Suite struct PictureInPictureBackgroundTests {
  private typealias Call = PictureInPictureControllerTests.Call
  private typealias Log = PictureInPictureControllerTests.Log

  /// A call whose picture-in-picture has started by itself.
  private func startedByItself(
    _ configuration: PictureInPictureController.Configuration = .init()
  ) async throws -> (Call, PictureInPictureController) {
    let call = try Call(configuration)
    let controller = try #require(call.controller)
    try controller.enableWhenBackground()
    controller.applicationDidEnterBackground()
    #expect(await eventually { controller.isActive && controller.state == .appMinimized })
    return (call, controller)
  }

  @Test func whatStartedByItselfAndWasThenStartedByTheUserStaysWhenTheAppComesBack() async throws {
    let (call, controller) = try await startedByItself()
    try controller.start()
    controller.applicationWillEnterForeground()
    #expect(await eventually { controller.state != .appMinimized })
    #expect(controller.isActive && controller.state == .active)
    #expect(call.window.isOpen)
  }

  @Test func aWindowThatDiesIsOpenedAgainWhileTheAppIsInTheBackground() async throws {
    var configuration = PictureInPictureController.Configuration()
    configuration.retryPolicy = RetryPolicy(limit: 3, firstPause: 0.01)
    let (call, controller) = try await startedByItself(configuration)
    call.window.die()
    #expect(!call.window.isOpen)
    #expect(await eventually { controller.isActive })
    // It is still the one that started by itself.
    controller.applicationWillEnterForeground()
    #expect(await eventually { !call.window.isOpen && !controller.isActive })
  }

  @Test func aWindowThatDiedStaysClosedWhenTheAppComesBackBeforeTheNextTry() async throws {
    var configuration = PictureInPictureController.Configuration()
    configuration.retryPolicy = RetryPolicy(limit: 3, firstPause: 0.05)
    let (call, controller) = try await startedByItself(configuration)
    let log = Log(controller)
    call.window.die()
    controller.applicationWillEnterForeground()
    // Far beyond the pause before the next try.
    try await Task.sleep(for: .milliseconds(400))
    #expect(!call.window.isOpen && !controller.isActive)
    #expect(!log.events.contains(.willStart))
  }

  @Test func whatTheUserStartedIsOpenedAgainInTheForegroundWhenItsWindowDies() async throws {
    var configuration = PictureInPictureController.Configuration()
    configuration.retryPolicy = RetryPolicy(limit: 3, firstPause: 0.01)
    let call = try Call(configuration)
    let controller = try #require(call.controller)
    try controller.start()
    #expect(await eventually { controller.isActive })
    call.window.die()
    #expect(await eventually { controller.isActive })
  }

  // MARK: - The pause before it starts

  @Test func itStartsNotBeforeTheDelayIsOver() async throws {
    var configuration = PictureInPictureController.Configuration()
    configuration.backgroundDelay = 0.2
    let call = try Call(configuration)
    let controller = try #require(call.controller)
    try controller.enableWhenBackground()
    let leftAt = MonotonicTime.now
    controller.applicationDidEnterBackground()
    #expect(await eventually { call.window.isOpen })
    #expect(MonotonicTime.now.nanoseconds(since: leftAt) >= 200_000_000)
  }

  @Test func anAppThatIsBackWithinTheDelayOpensNoWindow() async throws {
    var configuration = PictureInPictureController.Configuration()
    configuration.backgroundDelay = 0.4
    let call = try Call(configuration)
    let controller = try #require(call.controller)
    let log = Log(controller)
    try controller.enableWhenBackground()
    var tries = 0
    while tries < 3 {
      let leftAt = MonotonicTime.now
      controller.applicationDidEnterBackground()
      try await Task.sleep(for: .milliseconds(20))
      controller.applicationWillEnterForeground()
      // On a machine that is busy the pause may have been longer than the delay, which says nothing then.
      if MonotonicTime.now.nanoseconds(since: leftAt) >= 350_000_000 {
        #expect(await eventually { !call.window.isOpen })
        continue
      }
      tries += 1
      let opened = log.events.count
      try await Task.sleep(for: .milliseconds(600))
      #expect(!call.window.isOpen)
      #expect(log.events.count == opened)
    }
  }

  // MARK: - A window that is minimised

  @Test func aMinimisedWindowsStreamIsNotVisibleAndTheNextStartIsNotSuspended() async throws {
    let (call, controller) = try await startedByItself()
    let engine = try VideoEngine()
    controller.engine = engine
    #expect(engine.visibleStreamIDs == ["a"])
    call.window.eventHandler?(.visibilityChanged(false))
    #expect(controller.isSuspended)
    #expect(engine.visibleStreamIDs == [])
    call.window.eventHandler?(.visibilityChanged(true))
    #expect(!controller.isSuspended)
    #expect(engine.visibleStreamIDs == ["a"])
    call.window.eventHandler?(.visibilityChanged(false))
    controller.stop()
    #expect(!controller.isSuspended)
    #expect(engine.visibleStreamIDs == [])
    try controller.start()
    #expect(await eventually { controller.isActive })
    #expect(!controller.isSuspended)
    #expect(engine.visibleStreamIDs == ["a"])
  }

  @Test func aWindowThatIsClosedTellsNothingOfItsVisibility() async throws {
    let call = try Call()
    let controller = try #require(call.controller)
    call.window.eventHandler?(.visibilityChanged(false))
    #expect(!controller.isSuspended)
  }
}
