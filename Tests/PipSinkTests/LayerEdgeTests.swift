import Testing

@testable import PipSink
@testable import TestSupport

/// What a layer does when its stream, its surface or the surface's visibility changes while the layer is busy with a
/// frame.
@Suite struct LayerEdgeTests {
  private let numbered: NumberedFrames

  init() throws {
    numbered = try NumberedFrames()
  }

  /// Makes a layer whose surface has shown the frame `number`.
  private func layer(showing number: UInt64) -> (SampleBufferDisplayLayer, TestRenderer) {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.enqueue(numbered(number))
    #expect(layer.waitUntilPresented(by: soon))
    return (layer, renderer)
  }

  /// Makes a layer with a surface that is not visible.
  private func hiddenLayer() -> (SampleBufferDisplayLayer, TestRenderer) {
    let renderer = TestRenderer()
    renderer.state.withLock { $0.isVisible = false }
    return (SampleBufferDisplayLayer(name: "test", renderer: renderer), renderer)
  }

  private func uncover(_ renderer: TestRenderer) {
    renderer.state.withLock { $0.isVisible = true }
    renderer.askForDisplay()
  }

  private var soon: MonotonicTime { .now.advanced(by: .seconds(20)) }

  /// Counts the calls of its handler.
  private final class Calls: Sendable {
    private let state = Locked(0)
    var count: Int { state.withLock { $0 } }
    var handler: @Sendable (MonotonicTime) -> Void {
      { [self] _ in state.withLock { $0 += 1 } }
    }
  }

  // MARK: A stream that has left

