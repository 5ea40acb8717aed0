import Testing

@testable import PipSink
@testable import TestSupport

/// When a layer tries a surface again that has failed, and when it does not try yet.
@Suite struct DisplayLayerRetryTests {
  private let clock = ManualClock()
  private let renderer = TestRenderer()
  private let layer: SampleBufferDisplayLayer
  private let frame: SampleBuffer

  init() throws {
    frame = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 16, 16))
    renderer.state.withLock { ($0.code, $0.failsNext) = (.other(-5), .max) }
    layer = SampleBufferDisplayLayer(name: "test", renderer: renderer, clock: clock.clock)
  }

  private func enqueue(_ number: UInt64) {
    layer.enqueue(SampleBuffer(pixelBuffer: frame.pixelBuffer, sequenceNumber: number))
  }

  /// The number of times that the surface was asked to show something. Each try asks twice.
  private var renderCount: Int { Int.max - renderer.state.withLock { $0.failsNext } }

  @Test func theSameFrameIsTriedAgainAfterPausesThatGrowToTwoSeconds() async {
    enqueue(1)
    for (number, pause) in [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2, 2].enumerated() {
      #expect(await clock.isAwaited(in: pause))
      #expect(renderCount == 2 * (number + 1))
      clock.advance(by: pause - 0.001)
      #expect(await clock.isAwaited(in: 0.001))
      #expect(renderCount == 2 * (number + 1))
      #expect(await clock.reach(0.001))
    }
    #expect(await clock.isAwaited(in: 2))
    renderer.state.withLock { $0.failsNext = 0 }
    #expect(await clock.reach(2))
    #expect(await eventually { renderer.shown == [1] && layer.status == .rendering })
    // The tries count as one frame.
    #expect(layer.statistics.failed == 1 && layer.statistics.presented == 1)
  }

  @Test func aFrameThatHasFailedIsNotTriedAgainAfterAFlush() async {
    enqueue(1)
    #expect(await clock.isAwaited(in: 0.05))
    renderer.state.withLock { $0.failsNext = 0 }
    layer.flush()
    // The presenting thread has looked, and waits for the next frame.
    #expect(await eventually { clock.alarmCount == 0 })
    #expect(layer.error == nil)
    enqueue(2)
    #expect(await eventually { renderer.shown.last == 2 })
    #expect(renderer.shown == [2])
  }

  @Test func theSecondTryShowsTheSameAsTheFirst() async {
    renderer.state.withLock { ($0.code, $0.failsNext) = (.invalidSize, 1) }
    layer.orientation = VideoOrientation(rotation: .quarter)
    enqueue(1)
    #expect(await eventually { renderer.shown == [1] })
    #expect(renderer.state.withLock { $0.orientations } == [VideoOrientation(rotation: .quarter)])
    #expect(layer.statistics.recovered == 1)
  }

  @Test func afterASuccessPausesBeginAnew() async {
    enqueue(1)
    for pause in [0.05, 0.1] { #expect(await clock.reach(pause)) }
    #expect(await clock.isAwaited(in: 0.2))
    renderer.state.withLock { $0.failsNext = 0 }
    #expect(await clock.reach(0.2))
    #expect(await eventually { renderer.shown == [1] })
    renderer.state.withLock { $0.failsNext = .max }
    enqueue(2)
    #expect(await clock.isAwaited(in: 0.05))
  }

  @Test func anotherFrameIsTriedAtOnceAfterOneFailureAndWaitsAfterTwo() async {
    enqueue(1)
    #expect(await clock.isAwaited(in: 0.05))
    enqueue(2)
    #expect(await clock.isAwaited(in: 0.1))
    #expect(renderCount == 4)
    renderer.state.withLock { $0.failsNext = 0 }
    enqueue(3)
    #expect(clock.advance(by: 0.099) == 0)
    #expect(renderer.shown.isEmpty)
    #expect(await clock.reach(0.001))
    #expect(await eventually { renderer.shown == [3] })
  }

  @Test func aFlushForgetsTheFailureSoThatTheNextFrameIsTriedAtOnce() async {
    enqueue(1)
    #expect(await clock.reach(0.05))
    #expect(await clock.isAwaited(in: 0.1))
    #expect(layer.status == .failed && layer.error?.code == .other(-5))
    renderer.state.withLock { $0.failsNext = 0 }
    layer.flush()
    #expect(layer.status == .unknown && layer.error == nil)
    enqueue(2)
    #expect(
      await eventually { renderer.shown == [2] && layer.status == .rendering },
      "the frame is shown although the clock stands still")
    layer.flush()
    #expect(layer.status == .rendering, "the layer has no failure to forget")
  }

  @Test func aFrameThatFailedIsNotTriedAgainAfterAFlush() async {
    enqueue(1)
    #expect(await clock.isAwaited(in: 0.05))
    let count = renderCount
    layer.flushAndRemoveImage()
    #expect(await eventually { layer.waitUntilPresented(by: .now.advanced(by: .seconds(1))) })
    clock.advance(by: 10)
    renderer.askForDisplay()
    #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    #expect(renderCount == count && layer.status == .unknown)
  }

  @Test func anotherSurfaceIsTriedAtOnceWhateverTheLastOneDid() async {
    enqueue(1)
    for pause in [0.05, 0.1] { #expect(await clock.reach(pause)) }
    #expect(await clock.isAwaited(in: 0.2))
    let other = TestRenderer()
    layer.attach(to: other)
    #expect(await eventually { other.shown == [1] })
    #expect(await eventually { clock.alarmCount == 0 })
  }
}
