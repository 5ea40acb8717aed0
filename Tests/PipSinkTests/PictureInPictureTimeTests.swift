import Testing

@testable import PipSink
@testable import TestSupport

/// What a controller waits for. A wait that is no longer wanted has no effect.
@MainActor @Suite struct PictureInPictureTimeTests {
  private typealias Call = PictureInPictureControllerTests.Call
  private typealias Log = PictureInPictureControllerTests.Log

  private let clock = ManualClock()

  private func retrying(limit: Int) -> PictureInPictureController.Configuration {
    var configuration = PictureInPictureController.Configuration()
    configuration.retryPolicy = RetryPolicy(limit: limit, firstPause: .seconds(5), longestPause: .seconds(5))
    return configuration
  }

  private func started(_ call: Call) async throws -> PictureInPictureController {
    let controller = try #require(call.controller)
    try controller.start()
    #expect(await eventually { controller.isActive })
    return controller
  }

  /// Advances the clock until nothing waits any more.
  private func isQuiet() async -> Bool { await clock.pass() }

  /// An app that shows itself only when the test lets it.
  @MainActor private final class Host {
    var asked = 0
    var answered = 0
    func restore() async -> Bool {
      asked += 1
      let own = asked
      while answered < own { try? await Task.sleep(for: .milliseconds(1)) }
      return true
    }
  }

  // MARK: - The first picture

