import Testing

@testable import PipSink
@testable import TestSupport

/// What the controller says about itself: all its properties agree, and its state is derived from them.
@MainActor @Suite(.timeLimit(.minutes(5))) struct PictureInPictureViewTests {
  private typealias Call = PictureInPictureControllerTests.Call

  private let clock = ManualClock()

  /// Observes the events of a controller and compares them with the controller's properties at that moment.
  @MainActor
  private final class Watch {
    private(set) var events: [PictureInPictureEvent] = []
    private(set) var told: PictureInPictureState
    private weak var controller: PictureInPictureController?
    private let seed: UInt64
    /// A closure that is called while an event is being delivered.
    var reaction: (() -> Void)?

    init(_ controller: PictureInPictureController, seed: UInt64 = 0) {
      (self.controller, self.seed, told) = (controller, seed, controller.state)
      controller.observeEvents { [weak self] event in self?.note(event) }
    }

    private func note(_ event: PictureInPictureEvent) {
      events.append(event)
      if case .stateChanged(let next) = event {
        // The controller may be uninitialized in any state.
        if next != .uninitialized {
          let isDrawn = PictureInPictureStateMachine.transitions.contains { $0.from == told && $0.to == next }
          #expect(isDrawn, "seed \(seed): \(told) to \(next)")
        }
        told = next
      }
      expectOneAnswer()
      reaction?()
    }

    func expectOneAnswer() {
      guard let controller else { return }
      let isActive = controller.isActive
      #expect([.active, .appMinimized].contains(controller.state) == isActive, "seed \(seed): \(controller.state)")
      let streamID = controller.pictureInPictureStreamID
      // A stream that is selected while the window is being closed is for the next start.
      let isStopping = if case .stopping = controller.phase { true } else { false }
      if let streamID, !isStopping { #expect(streamID == controller.currentStreamID, "seed \(seed)") }
      if isActive { #expect(streamID != nil, "seed \(seed)") }
      if controller.isWaitingForPicture { #expect(streamID == nil, "seed \(seed)") }
    }
  }

  // MARK: - Consistent answers

  @Test(arguments: [false, true])
  func betweenStartAndTheFirstPictureItIsNotActiveAndTheStreamIsInPictureInPicture(isAutomatic: Bool) async throws {
    let call = try Call()
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: call.router, streamID: "a"), window: try UnseenWindow(), clock: clock.clock)
    let watch = Watch(controller)
    if isAutomatic {
      controller.startsAutomatically = true
      controller.applicationDidEnterBackground()
      #expect(await clock.reach(0.05))
      #expect(await eventually { controller.pictureInPictureStreamID != nil })
    } else {
      try controller.start()
    }
    #expect(!controller.isActive && controller.state == (isAutomatic ? .background : .enabled))
    #expect(controller.pictureInPictureStreamID == "a")
    #expect(call.router.table.entries.values.map(\.streamID) == ["a"])
    #expect(await clock.reach(2))
    #expect(await eventually { controller.isActive })
    #expect(controller.state == (isAutomatic ? .appMinimized : .active))
    let start: [PictureInPictureEvent] =
      isAutomatic
      ? [.stateChanged(.background), .willStart, .didStart(latency: nil), .stateChanged(.active)]
        + [.stateChanged(.appMinimized)]
      : [.willStart, .stateChanged(.enabled), .didStart(latency: nil), .stateChanged(.active)]
    #expect(watch.events == start)
    controller.stop()
    #expect(controller.state == (isAutomatic ? .background : .enabled))
    let end: [PictureInPictureEvent] =
      isAutomatic
      ? [.willStop(.requested), .stateChanged(.initialized), .stateChanged(.background), .didStop(.requested)]
      : [.willStop(.requested), .stateChanged(.enabled), .didStop(.requested)]
    #expect(Array(watch.events.dropFirst(start.count)) == end)
  }

  @Test func whoIsToldOfTheWindowMayEndItsStart() throws {
    let call = try Call()
    let controller = try #require(call.controller)
    let watch = Watch(controller)
    watch.reaction = { [weak watch] in
      if case .renderSizeChanged = watch?.events.last { controller.stop() }
    }
    try controller.start()
    #expect(!call.window.isOpen && controller.pictureInPictureStreamID == nil)
    #expect(call.router.table.entries.isEmpty && controller.state == .initialized)
    #expect(watch.events.last == .failedToStart(.pictureInPicture(.cancelled)))
  }

  // MARK: - Starting automatically

  @Test func thePropertySetWhileItIsActiveHoldsForTheNextTime() async throws {
    let call = try Call(clock: clock)
    let controller = try #require(call.controller)
    let watch = Watch(controller)
    try controller.start()
    #expect(await eventually { controller.isActive })
    controller.startsAutomatically = true
    #expect(controller.startsAutomatically && controller.isActive && controller.state == .active)
    controller.stop()
    controller.applicationDidEnterBackground()
    #expect(await clock.reach(0.05))
    #expect(await eventually { controller.isActive })
    controller.startsAutomatically = false
    #expect(controller.isActive && controller.state == .appMinimized)
    call.window.perform(.close)
    #expect(controller.state == .initialized && watch.told == .initialized)
  }

  @Test func thePropertyIsRememberedAfterAnErrorOfSetUpAndCountsWhenThatSucceeds() async throws {
    let call = try Call(clock: clock)
    let window = try OffscreenPictureInPictureWindow()
    window.unsupportedReason = "there is no display"
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: call.router, streamID: "a"), window: window, clock: clock.clock)
    let watch = Watch(controller)
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await clock.reach(0.05))
    #expect(await eventually { !controller.isUpdatingForBackground })
    #expect(controller.state == .error && !window.isOpen)
    #expect(throws: PipSinkError.pictureInPicture(.unsupported(reason: "there is no display"))) {
      try controller.initialize()
    }
    window.unsupportedReason = nil
    try controller.initialize()
    let states = watch.events.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
    #expect(
      states == [.uninitialized, .initializing, .error, .uninitialized, .initializing, .initialized, .background])
    #expect(await clock.reach(0.05))
    #expect(await eventually { controller.isActive && controller.state == .appMinimized })
  }

  @Test func aControllerThatIsGivenUpStartsNothingByItself() async throws {
    let call = try Call(clock: clock)
    let controller = try #require(call.controller)
    controller.startsAutomatically = true
    let watch = Watch(controller)
    controller.uninitialize()
    #expect(watch.events == [.stateChanged(.initialized), .stateChanged(.uninitialized)])
    #expect(controller.state == .uninitialized && !controller.startsAutomatically)
    // The setting is remembered until the controller is initialized again.
    controller.startsAutomatically = true
    controller.applicationDidEnterBackground()
    #expect(await clock.reach(0.05))
    #expect(await eventually { !controller.isUpdatingForBackground })
    #expect(controller.state == .uninitialized && !call.window.isOpen)
    try controller.initialize()
    #expect(controller.state == .background)
    #expect(await clock.reach(0.05))
    #expect(await eventually { controller.state == .appMinimized })
    controller.uninitialize()
    let states = watch.events.compactMap { if case .stateChanged(let state) = $0 { state } else { nil } }
    #expect(states.suffix(3) == [.appMinimized, .initialized, .uninitialized])
  }

  @Test func whoGivesItUpWhileItIsBeingSetUpIsHeard() async throws {
    let call = try Call(clock: clock)
    let controller = try #require(call.controller)
    controller.uninitialize()
    let watch = Watch(controller)
    watch.reaction = { [weak controller] in
      if controller?.state == .initializing { controller?.uninitialize() }
    }
    try controller.initialize()
    #expect(controller.state == .uninitialized && watch.told == .uninitialized)
  }

  @Test func givingItUpTakesAWindowAwayThatWaitsForTheApp() async throws {
    let call = try Call(clock: clock)
    let controller = try #require(call.controller)
    controller.restoreUserInterface = {
      try? await Task.sleep(for: .seconds(3600))
      return true
    }
    try controller.start()
    #expect(await eventually { controller.isActive })
    let watch = Watch(controller)
    call.window.perform(.backToApp)
    #expect(call.window.isOpen && !controller.isActive && controller.state == .enabled)
    controller.uninitialize()
    #expect(!call.window.isOpen)
    #expect(
      watch.events == [
        .willStop(.backToApp), .stateChanged(.enabled), .restoreUserInterface, .didStop(.backToApp),
        .stateChanged(.uninitialized),
      ])
  }

  // MARK: - Whatever happens

  private enum Step: CaseIterable {
    case start, stop, startWhenReady, toggle, die, close, backToApp, background, foreground, allow, forbid
    case sendA, sendB, addA, addB, removeA, removeB, sourceA, sourceB, cover, uncover, failNextOpening
    case loseDisplay, findDisplay, initialize, uninitialize
  }

  private func perform(_ step: Step, _ call: Call, _ controller: PictureInPictureController) {
    switch step {
    case .start: try? controller.start()
    case .stop: controller.stop()
    case .startWhenReady: try? controller.startWhenReady()
    case .toggle: try? controller.toggle()
    case .die: call.window.die()
    case .close: call.window.perform(.close)
    case .backToApp: call.window.perform(.backToApp)
    case .background: controller.applicationDidEnterBackground()
    case .foreground: controller.applicationWillEnterForeground()
    case .allow: controller.startsAutomatically = true
    case .forbid: controller.startsAutomatically = false
    case .sendA: call.send("a")
    case .sendB: call.send("b")
    case .addA: controller.streamSelector.set("a")
    case .addB: controller.streamSelector.set("b")
    case .removeA: controller.streamSelector.remove("a")
    case .removeB: controller.streamSelector.remove("b")
    case .sourceA: try? controller.setSource(streamID: "a")
    case .sourceB: try? controller.setSource(streamID: "b")
    case .cover: call.window.eventHandler?(.visibilityChanged(false))
    case .uncover: call.window.eventHandler?(.visibilityChanged(true))
    case .failNextOpening: call.window.openFailures = [.system(.displayUnavailable(reason: "told to"))]
    case .loseDisplay: call.window.unsupportedReason = "told to"
    case .findDisplay:
      call.window.unsupportedReason = nil
      try? controller.initialize()
    case .initialize: try? controller.initialize()
    case .uninitialize: controller.uninitialize()
    }
  }

  /// Returns a random step. The step after which most other steps are refused is chosen less often.
  private func step(_ random: inout SeededGenerator) -> Step {
    let step = Step.allCases.randomElement(using: &random) ?? .start
    return step == .uninitialize && Int.random(in: 0..<8, using: &random) > 0 ? .start : step
  }

  @Test(arguments: [false, true])
  func theStateThatIsToldFollowsTheDiagramToTheOneItIsIn(whileEventsAreTold: Bool) async throws {
    for seed in 1...500 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: whileEventsAreTold ? 500 + seed : seed)
      var configuration = PictureInPictureController.Configuration()
      configuration.backgroundDelay = .zero
      configuration.retryPolicy = seed % 2 == 0 ? RetryPolicy(limit: 2, firstPause: .seconds(0)) : nil
      configuration.endAction = PictureInPictureEndAction.allCases.randomElement(using: &random) ?? .stop
      let call = try Call(ready: ["a"], configuration)
      let controller = try #require(call.controller)
      let watch = Watch(controller, seed: seed)
      var (depth, others) = (0, SeededGenerator(seed: seed))
      watch.reaction = { [weak controller] in
        guard whileEventsAreTold, let controller, depth < 3, Int.random(in: 0..<6, using: &others) == 0 else { return }
        depth += 1
        self.perform(self.step(&others), call, controller)
        depth -= 1
      }
      for _ in 0..<24 {
        perform(step(&random), call, controller)
        watch.expectOneAnswer()
        try #require(watch.told == controller.state, "seed \(seed)")
        switch Int.random(in: 0..<6, using: &random) {
        case 0: await Task.yield()
        case 1: _ = await eventually { if case .starting = controller.phase { false } else { true } }
        default: break
        }
      }
      // Whatever has happened, an app that can be seen has no window that opened by itself, once all is quiet.
      watch.reaction = nil
      controller.startsAutomatically = true
      controller.applicationDidEnterBackground()
      while controller.isUpdatingForBackground { await Task.yield() }
      controller.applicationWillEnterForeground()
      let isQuiet = await eventually {
        switch controller.phase {
        case .starting, .stopping: false
        case .settingUp, .unavailable, .idle, .active, .uninitialized: !controller.isUpdatingForBackground
        }
      }
      #expect(isQuiet && controller.phase.run?.isAutomatic != true, "seed \(seed)")
      controller.uninitialize()
      watch.expectOneAnswer()
      #expect(watch.told == controller.state && !call.window.isOpen, "seed \(seed)")
      #expect(call.router.table.entries.isEmpty, "seed \(seed)")
      #expect(PictureInPictureRandomTests.isLegal(watch.events), "seed \(seed): \(watch.events)")
    }
  }
}
