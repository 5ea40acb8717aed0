import Testing

@testable import PipSink
@testable import TestSupport

/// What a layer does about a surface that fails: what it tries first, what it counts, and what it leaves alone.
@Suite struct LayerFailureTests {
  private let numbered: NumberedFrames

  init() throws {
    numbered = try NumberedFrames()
  }

  private var soon: MonotonicTime { .now.advanced(by: .seconds(20)) }

  /// Lets the next tries of the surface fail with `code`. The layer tries each frame twice.
  private func fail(_ renderer: TestRenderer, _ code: RenderingError.Code, tries: Int) {
    renderer.state.withLock { ($0.code, $0.failsNext) = (code, tries) }
  }

  @Test func threeRefusalsInARowAreAFailureUntilAPictureIsShown() async {
    let told = Locked<[RenderingError.Code?]>([])
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.report(
      to: PresentationTally { error in told.withLock { $0.append(error?.code) } }, sharing: FrameConversions(),
      notifying: DemandNotice())
    fail(renderer, .other(-5), tries: 4)
    layer.enqueue(numbered(1))
    #expect(await eventually { renderer.shown == [1] })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(told.withLock { $0 }.isEmpty)
    fail(renderer, .other(-5), tries: 8)
    layer.enqueue(numbered(2))
    #expect(await eventually { told.withLock { $0.count } == 2 })
    #expect(told.withLock { $0 } == [.other(-5), nil])
    #expect(renderer.shown == [1, 2])
  }

  @Test func aSurfaceThatIsGoneIsAFailureAtOnce() async {
    let told = Locked<[RenderingError.Code?]>([])
    let (renderer, next) = (TestRenderer(), TestRenderer())
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.report(
      to: PresentationTally { error in told.withLock { $0.append(error?.code) } }, sharing: FrameConversions(),
      notifying: DemandNotice())
    fail(renderer, .rendererLost, tries: .max)
    layer.enqueue(numbered(1))
    #expect(await eventually { told.withLock { $0 } == [.rendererLost] })
    layer.attach(to: next)
    #expect(await eventually { told.withLock { $0 } == [.rendererLost, nil] })
    #expect(next.shown == [1])
  }

  // MARK: What is tried

