import Testing

@testable import PipSink

/// Renderers on streams that come before or after them.
@Suite struct StreamRegistryTests {
  private static let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink name="

  @Test func aRendererMayComeBeforeItsStreamAndAfter() async throws {
    let registry = StreamRegistry()
    let (early, late) = (TestRenderer(), TestRenderer())
    #expect(!registry.attach(early, toStream: "remote"), "there is no such stream yet")
    let engine = try VideoEngine()
    try engine.startPlayingStream("remote", from: .text(Self.live + "x")) { registry.consumer(for: $0) }
    #expect(await eventually { !early.shown.isEmpty })
    #expect(registry.attach(late, toStream: "remote"))
    #expect(await eventually { !late.shown.isEmpty })
    registry.detach(early, fromStream: "remote")
    #expect(await eventually { early.state.withLock { $0.log.last } == "remove" })
    let count = (early.shown.count, late.shown.count)
    #expect(await eventually { late.shown.count > count.1 + 5 })
    #expect(early.shown.count == count.0)
    engine.stop()
  }

  @Test func everyRendererOfAStreamGetsItsFramesAndNoneWaitsForAnother() async throws {
    let registry = StreamRegistry()
    let renderers = (0..<3).map { _ in TestRenderer() }
    for renderer in renderers { registry.attach(renderer, toStream: "a") }
    registry.attach(renderers[0], toStream: "a", gravity: .resizeAspectFill)
    #expect(registry.layers(of: "a").count == 3)
    #expect(registry.layers(of: "a").first?.videoGravity == .resizeAspectFill)
    // One stands still, one fails.
    renderers[0].state.withLock { $0.isHeld = true }
    renderers[1].state.withLock { $0.failsNext = .max }
    let next = CountingConsumer()
    let consumer = registry.consumer(for: "a", next: next)
    let picture = try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 64, 36, pattern: "white"))
    for number in 1...100 as ClosedRange<UInt64> {
      consumer.consume(SampleBuffer(pixelBuffer: picture, sequenceNumber: number))
    }
    #expect(await eventually { renderers[2].shown.last == 100 })
    #expect(next.sampleBuffers.map(\.sequenceNumber) == Array(1...100))
    renderers[0].state.withLock { $0.isHeld = false }
    renderers[0].state.wakeAll()
    #expect(await eventually { renderers[0].shown.last == 100 })
    #expect(renderers[1].shown.isEmpty)
  }

  @Test func aStreamThatIsGoneTakesItsPicturesWithIt() async throws {
    let registry = StreamRegistry()
    let renderer = TestRenderer()
    registry.attach(renderer, toStream: "a")
    registry.consumer(for: "b").consume(try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 64, 36)))
    #expect(registry.streamIDs == ["a", "b"])
    registry.consumer(for: "a").consume(try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 64, 36)))
    #expect(await eventually { renderer.shown.count == 1 })
    registry.removeStream("a")
    registry.removeStream("nobody")
    #expect(await eventually { renderer.state.withLock { $0.log.last } == "remove" })
    #expect(registry.streamIDs == ["b"])
    #expect(registry.layers(of: "a").isEmpty)
    #expect(!registry.attach(renderer, toStream: "a"))
  }

  private func frame(_ number: UInt64) throws -> SampleBuffer {
    SampleBuffer(
      pixelBuffer: try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 64, 36)), sequenceNumber: number)
  }

  @Test func aRendererOfAStreamThatStandsStillBeginsWithItsNewestFrame() async throws {
    let registry = StreamRegistry()
    let consumer = registry.consumer(for: "a")
    for number in 1...3 as ClosedRange<UInt64> { consumer.consume(try frame(number)) }
    let renderer = TestRenderer()
    #expect(registry.attach(renderer, toStream: "a", gravity: .resize))
    #expect(await eventually { renderer.shown == [3] })
    #expect(renderer.state.withLock { $0.gravities } == [.resize])
    // It leaves, and comes back while nothing has changed.
    registry.detach(renderer, fromStream: "a")
    #expect(registry.layers(of: "a").isEmpty)
    #expect(await eventually { renderer.state.withLock { $0.log.last } == "remove" })
    registry.detach(renderer, fromStream: "a")
    #expect(registry.attach(renderer, toStream: "a"))
    #expect(await eventually { renderer.shown == [3, 3] })
  }

  @Test func aConsumerOfAStreamThatIsGoneHasNoEffect() async throws {
    let registry = StreamRegistry()
    let next = CountingConsumer()
    let old = registry.consumer(for: "a", next: next)
    registry.removeStream("a")
    let renderer = TestRenderer()
    #expect(!registry.attach(renderer, toStream: "a"))
    old.consume(try frame(1))
    #expect(next.sampleBuffers.count == 1, "who comes after the registry gets it all the same")
    #expect(!registry.attach(renderer, toStream: "a"), "the stream that came back has delivered nothing")
    registry.consumer(for: "a").consume(try frame(2))
    #expect(await eventually { renderer.shown == [2] })
  }
}
