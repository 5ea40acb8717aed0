import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// The element `pipsink` at the end of an engine's stream, where usually an appsink is.
@Suite struct ElementInEngineTests {
  init() throws { try PipSinkPlugin.register() }

  private let source = "videotestsrc num-buffers=10 ! video/x-raw,format=I420,width=64,height=36 ! "

  @Test func itIsAStreamBesideAppsinks() async throws {
    let engine = try VideoEngine(
      .text("\(source) pipsink stream-id=remote-1 sync=false \(source) appsink name=remote-2 sync=false"))
    #expect(engine.streamIDs == ["remote-1", "remote-2"])
    for _ in 0..<2 {
      let consumers: [StreamID: CountingConsumer] = ["remote-1": CountingConsumer(), "remote-2": CountingConsumer()]
      let events = try await engine.runToEnd { consumers[$0]! }
      for consumer in consumers.values {
        #expect(consumer.sampleBuffers.map(\.sequenceNumber) == Array(1...10))
        #expect(consumer.sampleBuffers.allSatisfy { $0.pixelBuffer.size == PictureSize(width: 64, height: 36) })
      }
      #expect(Set(events.endedStreams) == ["remote-1", "remote-2"])
      let formats = events.compactMap { if case .formatChanged(let id, _) = $0 { id } else { nil } }
      #expect(Set(formats) == ["remote-1", "remote-2"] && formats.count == 2)
    }
  }

  @Test func itsProcessorsAndDirectionCount() async throws {
    let engine = try VideoEngine(
      .text("\(source) pipsink stream-id=a sync=false process=decimate:2 video-direction=90r"))
    let consumer = CountingConsumer()
    _ = try await engine.runToEnd { _ in consumer }
    #expect(consumer.sampleBuffers.count == 5)
    #expect(consumer.sampleBuffers.allSatisfy { $0.orientation.rotation == .quarter })
  }

  @Test func theSameStreamTwiceAndAWrongProcessorAreTypedErrors() async throws {
    #expect(throws: PipSinkError.stream(.duplicate("a"))) {
      try VideoEngine(.text("\(source) pipsink stream-id=a \(source) appsink name=a"))
    }
    let engine = try VideoEngine(.text("\(source) pipsink name=sink stream-id=a process=nosuch"))
    await #expect(throws: PipSinkError.self) { try await engine.start { _ in CountingConsumer() } }
  }

  @Test func aStreamThatFailsLeavesItAlone() async throws {
    let engine = try VideoEngine(
      .text("videotestsrc ! identity error-after=3 ! pipsink stream-id=bad \(source) pipsink stream-id=good sync=false")
    )
    let good = CountingConsumer()
    let events = try await engine.runToEnd { $0 == "good" ? good : CountingConsumer() }
    #expect(events.failedStreams == ["bad"] && events.endedStreams == ["good"])
    #expect(good.sampleBuffers.count == 10)
  }
}
