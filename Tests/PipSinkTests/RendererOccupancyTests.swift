import Testing

@testable import PipSink
@testable import TestSupport

/// Which layer has a renderer when layers come, go, come back and wait for it.
@Suite struct RendererOccupancyTests {
  private let numbered: NumberedFrames

  init() throws {
    numbered = try NumberedFrames()
  }

  private var soon: MonotonicTime { .now.advanced(by: .seconds(20)) }

  /// Makes a layer that is busy with frame 1 on a renderer.
  private func busyLayer() -> (SampleBufferDisplayLayer, TestRenderer) {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "busy", renderer: renderer)
    renderer.hold()
    layer.enqueue(numbered(1))
    #expect(renderer.waitUntilRendering())
    return (layer, renderer)
  }

  // MARK: Layers

  @Test func aLayerThatComesBackBeforeItHasLeftTakesNothingAway() {
    let (layer, renderer) = busyLayer()
    layer.detach()
    layer.attach(to: renderer)
    renderer.release()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.log } == ["show 1", "show 1"])
    #expect(layer.isReadyForDisplay)
    renderer.askForDisplay()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 1, 1])
  }

  @Test func aLayerThatComesBackWhileItLeavesHasTheSurfaceAlone() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "first", renderer: renderer)
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    renderer.during(.removal) { layer.attach(to: renderer) }
    layer.detach()
    #expect(await eventually { renderer.state.withLock { $0.log } == ["show 1", "remove", "show 1"] })
    #expect(layer.waitUntilPresented(by: soon))
    // Another layer gets the renderer only after this layer has left it.
    renderer.hold()
    renderer.askForDisplay()
    #expect(renderer.waitUntilRendering())
    let other = SampleBufferDisplayLayer(name: "other", renderer: renderer)
    other.enqueue(numbered(2))
    renderer.release()
    #expect(other.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.log.suffix(3) } == ["show 1", "remove", "show 2"])
  }

  @Test func ofLayersThatWaitForASurfaceTheLastOneGetsIt() {
    let (holder, renderer) = busyLayer()
    let waiting = (2...4 as ClosedRange<UInt64>).map { number in
      let layer = SampleBufferDisplayLayer(name: "waiting \(number)", renderer: renderer)
      layer.enqueue(numbered(number))
      return layer
    }
    #expect(waiting.map { $0.renderer == nil } == [true, true, false])
    renderer.release()
    #expect(waiting[2].waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.log } == ["show 1", "remove", "show 4"])
    #expect(holder.renderer == nil && !holder.isReadyForDisplay)
  }

  @Test func aLayerThatWaitsNoLongerIsNotGivenTheSurface() async {
    let (holder, renderer) = busyLayer()
    let other = TestRenderer()
    let waiting = SampleBufferDisplayLayer(name: "waiting", renderer: renderer)
    waiting.enqueue(numbered(2))
    waiting.attach(to: other)
    #expect(waiting.waitUntilPresented(by: soon))
    renderer.release()
    #expect(await eventually { renderer.state.withLock { $0.log } == ["show 1", "remove"] })
    #expect(renderer.state.withLock { $0.needsDisplay == nil })
    #expect(other.shown == [2])
    // The renderer is free.
    holder.attach(to: renderer)
    #expect(holder.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 1])
  }

  @Test func aLayerThatGoesAwayWhileItWaitsLeavesTheSurfaceToOthers() {
    let (holder, renderer) = busyLayer()
    do {
      let waiting = SampleBufferDisplayLayer(name: "waiting", renderer: renderer)
      waiting.enqueue(numbered(2))
    }
    let next = SampleBufferDisplayLayer(name: "next", renderer: renderer)
    next.enqueue(numbered(3))
    renderer.release()
    #expect(next.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.log } == ["show 1", "remove", "show 3"])
    renderer.askForDisplay()
    #expect(next.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 3, 3])
    #expect(holder.renderer == nil)
  }

  @Test func aLayerThatMovesOnAttachesItsFormerSurfaceToNothing() async {
    let (first, second) = (TestRenderer(), TestRenderer())
    let layer = SampleBufferDisplayLayer(name: "test", renderer: first)
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    layer.attach(to: second)
    #expect(layer.waitUntilPresented(by: soon))
    // Attaching the layer to its current renderer changes nothing.
    layer.attach(to: second)
    #expect(layer.isReadyForDisplay)
    #expect(layer.waitUntilPresented(by: soon))
    #expect(await eventually { first.state.withLock { $0.removals } == 1 })
    #expect(second.state.withLock { $0.log } == ["show 1"])
    let other = SampleBufferDisplayLayer(name: "other", renderer: first)
    other.enqueue(numbered(2))
    #expect(other.waitUntilPresented(by: soon))
    #expect(layer.renderer === second)
  }

  @Test func aDetachedLayerIsNotReadyForDisplay() {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.isReadyForDisplay)
    layer.detach()
    #expect(!layer.isReadyForDisplay && layer.hasFrame)
    #expect(layer.statistics == .init(presented: 1))
  }

  // MARK: The registry, step by step

  /// Makes the mailbox of a layer that wants a renderer.
  private func mailbox(wanting renderer: TestRenderer) -> Locked<DisplayMailbox> {
    let mailbox = Locked(DisplayMailbox(gravity: .resize))
    _ = mailbox.withLock { $0.change(to: renderer) }
    RendererOccupancy.request(renderer, for: mailbox)
    return mailbox
  }

  @Test func aSurfaceIsNotGivenAwayWhileItIsBeingLeft() {
    let renderer = TestRenderer()
    let old = mailbox(wanting: renderer)
    #expect(old.withLock { $0.renderers.isGranted })
    let new = mailbox(wanting: renderer)
    #expect(!new.withLock { $0.renderers.isGranted })
    guard case .done(.retire(let left)) = old.withLock({ $0.nextWork(at: .now) }) else {
      Issue.record("the old layer does not leave the renderer")
      return
    }
    // A layer that asks for the renderer now waits as well.
    let newest = mailbox(wanting: renderer)
    #expect(!newest.withLock { $0.renderers.isGranted })
    RendererOccupancy.release(left, by: old)
    #expect(newest.withLock { $0.renderers.isGranted })
    #expect(!new.withLock { $0.renderers.isGranted })
    RendererOccupancy.withdraw(renderer, newest)
  }

  @Test func aLayerThatCameBackAndLeavesOnceMoreIsWaitedFor() {
    let renderer = TestRenderer()
    let old = mailbox(wanting: renderer)
    _ = old.withLock { $0.change(to: nil) }
    for isBack in [true, false] {
      guard case .done(.retire(let left)) = old.withLock({ $0.nextWork(at: .now) }) else {
        Issue.record("the old layer does not leave the renderer")
        return
      }
      guard isBack else {
        RendererOccupancy.release(left, by: old)
        break
      }
      _ = old.withLock { $0.change(to: renderer) }
      RendererOccupancy.request(renderer, for: old)
      #expect(old.withLock { $0.renderers.isGranted })
      // Another layer requests the renderer before the old layer has left it for the first time.
      let new = mailbox(wanting: renderer)
      RendererOccupancy.release(left, by: old)
      #expect(!new.withLock { $0.renderers.isGranted }, "the old layer will remove its picture once more")
      RendererOccupancy.withdraw(renderer, new)
    }
    let last = mailbox(wanting: renderer)
    #expect(last.withLock { $0.renderers.isGranted })
    RendererOccupancy.withdraw(renderer, last)
  }

  @Test func aSurfaceThatNobodyHasIsGivenAtOnce() {
    let renderer = TestRenderer()
    for _ in 0..<2 {
      let mailbox = mailbox(wanting: renderer)
      #expect(mailbox.withLock { $0.renderers.isGranted })
      RendererOccupancy.withdraw(renderer, mailbox)
    }
  }

  @Test func aLayerThatGoesAwayHandsItsSurfaceToTheOneThatWaits() {
    let renderer = TestRenderer()
    let (old, new) = (mailbox(wanting: renderer), mailbox(wanting: renderer))
    RendererOccupancy.withdraw(renderer, old)
    #expect(new.withLock { $0.renderers.isGranted })
    RendererOccupancy.withdraw(renderer, new)
    let last = mailbox(wanting: renderer)
    #expect(last.withLock { $0.renderers.isGranted })
    RendererOccupancy.withdraw(renderer, last)
  }

  @Test func aRequestThatAnotherLayerHasOvertakenIsNone() {
    let renderer = TestRenderer()
    let mailbox = Locked(DisplayMailbox(gravity: .resize))
    let holder = self.mailbox(wanting: renderer)
    RendererOccupancy.request(renderer, for: mailbox)
    #expect(!mailbox.withLock { $0.renderers.isGranted })
    #expect(
      holder.withLock { $0.renderers.isGranted && $0.renderers.current === renderer },
      "nobody takes the renderer from the layer that has it")
    RendererOccupancy.withdraw(renderer, holder)
    let other = self.mailbox(wanting: renderer)
    #expect(other.withLock { $0.renderers.isGranted })
    RendererOccupancy.withdraw(renderer, other)
  }
}