  @Test(arguments: [true, false])
  func aHiddenSurfaceWhoseStreamHasLeftCallsNobodyWhenItIsSeenAgain(removesImage: Bool) {
    let (layer, renderer) = hiddenLayer()
    let old = Calls()
    layer.begin(with: numbered(1), isFresh: true, presented: old.handler)
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.relinquish(removingImage: removesImage) == nil)
    uncover(renderer)
    #expect(layer.waitUntilPresented(by: soon))
    layer.enqueue(numbered(2))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == (removesImage ? [2] : [1, 2]))
    #expect(old.count == 0)
  }

  @Test func aPictureThatWasTakenAwayIsNotShownAgain() {
    let (layer, renderer) = layer(showing: 1)
    #expect(layer.hasFrame && layer.isReadyForDisplay)
    layer.flushAndRemoveImage()
    #expect(!layer.hasFrame)
    #expect(!layer.isReadyForDisplay)
    #expect(layer.waitUntilPresented(by: soon))
    renderer.askForDisplay()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.log } == ["show 1", "remove"])
  }

  @Test func aFlushKeepsThePictureThatIsShown() {
    let (layer, renderer) = layer(showing: 1)
    renderer.hold()
    layer.enqueue(numbered(2))
    #expect(renderer.waitUntilRendering())
    layer.enqueue(numbered(3))
    layer.flush()
    #expect(layer.hasFrame && layer.isReadyForDisplay)
    renderer.release()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.log } == ["show 1", "show 2"])
    // This is the frame that was being shown during the flush, and not the one before it.
    renderer.askForDisplay()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 2, 2])
  }

  @Test func aFrameThatWasShownElsewhereIsNotGivenBack() {
    let (layer, renderer) = layer(showing: 1)
    renderer.hold()
    layer.enqueue(numbered(2))
    #expect(renderer.waitUntilRendering())
    layer.begin(with: numbered(10), isFresh: false, presented: nil)
    #expect(layer.relinquish(removingImage: false) == nil)
    renderer.release()
    #expect(layer.waitUntilPresented(by: soon))
    // The last picture is not shown again either, because the stream that followed has left without a picture.
    renderer.askForDisplay()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 2])
  }

  @Test func aFrameThatNobodySawWhenItsStreamLeftIsTheSurfacesPictureAndNobodyIsTold() {
    let (layer, renderer) = hiddenLayer()
    let calls = Calls()
    layer.whenNextPresented(calls.handler)
    renderer.during(.visibilityCheck) { _ = layer.relinquish(removingImage: false) }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    uncover(renderer)
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1])
    #expect(calls.count == 0)
  }

  // MARK: Another stream begins in the meantime

  @Test func aPictureThatIsReadyWhenAnotherStreamHasBegunIsNotThatStreams() {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let (old, new) = (Calls(), Calls())
    layer.whenNextPresented(old.handler)
    renderer.during(.render) { layer.begin(with: nil, isFresh: false, presented: new.handler) }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(!layer.hasFrame && !layer.isReadyForDisplay)
    renderer.askForDisplay()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.log } == ["show 1", "remove"])
    #expect((old.count, new.count) == (1, 0))
    layer.enqueue(numbered(2))
    #expect(layer.waitUntilPresented(by: soon))
    #expect((old.count, new.count) == (1, 1))
    #expect(layer.isReadyForDisplay)
    #expect(layer.statistics == .init(presented: 2))
  }

  @Test func whoWaitsForTheNextPictureStillDoesAfterAFlushAndNotAfterTheStreamHasLeft() {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let (flushed, left) = (Calls(), Calls())
    layer.whenNextPresented(flushed.handler)
    layer.flushAndRemoveImage()
    layer.flush()
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(flushed.count == 1)
    layer.whenNextPresented(left.handler)
    _ = layer.relinquish(removingImage: true)
    layer.enqueue(numbered(2))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 2] && left.count == 0)
  }

  @Test func aFrameThatNobodySawWhenTheOthersWereDroppedIsThePictureThatIsWaitedFor() {
    let (layer, renderer) = hiddenLayer()
    let calls = Calls()
    layer.whenNextPresented(calls.handler)
    renderer.during(.visibilityCheck) { layer.flush() }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    uncover(renderer)
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1] && calls.count == 1)
  }

  @Test func whoWaitsForAPictureThatIsFlushedWhileNobodySeesItGetsTheNextOne() {
    let (layer, renderer) = hiddenLayer()
    let calls = Calls()
    layer.whenNextPresented(calls.handler)
    renderer.during(.visibilityCheck) { layer.flushAndRemoveImage() }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(!layer.hasFrame && calls.count == 0)
    uncover(renderer)
    layer.enqueue(numbered(2))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [2] && calls.count == 1)
  }

  @Test func aPictureThatIsReadyWhenItsStreamHasLeftIsNotKept() {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    renderer.during(.render) { layer.flushAndRemoveImage() }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(!layer.hasFrame && !layer.isReadyForDisplay)
    #expect(renderer.state.withLock { $0.log } == ["show 1", "remove"])
  }

  @Test func aFrameThatNobodySawWhenAnotherStreamBeganIsNotThatStreams() {
    let (layer, renderer) = hiddenLayer()
    let (old, new) = (Calls(), Calls())
    layer.whenNextPresented(old.handler)
    renderer.during(.visibilityCheck) { layer.begin(with: nil, isFresh: false, presented: new.handler) }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(!layer.hasFrame)
    uncover(renderer)
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown.isEmpty)
    layer.enqueue(numbered(2))
    #expect(layer.waitUntilPresented(by: soon))
    #expect((old.count, new.count) == (0, 1))
    #expect(layer.statistics == .init(presented: 1, hidden: 1), "every frame is counted")
  }

  @Test func aFrameThatFailsWhenAnotherStreamHasBegunIsNotTriedAgain() {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let (old, new) = (Calls(), Calls())
    layer.whenNextPresented(old.handler)
    renderer.state.withLock { $0.failsNext = 2 }
    renderer.during(.render) { layer.begin(with: nil, isFresh: false, presented: new.handler) }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(!layer.hasFrame && layer.status == .failed)
    #expect(layer.statistics == .init(failed: 1))
    layer.enqueue(numbered(2))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [2])
    #expect((old.count, new.count) == (0, 1))
  }

  @Test func aStreamThatBeginsWithAPictureIsNotBlackFirst() {
    let (layer, renderer) = layer(showing: 1)
    renderer.hold()
    layer.enqueue(numbered(2))
    #expect(renderer.waitUntilRendering())
    layer.flushAndRemoveImage()
    layer.begin(with: numbered(10), isFresh: true, presented: nil)
    renderer.release()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.log } == ["show 1", "show 2", "show 10"])
  }

  // MARK: Who is notified

  @Test func thePictureThatIsBeingShownIsNotTheNextOne() {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let calls = Calls()
    renderer.during(.render) { layer.whenNextPresented(calls.handler) }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1])
    #expect(calls.count == 0)
    for number in 2...3 as ClosedRange<UInt64> {
      layer.enqueue(numbered(number))
      #expect(layer.waitUntilPresented(by: soon))
      #expect(calls.count == 1)
    }
  }

  /// - Parameter fails: true if the surface refuses the frame, false if the surface is not visible.
  @Test(arguments: [true, false])
  func whoAsksLastIsToldWhenAFrameHasToWait(fails: Bool) async {
    let (layer, renderer) = hiddenLayer()
    let (first, second) = (Calls(), Calls())
    layer.whenNextPresented(first.handler)
    renderer.state.withLock { state in
      state.isVisible = fails
      state.failsNext = fails ? 2 : 0
    }
    renderer.during(.visibilityCheck) { layer.whenNextPresented(second.handler) }
    layer.enqueue(numbered(1))
    if fails {
      #expect(await eventually { layer.statistics.failed == 1 })
    } else {
      #expect(layer.waitUntilPresented(by: soon))
    }
    uncover(renderer)
    layer.enqueue(numbered(2))
    #expect(await eventually { renderer.shown.last == 2 })
    #expect(layer.waitUntilPresented(by: soon))
    #expect((first.count, second.count) == (0, 1))
  }

  @Test func framesOfAnotherSizeOrOrientationAreToldOnce() throws {
    let wide = try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 32, 16))
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    func show(_ pixelBuffer: PixelBuffer, _ orientation: VideoOrientation) {
      var sampleBuffer = SampleBuffer(pixelBuffer: pixelBuffer)
      sampleBuffer.orientation = orientation
      layer.enqueue(sampleBuffer)
      #expect(layer.waitUntilPresented(by: soon))
    }
    let seen = Locked<[String]>([])
    let observer: @Sendable (SampleBuffer) -> Void = { sampleBuffer in
      seen.withLock { $0.append("\(sampleBuffer.pixelBuffer.size) \(sampleBuffer.orientation)") }
    }
    layer.observeSizes(observer)
    let quarter = VideoOrientation(rotation: .quarter)
    for (pixelBuffer, orientation) in [
      (numbered.pixelBuffer, .upright), (numbered.pixelBuffer, .upright), (wide, .upright),
      (wide, quarter), (wide, quarter), (wide, .upright),
    ] { show(pixelBuffer, orientation) }
    #expect(seen.withLock { $0 } == ["16x16 upright", "32x16 upright", "32x16 rotated by 90", "32x16 upright"])
    // A new observer is told of the next frame, even if that frame has the same size and orientation as the one before.
    layer.observeSizes(observer)
    show(wide, .upright)
    #expect(seen.withLock { $0.count } == 5)
    layer.observeSizes(nil)
    show(wide, quarter)
    #expect(seen.withLock { $0.count } == 5)
  }

  @Test func aFrameThatWaitsIsAFrameThatThereIs() {
    let layer = SampleBufferDisplayLayer(name: "test")
    #expect(!layer.hasFrame)
    layer.enqueue(numbered(1))
    #expect(layer.hasFrame)
    layer.flush()
    #expect(!layer.hasFrame)
  }

  // MARK: Shown again

  @Test func aSurfaceThatAsksWhileAPictureIsBeingShownGetsItAgain() {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    renderer.during(.render) { renderer.askForDisplay() }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 1])
    #expect(layer.statistics.presented == 1)
  }

  @Test func aSurfaceThatIsUncoveredWhileItsFrameIsPutAsideShowsIt() {
    let (layer, renderer) = hiddenLayer()
    renderer.during(.visibilityCheck) { [self] in uncover(renderer) }
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1])
  }

  @Test func aHiddenFrameCountsOnceHoweverOftenTheSurfaceAsks() {
    let (layer, renderer) = hiddenLayer()
    layer.enqueue(numbered(1))
    for _ in 0..<3 {
      #expect(layer.waitUntilPresented(by: soon))
      renderer.askForDisplay()
    }
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.statistics == .init(hidden: 1))
    uncover(renderer)
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.statistics == .init(presented: 1, hidden: 1))
    // A frame that was shown before does not count as hidden.
    renderer.state.withLock { $0.isVisible = false }
    renderer.askForDisplay()
    #expect(layer.waitUntilPresented(by: soon))
    uncover(renderer)
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 1])
    #expect(layer.statistics == .init(presented: 1, hidden: 1))
  }

  @Test func theLayersTurnComesAfterTheFrames() {
    let (layer, renderer) = layer(showing: 1)
    layer.orientation = .mirrored
    var turned = numbered(2)
    turned.orientation = VideoOrientation(rotation: .quarter)
    layer.enqueue(turned)
    #expect(layer.waitUntilPresented(by: soon))
    // A rotation by 90 degrees clockwise followed by mirroring is the same as mirroring followed by a rotation by 90
    // degrees anticlockwise.
    #expect(
      renderer.state.withLock { $0.orientations.last } == VideoOrientation(rotation: .threeQuarters, isMirrored: true))
    // When the layer's orientation changes again, it is applied to the frame's orientation, and not to what was shown
    // before.
    layer.orientation = VideoOrientation(rotation: .quarter)
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.orientations.last } == VideoOrientation(rotation: .half))
  }
}
