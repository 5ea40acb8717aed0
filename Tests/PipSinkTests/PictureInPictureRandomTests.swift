import Testing

@testable import PipSink
@testable import TestSupport

/// Random sequences of all events that a controller may see. Each can be repeated by its seed.
@MainActor @Suite(.timeLimit(.minutes(5))) struct PictureInPictureRandomTests {
  private typealias Call = PictureInPictureControllerTests.Call

  private enum Step: CaseIterable {
    case start, stop, toggle, sourceA, sourceB, sendA, sendB, enableBackground, cancelBackground, background, foreground
    case close, backToApp, die, failNextOpening
  }

  /// The expected state of the controller when each step has settled.
  private struct Model {
    var isOpen = false
    var isAutomatic = false
    var isInBackground = false
    var isBackgroundEnabled = false
    var isUnsettled = true
    var current: StreamID = "a"
    var ready: Set<StreamID> = []
    var failures = 0

    mutating func apply(_ step: Step) {
      switch step {
      case .start: start()
      case .stop, .close, .backToApp, .die: stop()
      case .toggle: if isOpen { stop() } else { start() }
      case .sourceA: select("a")
      case .sourceB: select("b")
      case .sendA: ready.insert("a")
      case .sendB: ready.insert("b")
      case .enableBackground:
        if !isBackgroundEnabled { (isBackgroundEnabled, isUnsettled) = (true, true) }
      case .cancelBackground: isBackgroundEnabled = false
      case .background, .foreground:
        let now = step == .background
        if now != isInBackground { (isInBackground, isUnsettled) = (now, true) }
      case .failNextOpening: failures = 1
      }
      settle()
    }

    private mutating func start() {
      guard !isOpen else {
        isAutomatic = false
        return
      }
      guard ready.contains(current) else { return }
      open()
    }

    private mutating func open() {
      if failures > 0 { failures -= 1 } else { (isOpen, isAutomatic) = (true, false) }
    }

    private mutating func stop() { (isOpen, isAutomatic) = (false, false) }

    private mutating func select(_ id: StreamID) {
      if !isOpen || ready.contains(id) { current = id }
    }

    private mutating func settle() {
      guard isUnsettled else { return }
      if isOpen {
        isUnsettled = false
        if !isInBackground, isAutomatic { stop() }
      } else if !(isInBackground && isBackgroundEnabled) {
        isUnsettled = false
      } else if ready.contains(current) {
        isUnsettled = false
        open()
        isAutomatic = isOpen
      }
    }
  }

  private func perform(_ step: Step, _ call: Call, _ controller: PictureInPictureController) {
    switch step {
    case .start: try? controller.start()
    case .stop: controller.stop()
    case .toggle: try? controller.toggle()
    case .sourceA: try? controller.setSource(streamID: "a")
    case .sourceB: try? controller.setSource(streamID: "b")
    case .sendA: call.send("a")
    case .sendB: call.send("b")
    case .enableBackground: controller.startsAutomatically = true
    case .cancelBackground: controller.startsAutomatically = false
    case .background: controller.applicationDidEnterBackground()
    case .foreground: controller.applicationWillEnterForeground()
    case .close: call.window.perform(.close)
    case .backToApp: call.window.perform(.backToApp)
    case .die: call.window.die()
    case .failNextOpening: call.window.openFailures = [.system(.displayUnavailable(reason: "told to"))]
    }
  }

  /// Whether no operation is in progress.
  private func isQuiet(_ controller: PictureInPictureController) -> Bool {
    switch controller.phase {
    case .starting, .stopping: false
    case .settingUp, .unavailable, .idle, .active, .uninitialized: !controller.isUpdatingForBackground
    }
  }

  private func quiet() throws -> Call {
    var configuration = PictureInPictureController.Configuration()
    configuration.backgroundDelay = .zero
    return try Call(ready: [], configuration)
  }

  /// Whether the events are in the order that ``PictureInPictureEvent`` promises.
  static func isLegal(_ events: [PictureInPictureEvent]) -> Bool {
    enum Stage { case out, starting, inside, stopping }
    var stage = Stage.out
    for event in events {
      switch (event, stage) {
      case (.willStart, .out): stage = .starting
      case (.failedToStart, .starting): stage = .out
      case (.didStart, .starting): stage = .inside
      case (.willStop, .inside): stage = .stopping
      case (.restoreUserInterface, .stopping), (.restoreFailed, .stopping): break
      case (.didStop, .stopping): stage = .out
      case (.renderSizeChanged, .starting), (.renderSizeChanged, .inside): break
      case (.stateChanged, _), (.sourceChanged, _), (.action, _), (.suspendedChanged, _): break
      default: return false
      }
    }
    return true
  }

  private func expectConsistency(_ call: Call, _ controller: PictureInPictureController, seed: UInt64) {
    #expect(call.window.isOpen == controller.isActive, "seed \(seed)")
    #expect(
      call.router.table.entries.values.map(\.streamID) == (controller.isActive ? [controller.currentStreamID] : []),
      "seed \(seed)")
    #expect([.active, .appMinimized].contains(controller.state) == controller.isActive, "seed \(seed)")
    for id: StreamID in ["a", "b"] {
      guard let statistics = call.router.statistics(of: id) else { continue }
      let size = id == "a" ? PictureSize(width: 16, height: 16) : PictureSize(width: 32, height: 16)
      #expect(statistics.received == statistics.inApp + statistics.pictureInPicture)
      // Each frame is on the surface that routing reports, exactly once, and no frame of another stream is there.
      let inApp = call.inApp[id]?.sequences(of: size) ?? []
      #expect(UInt64(inApp.count) == statistics.inApp, "seed \(seed)")
      #expect(Set(inApp).count == inApp.count, "seed \(seed)")
      let other = call.inApp[id]?.events.filter { event in
        if case .frame(let found, _) = event { found != size } else { false }
      }
      #expect(other == [], "seed \(seed)")
    }
    #expect(call.router.changes.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 }, "seed \(seed)")
  }

  @Test func whenEveryStepSettlesTheControllerDoesWhatTheModelDoes() async throws {
    for seed in 1...500 as ClosedRange<UInt64> {
      let call = try quiet()
      let events = try #require(call.controller?.events())
      try await performStepByStep(call, seed: seed)
      try await expectLegalEnd(call, events, seed: seed)
    }
  }

  private func performStepByStep(_ call: Call, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let controller = try #require(call.controller)
    var model = Model()
    for _ in 0..<12 {
      let step = Step.allCases.randomElement(using: &random) ?? .start
      perform(step, call, controller)
      model.apply(step)
      let isAsExpected = await eventually(within: 10) {
        self.isQuiet(controller) && call.window.isOpen == model.isOpen && controller.currentStreamID == model.current
      }
      try #require(isAsExpected, "seed \(seed) at \(step): \(model)")
      expectConsistency(call, controller, seed: seed)
    }
  }

  @Test func whenStepsFallOverEachOtherNothingIsOutOfOrder() async throws {
    for seed in 501...1000 as ClosedRange<UInt64> {
      let call = try quiet()
      let events = try #require(call.controller?.events())
      try await performAllAtOnce(call, seed: seed)
      try await expectLegalEnd(call, events, seed: seed)
    }
  }

  private func performAllAtOnce(_ call: Call, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let controller = try #require(call.controller)
    for _ in 0..<30 {
      perform(Step.allCases.randomElement(using: &random) ?? .start, call, controller)
      if Int.random(in: 0..<4, using: &random) == 0 { await Task.yield() }
    }
    #expect(await eventually { self.isQuiet(controller) })
    expectConsistency(call, controller, seed: seed)
  }

  /// Releases the controller and checks everything that it has reported.
  private func expectLegalEnd(_ call: Call, _ events: AsyncStream<PictureInPictureEvent>, seed: UInt64) async throws {
    weak let controller = call.controller
    call.controller = nil
    var all: [PictureInPictureEvent] = []
    for await event in events { all.append(event) }
    #expect(Self.isLegal(all), "seed \(seed): \(all)")
    #expect(controller == nil)
    #expect(!call.window.isOpen)
  }
}