  @Test func aSurfaceThatWorkedAgainIsTreatedMildlyFirst() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    fail(renderer, .other(-5), tries: 2)
    layer.enqueue(numbered(1))
    #expect(await eventually { layer.status == .rendering })
    fail(renderer, .other(-5), tries: 1)
    layer.enqueue(numbered(2))
    #expect(await eventually { renderer.shown.last == 2 })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { ($0.rebuilds, $0.removals) } == (0, 2))
    #expect(layer.statistics == .init(presented: 2, failed: 1, recovered: 1))
    #expect(layer.error == nil)
  }

  @Test func anotherSurfaceBeginsWithoutTheFailuresOfTheOneBefore() async {
    let (broken, next) = (TestRenderer(), TestRenderer())
    let layer = SampleBufferDisplayLayer(name: "test", renderer: broken)
    fail(broken, .other(-5), tries: .max)
    layer.enqueue(numbered(1))
    #expect(await eventually { broken.state.withLock { $0.rebuilds } >= 1 })
    fail(next, .other(-5), tries: 1)
    layer.attach(to: next)
    #expect(await eventually { next.shown == [1] })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(next.state.withLock { ($0.rebuilds, $0.removals) } == (0, 1))
    #expect(layer.status == .rendering && layer.isReadyForDisplay)
    #expect(layer.statistics.recovered == 1)
  }

  @Test func aFailureOnTheSurfaceThatIsBeingLeftIsNotTheNextOnes() async {
    let (broken, next) = (TestRenderer(), TestRenderer())
    let layer = SampleBufferDisplayLayer(name: "test", renderer: broken)
    fail(broken, .other(-5), tries: 2)
    fail(next, .other(-5), tries: 1)
    broken.during(.render) { layer.attach(to: next) }
    layer.enqueue(numbered(1))
    #expect(await eventually { next.shown == [1] })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(next.state.withLock { ($0.rebuilds, $0.removals) } == (0, 1))
    #expect(broken.shown.isEmpty)
    #expect(layer.statistics == .init(presented: 1, failed: 1, recovered: 1))
  }

  @Test func aRepairThatFailsIsWhatIsReported() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let error = RenderingError(code: .other(-7), reason: "no memory for a window")
    renderer.state.withLock { $0.repairError = error }
    fail(renderer, .invalidPixelFormat, tries: 1)
    layer.enqueue(numbered(1))
    #expect(await eventually { layer.statistics.failed == 1 })
    // The failed repair does not count as a rebuild. The frame is shown without a further call when the surface works
    // again.
    #expect(await eventually { renderer.shown == [1] })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.statistics == .init(presented: 1, failed: 1))
    fail(renderer, .invalidSize, tries: 2)
    renderer.state.withLock { $0.repairError = RenderingError(code: .rendererLost, reason: "gone") }
    layer.enqueue(numbered(2))
    #expect(await eventually { layer.renderer == nil })
    #expect(layer.error == RenderingError(code: .rendererLost, reason: "gone"))
  }

  // MARK: What is counted

  @Test func aFrameThatFailsAgainAndAgainCountsOnce() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let calls = Locked(0)
    layer.whenNextPresented { _ in calls.withLock { $0 += 1 } }
    // The frame fails twice and is tried again after a pause each time. The third try succeeds after a repair.
    fail(renderer, .invalidSize, tries: 5)
    layer.enqueue(numbered(1))
    #expect(await eventually { renderer.shown == [1] })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.statistics == .init(presented: 1, failed: 1, recovered: 1))
    #expect(calls.withLock { $0 } == 1)
  }

  @Test func aPictureThatCannotBeShownASecondTimeIsNoFailedFrameAndNoSecondOne() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    fail(renderer, .invalidSize, tries: 2)
    renderer.askForDisplay()
    #expect(await eventually { renderer.shown == [1, 1] })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.statistics == .init(presented: 1))
  }

  @Test func theStreamsCountsKnowAFrameThatFailsOnce() async throws {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let router = FrameRouter()
    let consumer = router.addStream("a", inApp: layer)
    fail(renderer, .invalidSize, tries: 4)
    consumer.consume(numbered(1))
    #expect(await eventually { renderer.shown == [1] })
    #expect(layer.waitUntilPresented(by: soon))
    let statistics = try #require(router.renderStatistics(of: "a"))
    #expect(statistics.dropped == .init(failed: 1))
    #expect(statistics.shown == 0, "the frame still counts as failed")
  }

  // MARK: A surface that is gone

  @Test func aLayerLeavesASurfaceThatIsLostAndKeepsItsPictureForTheNext() async {
    let (lost, next) = (TestRenderer(), TestRenderer())
    let layer = SampleBufferDisplayLayer(name: "test", renderer: lost)
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    fail(lost, .rendererLost, tries: 1)
    let calls = Locked(0)
    layer.whenNextPresented { _ in calls.withLock { $0 += 1 } }
    layer.enqueue(numbered(2))
    #expect(await eventually { layer.renderer == nil })
    #expect(layer.status == .failed && layer.error?.code == .rendererLost)
    #expect(!layer.isReadyForDisplay && layer.hasFrame)
    #expect(await eventually { lost.state.withLock { $0.needsDisplay == nil } })
    #expect(lost.state.withLock { $0.log } == ["show 1"], "the layer does not touch the lost surface any more")
    #expect(lost.state.withLock { ($0.rebuilds, $0.sizeUpdates) } == (0, 0))
    #expect(!layer.enqueue(numbered(3)))
    #expect(layer.enqueue(numbered(4)))
    layer.attach(to: next)
    #expect(await eventually { next.shown == [4] })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(calls.withLock { $0 } == 1)
    #expect(layer.statistics == .init(presented: 2, replaced: 1, failed: 1))
    #expect(layer.status == .rendering && layer.error == nil && layer.isReadyForDisplay)
  }

  @Test func theFrameThatFoundItsSurfaceLostIsShownOnTheNextOne() async {
    let (lost, next) = (TestRenderer(), TestRenderer())
    let layer = SampleBufferDisplayLayer(name: "test", renderer: lost)
    fail(lost, .rendererLost, tries: 1)
    layer.enqueue(numbered(1))
    #expect(await eventually { layer.renderer == nil })
    layer.attach(to: next)
    #expect(await eventually { next.shown == [1] })
  }

  @Test func aLostSurfaceIsFreeForAnotherLayerAndForTheSameOne() async {
    let renderer = TestRenderer()
    let (first, second) = (
      SampleBufferDisplayLayer(name: "first", renderer: renderer), SampleBufferDisplayLayer(name: "second")
    )
    for layer in [first, second, first] {
      fail(renderer, .rendererLost, tries: 1)
      layer.attach(to: renderer)
      layer.enqueue(numbered(1))
      #expect(await eventually { layer.renderer == nil })
    }
    second.attach(to: renderer)
    #expect(await eventually { renderer.shown == [1] })
    #expect(first.renderer == nil)
  }

  @Test func aSurfaceThatIsLostWhenTheLayerHasLeftItTakesNothingAlong() async {
    let (lost, next) = (TestRenderer(), TestRenderer())
    let layer = SampleBufferDisplayLayer(name: "test", renderer: lost)
    fail(lost, .rendererLost, tries: 1)
    lost.during(.render) { layer.attach(to: next) }
    layer.enqueue(numbered(1))
    #expect(await eventually { next.shown == [1] })
    #expect(layer.renderer === next)
    next.askForDisplay()
    #expect(await eventually { next.shown == [1, 1] })
  }
}
