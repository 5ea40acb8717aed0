import Testing

@testable import PipSink

/// A surface that tells what it is asked to show, waits when it is told to, and fails when it is told to.
final class TestRenderer: VideoRenderer {
  struct State {
    var shown: [UInt64] = []
    var removals = 0
    var isHeld = false
    var failsNext = 0
    var isRendering = false
  }
  let state = Locked(State())

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    state.withLock { $0.isRendering = true }
    state.wakeAll()
    let fails = state.wait { state -> Bool? in
      guard !state.isHeld else { return nil }
      state.isRendering = false
      guard state.failsNext == 0 else {
        state.failsNext -= 1
        return true
      }
      state.shown.append(sampleBuffer.sequenceNumber)
      return false
    }
    if fails { throw RenderingError(code: .invalidSize, reason: "told to fail") }
  }

  func removeImage() {
    state.withLock { $0.removals += 1 }
  }

  var shown: [UInt64] { state.withLock { $0.shown } }

  func hold() { state.withLock { $0.isHeld = true } }

  func release() {
    state.withLock { $0.isHeld = false }
    state.wakeAll()
  }

  /// Waits until a frame is being rendered.
  func waitUntilRendering() -> Bool {
    state.wait(until: .now.advanced(bySeconds: 20)) { $0.isRendering ? true : nil } ?? false
  }
}

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

  private var soon: MonotonicTime { .now.advanced(bySeconds: 20) }

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

  @Test func aSurfaceThatThrowsLosesItsFrameOnly() {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    renderer.state.withLock { $0.failsNext = 2 }
    for number in 1...3 as ClosedRange<UInt64> {
      layer.enqueue(numbered(number))
      #expect(layer.waitUntilPresented(by: soon))
      #expect((layer.error == nil) == (number == 3))
    }
    #expect(renderer.shown == [3])
    #expect(layer.statistics == .init(presented: 1, replaced: 0, failed: 2))
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

  @Test func theFirstPictureIsReportedAfterAFailureToo() {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer)
    renderer.state.withLock { $0.failsNext = 1 }
    let count = Locked(0)
    layer.begin(with: numbered(1), isFresh: true) { _ in count.withLock { $0 += 1 } }
    #expect(layer.waitUntilPresented(by: soon))
    #expect(count.withLock { $0 } == 0)
    layer.enqueue(numbered(2))
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