  @Test func withoutAPictureItCountsAsStartedWhenTheTimeForThatIsOver() async throws {
    let call = try Call()
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: call.router, streamID: "a"), window: try UnseenWindow(), clock: clock.clock)
    var events = controller.events().makeAsyncIterator()
    try controller.start()
    #expect(await clock.isAwaited(in: 2))
    #expect(clock.advance(by: 1.999) == 0)
    #expect(!controller.isActive)
    // The next start has its own time limit.
    controller.stop()
    try controller.start()
    #expect(await clock.isAwaited(in: 2))
    #expect(clock.advance(by: 0.001) == 1)
    #expect(await !eventually(within: 0.05) { controller.isActive })
    #expect(await clock.reach(1.999))
    #expect(await eventually { controller.isActive })
    while let event = await events.next() {
      guard case .didStart(let latency) = event else { continue }
      #expect(latency == nil)
      break
    }
  }

  // MARK: - Windows that fail

  @Test func stoppingTakesBackTheNextTry() async throws {
    let call = try Call(retrying(limit: 3), clock: clock)
    let controller = try await started(call)
    call.window.die()
    #expect(await clock.isAwaited(in: 5))
    controller.stop()
    #expect(await isQuiet())
    #expect(!call.window.isOpen && !controller.isActive)
  }

  @Test func aStartOfTheUsersTakesTheNextTrysPlace() async throws {
    let call = try Call(retrying(limit: 3), clock: clock)
    let controller = try await started(call)
    call.window.die()
    #expect(await clock.isAwaited(in: 5))
    try controller.start()
    #expect(await eventually { controller.isActive })
    let log = Log(controller)
    controller.stop()
    #expect(await isQuiet())
    #expect(!controller.isActive)
    #expect(await eventually { log.events == [.willStop(.requested), .didStop(.requested)] })
  }

  @Test func anInvalidatedControllerDoesNotTryAgain() async throws {
    let call = try Call(retrying(limit: 3), clock: clock)
    let controller = try await started(call)
    controller.startsAutomatically = true
    call.window.die()
    #expect(await clock.isAwaited(in: 5))
    controller.uninitialize()
    controller.applicationDidEnterBackground()
    #expect(await isQuiet())
    #expect(!call.window.isOpen)
  }

  @Test func aStartOfTheUsersHasAllTriesAgainAndSoHasAPictureThatWasShown() async throws {
    let call = try Call(retrying(limit: 2), clock: clock)
    let controller = try #require(call.controller)
    let failure = PipSinkError.system(.displayUnavailable(reason: "told to"))
    for _ in 0..<2 {
      call.window.openFailures = [failure, failure, failure, failure]
      try controller.start()
      for left in [2, 1] {
        #expect(await clock.reach(5))
        #expect(await eventually { call.window.openFailures.count == left })
      }
      #expect(await isQuiet())
      #expect(call.window.openFailures.count == 1 && !controller.isActive)
    }
    call.window.openFailures = []
    _ = try await started(call)
    // The window dies more often than tries are allowed, but it shows a picture in between.
    for _ in 0..<5 {
      call.window.die()
      #expect(await clock.reach(5))
      #expect(await eventually { controller.isActive })
    }
  }

  @Test func aTryThatIsRefusedIsFollowedByTheNext() async throws {
    let call = try Call(retrying(limit: 3), clock: clock)
    let controller = try await started(call)
    let log = Log(controller)
    call.window.die()
    #expect(await clock.isAwaited(in: 5))
    call.window.unsupportedReason = "the display has gone"
    #expect(await clock.reach(5))
    #expect(await clock.isAwaited(in: 5))
    #expect(!call.window.isOpen)
    call.window.unsupportedReason = nil
    #expect(await clock.reach(5))
    #expect(await eventually { controller.isActive })
    #expect(await eventually { log.events.filter { $0 == .willStart }.count == 1 })
  }

  // MARK: - Back to the app

  @Test func theTimeThatTheAppHadForOneReturnDoesNotEndTheNext() async throws {
    let call = try Call(clock: clock)
    let controller = try await started(call)
    #expect(await isQuiet())
    let host = Host()
    controller.restoreUserInterface = host.restore
    call.window.perform(.backToApp)
    #expect(await clock.isAwaited(in: 5))
    #expect(await eventually { host.asked == 1 })
    host.answered = 1
    #expect(await eventually { !call.window.isOpen })
    clock.advance(by: 2)
    _ = try await started(call)
    call.window.perform(.backToApp)
    #expect(await eventually { host.asked == 2 })
    #expect(await clock.isAwaited(in: 5))
    // The five seconds of the first return are over.
    #expect(await clock.reach(3))
    #expect(await !eventually(within: 0.05) { !call.window.isOpen })
    #expect(await clock.reach(2))
    #expect(await eventually { !call.window.isOpen })
    host.answered = 2
  }

  @Test func aWindowThatDiesOnTheWayBackEndsIt() async throws {
    let call = try Call(clock: clock)
    let controller = try await started(call)
    let log = Log(controller)
    let host = Host()
    controller.restoreUserInterface = host.restore
    call.window.perform(.backToApp)
    #expect(await eventually { host.asked == 1 })
    call.window.die()
    #expect(await eventually { log.events.last == .didStop(.backToApp) })
    host.answered = 1
    #expect(await isQuiet())
    #expect(log.events.filter { if case .didStop = $0 { true } else { false } }.count == 1)
  }

  // MARK: - Waiting for a picture

  @Test func itStartsWithTheFirstPictureUnlessItIsStoppedBefore() async throws {
    let call = try Call(ready: [], clock: clock)
    let controller = try #require(call.controller)
    try controller.startWhenReady()
    controller.stop()
    call.send("a")
    #expect(await eventually { controller.isPossible })
    #expect(await !eventually(within: 0.05) { call.window.isOpen })
    let other = try Call(ready: [], clock: clock)
    try other.controller?.startWhenReady()
    other.send("b")
    other.send("a")
    #expect(await eventually { other.controller?.isActive == true })
    #expect(!call.window.isOpen)
  }

  @Test func whatIsEnabledInTheBackgroundStartsThereAndWhatIsCancelledDoesNot() async throws {
    let call = try Call(clock: clock)
    let controller = try #require(call.controller)
    controller.applicationDidEnterBackground()
    #expect(await clock.reach(0.05))
    #expect(await eventually { !controller.isUpdatingForBackground })
    #expect(!call.window.isOpen)
    controller.startsAutomatically = true
    #expect(await clock.isAwaited(in: 0.05))
    controller.startsAutomatically = false
    #expect(controller.state == .initialized)
    #expect(await clock.reach(0.05))
    #expect(await eventually { !controller.isUpdatingForBackground })
    #expect(!call.window.isOpen)
    controller.startsAutomatically = true
    #expect(await clock.reach(0.05))
    #expect(await eventually { controller.isActive })
  }
}
