import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct DisplayLayerTests {
  let frame: SampleBuffer

  init() throws {
    frame = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 16, 16))
  }

  private func numbered(_ number: UInt64) -> SampleBuffer {
    SampleBuffer(pixelBuffer: frame.pixelBuffer, sequenceNumber: number)
  }

  /// A layer whose surface is still showing frame 1.
  private func busyLayer() -> (SampleBufferDisplayLayer, TestRenderer) {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    renderer.hold()
    #expect(!layer.enqueue(numbered(1)))
    #expect(renderer.waitUntilRendering())
    return (layer, renderer)
  }

  private var soon: MonotonicTime { .now.advanced(by: .seconds(20)) }

  @Test func theNewestFrameReplacesTheOneThatWaits() {
    let (layer, renderer) = busyLayer()
    #expect(!layer.enqueue(numbered(2)))
    #expect(layer.enqueue(numbered(3)))
    #expect(layer.enqueue(numbered(4)))
    renderer.release()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 4])
    #expect(layer.statistics == .init(presented: 2, replaced: 2, failed: 0))
  }

  @Test func aSurfaceIsToldOfTheFramesSizeBeforeTheFirstOfThatSize() throws {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    let wide = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 32, 16)).pixelBuffer
    var turned = SampleBuffer(pixelBuffer: wide, sequenceNumber: 4)
    turned.orientation = VideoOrientation(rotation: .quarter)
    let frames = [numbered(1), numbered(2), SampleBuffer(pixelBuffer: wide, sequenceNumber: 3), turned]
    for frame in frames {
      layer.enqueue(frame)
      #expect(layer.waitUntilPresented(by: soon))
    }
    #expect(renderer.state.withLock { $0.sizeLog } == ["16x16", "1", "2", "32x16", "3", "16x32", "4"])
    // The new surface does not know any size yet.
    let other = TestRenderer()
    layer.attach(to: other)
    #expect(layer.waitUntilPresented(by: soon))
    #expect(other.state.withLock { $0.sizeLog } == ["16x32", "4"])
  }

  @Test func aSurfaceThatThrowsLosesItsFrameOnly() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    renderer.state.withLock { $0.failsNext = .max }
    for number in 1...2 as ClosedRange<UInt64> {
      layer.enqueue(numbered(number))
      #expect(await eventually { layer.statistics.failed == number })
      #expect(layer.error != nil && layer.status == .failed)
    }
    renderer.state.withLock { $0.failsNext = 0 }
    layer.enqueue(numbered(3))
    #expect(await eventually { renderer.shown.last == 3 })
    #expect(layer.waitUntilPresented(by: soon))
    #expect(layer.error == nil && layer.status == .rendering)
    #expect(layer.statistics.failed == 2)
  }

  @Test func beginningToShowANewStreamDropsWhatWaitsAndReportsTheFirstPicture() async {
    let (layer, renderer) = busyLayer()
    layer.enqueue(numbered(2))
    let presentedAt = Locked<MonotonicTime?>(nil)
    let began = MonotonicTime.now
    layer.begin(with: numbered(10), isFresh: false) { time in presentedAt.withLock { $0 = time } }
    renderer.release()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 10])
    #expect(await eventually { presentedAt.withLock { $0 } != nil })
    #expect(presentedAt.withLock { $0! } > began)
  }

  @Test func theFirstPictureIsReportedAfterAFailureToo() async {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    renderer.state.withLock { $0.failsNext = .max }
    let count = Locked(0)
    layer.begin(with: numbered(1), isFresh: true) { _ in count.withLock { $0 += 1 } }
    #expect(await eventually { layer.status == .failed })
    #expect(count.withLock { $0 } == 0)
    renderer.state.withLock { $0.failsNext = 0 }
    layer.enqueue(numbered(2))
    #expect(await eventually { renderer.shown.last == 2 })
    #expect(layer.waitUntilPresented(by: soon))
    layer.enqueue(numbered(3))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(count.withLock { $0 } == 1)
  }

  @Test func beginningWithNothingToShowTakesThePictureAway() {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    layer.enqueue(numbered(1))
    #expect(layer.waitUntilPresented(by: soon))
    layer.begin(with: nil, isFresh: false, presented: nil)
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.state.withLock { $0.removals } == 1)
  }

  @Test func aFrameThatWasShownElsewhereDoesNotCountAsReplaced() {
    let (layer, renderer) = busyLayer()
    layer.begin(with: numbered(5), isFresh: false, presented: nil)
    #expect(!layer.enqueue(numbered(6)))
    layer.begin(with: numbered(7), isFresh: true, presented: nil)
    #expect(layer.enqueue(numbered(8)))
    renderer.release()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1, 8])
  }

  @Test func relinquishingGivesTheFrameBackThatWaits() {
    let (layer, renderer) = busyLayer()
    layer.enqueue(numbered(2))
    #expect(layer.relinquish(removingImage: false)?.sequenceNumber == 2)
    #expect(layer.relinquish(removingImage: true) == nil)
    renderer.release()
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.shown == [1])
    #expect(renderer.state.withLock { $0.removals } == 1)
  }

  @Test func aLayerWithoutASurfaceTakesFramesAndNeverWaits() {
    let layer = SampleBufferDisplayLayer(name: "test")
    #expect(!layer.enqueue(numbered(1)))
    #expect(layer.enqueue(numbered(2)))
    #expect(!layer.waitUntilPresented(by: .now))
    layer.flush()
    #expect(layer.waitUntilPresented(by: .now))
  }

  @Test func aLayerLetsItsSurfaceGo() async {
    weak var renderer: TestRenderer?
    do {
      let strong = TestRenderer()
      renderer = strong
      let layer = SampleBufferDisplayLayer(name: "test", renderer: strong)
      layer.enqueue(numbered(1))
      #expect(layer.waitUntilPresented(by: soon))
    }
    #expect(await eventually { renderer == nil })
  }

  @Test func theOffscreenPictureIsGoneAfterRemoval() throws {
    let renderer = try OffscreenRenderer(size: .init(width: 32, height: 32))
    #expect(renderer.image() == nil)
    try renderer.render(frame, gravity: .resize)
    #expect(renderer.hasImage)
    renderer.removeImage()
    #expect(renderer.image() == nil)
  }
}
