import Testing

@testable import PipSink
@testable import TestSupport

/// A layer and its surfaces: they are attached, moved and hidden, and they fail. Some frames wait for their time.
@Suite struct DisplayLayerSurfaceTests {
  private let numbered: NumberedFrames

  init() throws {
    numbered = try NumberedFrames()
  }

  private var soon: MonotonicTime { .now.advanced(by: .seconds(20)) }

  // MARK: Attached and detached

  @Test func aLayerKeepsItsPictureWhenItMovesToAnotherSurface() async {
    let (first, second) = (TestRenderer(), TestRenderer())
    let layer = SampleBufferDisplayLayer(name: "test", renderer: first)
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.isReadyForDisplay)
    layer.attach(to: second)
    #expect(await eventually { second.shown == [1] })
    #expect(await eventually { first.state.withLock { $0.removals } == 1 })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.isReadyForDisplay)
    // A frame that is shown a second time does not count as a second frame.
    #expect(layer.statistics.presented == 1)
    layer.enqueue(numbered(2))
    #expect(await eventually { second.shown == [1, 2] })
    #expect(first.shown == [1])
    #expect(first.state.withLock { $0.needsDisplay == nil })
  }

  @Test func aDetachedLayerTakesFramesAndShowsTheNewestWhenItIsAttachedAgain() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.detach()
    #expect(layer.bounds == nil)
    #expect(!layer.enqueue(numbered(1)))
    #expect(layer.enqueue(numbered(2)))
    #expect(!layer.isReadyForDisplay)
    layer.attach(to: renderer)
    #expect(await eventually { renderer.shown == [2] })
  }

  @Test func aLayerMovesBetweenSurfacesWhileFramesFlow() async throws {
    let renderers = try (0..<2).map { _ in try OffscreenRenderer(size: .init(width: 8, height: 8)) }
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderers[0])
    let isDone = Locked(false)
    let feeder = Task.detached { [numbered] in
      var count: UInt64 = 0
      while !isDone.withLock({ $0 }) {
        count += 1
        layer.enqueue(numbered(count))
        await Task.yield()
      }
      return count
    }
    for number in 0..<200 {
      layer.attach(to: renderers[number % 2])
      if number % 7 == 0 { layer.detach() }
      await Task.yield()
    }
    layer.attach(to: renderers[1])
    isDone.withLock { $0 = true }
    let count = await feeder.value
    #expect(await eventually { layer.waitUntilPresented(by: .now) })
    #expect(renderers[1].hasImage)
    #expect(!renderers[0].hasImage)
    let statistics = layer.statistics
    #expect(statistics.presented + statistics.replaced == count)
  }

  @Test func aSurfaceGoesToTheNextLayerWhenTheOldOneHasLeftIt() async {
    let renderer = TestRenderer()
    let old = SampleBufferDisplayLayer(name: "old", renderer: renderer)
    renderer.hold()
    old.enqueue(numbered(1))
    #expect(renderer.waitUntilRendering())
    old.detach()
    let new = SampleBufferDisplayLayer(name: "new", renderer: renderer)
    new.enqueue(numbered(2))
    #expect(!new.isReadyForDisplay)
    renderer.release()
    #expect(new.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.log } == ["show 1", "remove", "show 2"])
    renderer.askForDisplay()
    #expect(await eventually { renderer.shown == [1, 2, 2] })
  }

  @Test func aLayerThatIsAttachedTakesTheSurfaceFromAnother() async {
    let renderer = TestRenderer()
    let old = SampleBufferDisplayLayer(name: "old", renderer: renderer)
    old.enqueue(numbered(1))
    #expect(old.waitUntilPresented(by: soon))
    let new = SampleBufferDisplayLayer(name: "new", renderer: renderer)
    new.enqueue(numbered(2))
    #expect(new.waitUntilPresented(by: soon))
    #expect(!old.isReadyForDisplay)
    old.enqueue(numbered(3))
    #expect(renderer.state.withLock { $0.log } == ["show 1", "remove", "show 2"])
    // The first layer takes the surface back.
    old.attach(to: renderer)
    #expect(await eventually { renderer.shown == [1, 2, 3] })
    #expect(!new.isReadyForDisplay)
  }

  @Test func aSurfaceOutlivesTheLayerThatHadItAndServesTheNext() {
    let renderer = TestRenderer()
    do {
      let old = SampleBufferDisplayLayer(name: "old", renderer: renderer)
      old.enqueue(numbered(1))
      #expect(old.waitUntilPresented(by: soon))
    }
    let new = SampleBufferDisplayLayer(name: "new", renderer: renderer)
    new.enqueue(numbered(2))
    #expect(new.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 2])
    #expect(renderer.state.withLock { $0.needsDisplay != nil })
  }

  @Test func layersThatSwapTheirSurfacesAllTheTimeEndWithTheirOwnPictures() async throws {
    let renderers = (0..<3).map { _ in TestRenderer() }
    let layers = (0..<3).map { SampleBufferDisplayLayer(name: "layer \($0)", renderer: renderers[$0]) }
    await withTaskGroup(of: Void.self) { group in
      for (index, layer) in layers.enumerated() {
        group.addTask {
          for round in 1...200 {
            layer.enqueue(numbered(UInt64(index + 1)))
            layer.attach(to: renderers[(index + round) % 3])
            await Task.yield()
          }
        }
      }
    }
    for (layer, renderer) in zip(layers, renderers) { layer.attach(to: renderer) }
    for (index, layer) in layers.enumerated() {
      #expect(await eventually { layer.waitUntilPresented(by: .now) && layer.isReadyForDisplay })
      #expect(renderers[index].state.withLock { $0.log.last } == "show \(index + 1)")
    }
  }

  @Test func theBoundsAreTheSurfaces() throws {
    let layer = SampleBufferDisplayLayer(
      name: "test", renderer: try OffscreenRenderer(size: .init(width: 12, height: 34)))
    #expect(layer.bounds == PictureSize(width: 12, height: 34))
  }

  // MARK: Shown again

  @Test func aSurfaceThatAsksForItGetsTheNewestFrameAgain() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    renderer.askForDisplay()
    #expect(await eventually { renderer.shown == [1, 1] })
    layer.videoGravity = .resizeAspectFill
    #expect(await eventually { renderer.shown == [1, 1, 1] })
    #expect(renderer.state.withLock { $0.gravities.last } == .resizeAspectFill)
    #expect(layer.statistics.presented == 1)
  }

  @Test func anotherStreamsPictureIsNeverShownAgain() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    layer.begin(with: nil, isFresh: false, presented: nil)
    #expect(layer.waitUntilPresented(by: soon))
    renderer.askForDisplay()
    layer.enqueue(numbered(2))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 2])
  }

  @Test func nothingIsRenderedWhileNobodySeesTheSurface() async {
    let renderer = TestRenderer()
    renderer.state.withLock { $0.isVisible = false }
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    for number in 1...3 as ClosedRange<UInt64> {
      layer.enqueue(numbered(number))
      #expect(layer.waitUntilPresented(by: soon))
    }
    #expect(renderer.shown.isEmpty)
    #expect(layer.statistics.hidden == 3)
    renderer.state.withLock { $0.isVisible = true }
    renderer.askForDisplay()
    #expect(await eventually { renderer.shown == [3] })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.statistics.presented == 1)
  }

  @Test func theFirstPictureIsReportedWhenTheSurfaceIsSeen() async {
    let renderer = TestRenderer()
    renderer.state.withLock { $0.isVisible = false }
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let count = Locked(0)
    layer.begin(with: numbered(1), isFresh: false) { _ in count.withLock { $0 += 1 } }
    #expect(layer.waitUntilPresented(by: soon))
    #expect(count.withLock { $0 } == 0)
    renderer.state.withLock { $0.isVisible = true }
    renderer.askForDisplay()
    #expect(await eventually { count.withLock { $0 } == 1 })
  }

  // MARK: Failure

  @Test func anInvalidPixelFormatRebuildsTheSurfaceAndShowsTheSameFrame() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    renderer.state.withLock { ($0.code, $0.failsUntilRebuilt) = (.invalidPixelFormat, true) }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1])
    #expect(renderer.state.withLock { $0.rebuilds } == 1)
    #expect(layer.statistics == .init(presented: 1, recovered: 1, rebuilt: 1))
    #expect(layer.status == .rendering)
    #expect(layer.error == nil)
  }

  @Test func anInvalidSizeIsLookedAtAgain() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    renderer.state.withLock { ($0.code, $0.failsNext) = (.invalidSize, 1) }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1])
    #expect(renderer.state.withLock { $0.sizeUpdates } == 1)
    #expect(renderer.state.withLock { $0.rebuilds } == 0)
  }

  @Test func anotherErrorIsFlushedFirstAndThenRebuilt() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    renderer.state.withLock { ($0.code, $0.failsUntilRebuilt) = (.other(-5), true) }
    layer.enqueue(numbered(1))
    // The layer tries the frame again without a further call.
    #expect(await eventually { renderer.shown == [1] })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { ($0.removals, $0.rebuilds) } == (1, 1))
    #expect(layer.statistics == .init(presented: 1, failed: 1, recovered: 1, rebuilt: 1))
  }

  @Test func aSurfaceThatFailsForLongShowsTheNewestFrameWhenItWorksAgain() async {
    let renderer = TestRenderer()
    let clock = ManualClock()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer, clock: clock.clock)
    renderer.state.withLock { ($0.code, $0.failsNext) = (.other(-5), .max) }
    layer.enqueue(numbered(1))
    #expect(await clock.isAwaited(in: 0.05))
    for number in 2...20 as ClosedRange<UInt64> {
      layer.enqueue(numbered(number))
      await Task.yield()
    }
    // Two frames are tried at once. After that, the others wait.
    #expect(await clock.isAwaited(in: 0.1))
    #expect(layer.statistics.failed == 2)
    #expect(layer.error?.code == .other(-5))
    renderer.state.withLock { $0.failsNext = 0 }
    clock.advance(by: 0.099)
    #expect(await clock.isAwaited(in: 0.001))
    #expect(renderer.shown.isEmpty && layer.status == .failed)
    // The newest frame is shown without a further call.
    #expect(await clock.reach(0.001))
    #expect(await eventually { renderer.shown.last == 20 && layer.status == .rendering })
    #expect(renderer.shown == [20])
  }

  @Test func aSurfaceThatFailsForEverCostsOtherLayersNothing() async {
    let (failing, healthy) = (TestRenderer(), TestRenderer())
    failing.state.withLock { $0.failsNext = .max }
    let layers = [
      SampleBufferDisplayLayer(name: "failing", renderer: failing),
      SampleBufferDisplayLayer(name: "healthy", renderer: healthy),
    ]
    for number in 1...100 as ClosedRange<UInt64> {
      for layer in layers { layer.enqueue(numbered(number)) }
      #expect(layers[1].waitUntilPresented(by: soon))
    }
    #expect(healthy.shown == Array(1...100))
    #expect(await eventually { layers[0].status == .failed })
    // The longer the surface fails, the less often the layer tries it. It does not try it with every frame.
    #expect(layers[0].statistics.failed < 100)
  }

  // MARK: Frames with a time

  @Test func earlyFramesWaitForTheirTime() async {
    let renderer = TestRenderer()
    let clock = ManualClock()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer, clock: clock.clock)
    let timebase = Timebase(time: .zero, rate: 0, clock: clock.clock)
    layer.controlTimebase = timebase
    layer.enqueue(numbered(1, seconds: 0))
    layer.enqueue(numbered(2, seconds: 100))
    layer.enqueue(numbered(3, seconds: 200))
    #expect(await eventually { renderer.shown == [1] })
    timebase.time = MediaTime(value: 100, timescale: 1)
    #expect(await eventually { renderer.shown == [1, 2] })
    // At this rate, a hundred seconds of the timebase pass in fifty seconds.
    timebase.rate = 2
    #expect(await clock.isAwaited(in: 50))
    clock.advance(by: 49.9)
    #expect(await clock.isAwaited(in: 0.1))
    #expect(renderer.shown == [1, 2])
    #expect(await clock.reach(0.1))
    #expect(await eventually { renderer.shown == [1, 2, 3] })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.statistics == .init(presented: 3))
  }

  @Test func ofLateFramesTheNewestIsShown() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let timebase = Timebase(time: .zero, rate: 0)
    layer.controlTimebase = timebase
    for number in 1...4 as ClosedRange<UInt64> { layer.enqueue(numbered(number, seconds: Double(number))) }
    timebase.time = MediaTime(value: 3, timescale: 1)
    #expect(await eventually { renderer.shown == [3] })
    #expect(layer.statistics.late == 2)
  }

  @Test func framesThatWaitAreBounded() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let timebase = Timebase()
    layer.controlTimebase = timebase
    for number in 1...8 as ClosedRange<UInt64> {
      #expect(!layer.enqueue(numbered(number, seconds: Double(number))))
    }
    #expect(layer.enqueue(numbered(9, seconds: 9)))
    #expect(layer.statistics.replaced == 1)
    timebase.time = MediaTime(value: 2, timescale: 1)
    #expect(await eventually { renderer.shown == [2] })
  }

  @Test func aFrameForImmediateDisplayDoesNotWait() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.controlTimebase = Timebase()
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1])
  }

  @Test func withoutATimebaseWhatWaitsIsShown() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.controlTimebase = Timebase()
    layer.enqueue(numbered(1, seconds: 1000))
    layer.controlTimebase = nil
    #expect(await eventually { renderer.shown == [1] })
  }

  @Test func aTimebaseGoesOnAtItsRate() {
    let timebase = Timebase(time: MediaTime(value: 10, timescale: 1), rate: 0)
    #expect(timebase.time == MediaTime(value: 10, timescale: 1))
    #expect(timebase.moment(of: MediaTime(value: 11, timescale: 1)) == nil)
    timebase.rate = 2
    let before = MonotonicTime.now
    let moment = timebase.moment(of: MediaTime(value: 20, timescale: 1))
    #expect(moment.map { abs(Double($0.nanoseconds(since: before)) / 1e9 - 5) < 1 } == true)
    #expect(timebase.time >= MediaTime(value: 10, timescale: 1))
  }
}
