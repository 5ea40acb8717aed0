import CGStreamer
import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Streams that fail while others play. Whatever happens first, the branch of the failed stream is removed, and the
/// other streams continue.
@Suite struct FailingStreamTests {
  /// Caps with a size that no picture has.
  private static let impossible = "video/x-raw,format=I420,width=0,height=0,framerate=30/1"
  /// The sink of this stream refuses the caps. The queue withholds the source's end of stream from the sink, so that
  /// the sink waits for data forever.
  private static let refused = "fakesrc ! \(impossible) ! queue ! appsink name=bad sync=false"

  private static func good(_ id: StreamID = "good", frames: Int = -1) -> String {
    "videotestsrc num-buffers=\(frames) ! video/x-raw,format=I420,width=64,height=36,framerate=60/1 ! appsink name=\(id)"
  }

  /// Runs a pipeline while `body` runs, and counts the frames of the stream "good".
  private func run(
    _ description: String, _ body: (VideoEngine, CountingConsumer) async throws -> Void
  ) async throws {
    let good = CountingConsumer()
    let engine = try VideoEngine(.text(description))
    try await engine.start { $0 == "good" ? good : CountingConsumer() }
    try await body(engine, good)
    await engine.stop()
  }

  private func expectMore(
    of consumer: CountingConsumer, _ comment: Comment, location: SourceLocation = #_sourceLocation
  ) async {
    let before = consumer.sampleBuffers.count
    #expect(
      await eventually { consumer.sampleBuffers.count > before + 5 }, comment, sourceLocation: location)
  }

  private func hasFailed(_ engine: VideoEngine, _ id: StreamID = "bad") async -> Bool {
    await eventually { if case .failed = engine.playState(of: id) { true } else { false } }
  }

  /// Whether the pipeline has an element of the given name.
  private func has(_ engine: VideoEngine, _ name: String) -> Bool {
    engine.withUnsafeElement(named: name) { _ in true } ?? false
  }

  /// An error ends the state change of the whole pipeline.
  @Test func anErrorThatIsNothingToAStreamDoesNotEndItsStart() async throws {
    // It comes when the start has been requested, and while the stream waits for its first frame.
    let failing = "fakesrc ! identity sleep-time=300000 ! identity name=other error-after=1 ! fakesink async=false"
    let slow = Self.good(frames: 3).replacing("! appsink", with: "! identity sleep-time=800000 ! appsink sync=false")
    let engine = try VideoEngine(.text("\(slow) \(failing)"))
    let (good, events) = (CountingConsumer(), engine.events())
    try await engine.start { _ in good }
    for await event in events {
      guard case .warning(let element, _, _) = event else { continue }
      #expect(element == "other")
      break
    }
    #expect(await eventually { engine.playState(of: "good") == .ended })
    #expect(good.sampleBuffers.count == 3)
    await engine.stop()
  }

  @Test func aStreamThatRefusesWhatItGetsIsTakenOutSoThatTheOthersCanPauseAndGoOn() async throws {
    for description in ["\(Self.refused) \(Self.good())", "\(Self.good()) \(Self.refused)"] {
      try await run(description) { engine, good in
        #expect(await hasFailed(engine))
        #expect(await eventually { !has(engine, "bad") })
        await expectMore(of: good, "beside the failure")
        engine.isPaused = true
        #expect(await eventually { engine.state == .paused })
        engine.isPaused = false
        await expectMore(of: good, "after a pause")
        guard case .failed(.frame(.invalidCaps(let caps))) = engine.playState(of: "bad") else {
          Issue.record("\(engine.playState(of: "bad"))")
          return
        }
        #expect(caps.contains("width=(int)0"))
      }
    }
  }

  /// The first stream is taken out, and the start is tried again with the second one, which cannot start either.
  @Test func afterAStartThatIsRefusedNoStreamHasEverBeenStarted() async throws {
    let streams = ["a", "b"].map { "filesrc location=/nowhere/\($0) ! rawvideoparse ! appsink name=\($0)" }
    let engine = try VideoEngine(.text(streams.joined(separator: " ")))
    await #expect(throws: PipSinkError.self) { try await engine.start { _ in CountingConsumer() } }
    #expect(["a", "b"].map { engine.playState(of: $0) } == [.stopped, .stopped])
    #expect(engine.state == .stopped)
  }

  @Test func theErrorOfASourceDoesNotHideThatItsStreamHadRefused() async throws {
    for _ in 0..<3 {
      try await run("fakesrc num-buffers=3 ! \(Self.impossible) ! appsink name=bad \(Self.good())") { engine, good in
        #expect(await hasFailed(engine))
        #expect(await eventually { !has(engine, "bad") })
        guard case .failed(.frame(.invalidCaps)) = engine.playState(of: "bad") else {
          Issue.record("\(engine.playState(of: "bad"))")
          return
        }
        await expectMore(of: good, "beside the failure")
      }
    }
  }

  /// All orders of the events that can end a stream: the stream is refused, its source reports an error, or it reaches
  /// its end.
  @Test(arguments: [
    ["refusal", "error"], ["error", "refusal"], ["end", "error"], ["end", "refusal"], ["error", "end"],
    ["refusal", "end"], ["error", "error"], ["end", "refusal", "error"], ["error", "end", "refusal", "error"],
  ])
  func whateverComesFirstABranchIsTakenOutOnceAndTheOthersGoOn(order: [String]) async throws {
    let events = Locked<[StreamPlayState]>([])
    // This source does nothing unless the test tells it to.
    let bad =
      "appsrc name=source caps=video/x-raw,format=I420,width=16,height=16,framerate=30/1 ! identity name=middle "
      + "! appsink name=bad async=false"
    try await run("\(bad) \(Self.good())") { engine, good in
      engine.status.broadcast.observe { event in
        if case .streamStateChanged("bad", let state) = event { events.withLock { $0.append(state) } }
      }
      await expectMore(of: good, "at first")
      let run = try #require(engine.withRun { $0 })
      let stream = try #require(run.pipeline.stream("bad"))
      let source = try #require(run.pipeline.elements.first { $0.elementName == "source" })
      for step in order {
        switch step {
        case "refusal": #expect(run.noteRefusal(of: "bad", .frame(.invalidCaps("none"))), "there are other streams")
        case "end": BusNote.streamEnded.post(from: stream.sink)
        default:
          let error = g_error_new_literal(gst_stream_error_quark(), gint(GST_STREAM_ERROR_FAILED.rawValue), "broken")
          gst_element_post_message(source, gst_message_new_error(source.asObject, error, "a test"))
          g_error_free(error)
        }
      }
      #expect(await eventually { !has(engine, "bad") && !has(engine, "source") && !has(engine, "middle") })
      engine.isPaused = true
      #expect(await eventually { engine.state == .paused })
      engine.isPaused = false
      await expectMore(of: good, "after a pause")
      #expect(run.progress.withLock { $0.isolated } == ["bad"])
      #expect(engine.playState(of: "good") == .playing)
      let said = events.withLock { $0 }
      #expect(said.count == 1, "\(said)")
      switch (order[0], said.first) {
      case ("refusal", .failed(.frame(.invalidCaps))), ("error", .failed), ("end", .ended): break
      default: Issue.record("\(order): \(said)")
      }
    }
  }

  @Test func aStreamBehindTheSameSourceGoesOn() async throws {
    let source = "videotestsrc ! video/x-raw,format=I420,width=64,height=36,framerate=60/1 ! tee name=t "
    let bad = "t. ! queue ! capssetter caps=\(Self.impossible) replace=true ! queue ! appsink name=bad"
    try await run("\(source) \(bad) t. ! queue ! appsink name=good") { engine, good in
      #expect(await hasFailed(engine))
      #expect(await eventually { !has(engine, "bad") })
      await expectMore(of: good, "after the branch has gone")
      #expect(engine.playState(of: "good") == .playing)
    }
  }

  @Test func severalThatFailAtOnceAreEachTakenOut() async throws {
    let bad = (0..<8).map { index in
      switch index % 4 {
      case 0: "fakesrc ! \(Self.impossible) ! queue ! appsink name=bad\(index)"
      case 1: "videotestsrc ! identity error-after=2 ! appsink name=bad\(index) sync=false"
      case 2: "filesrc location=/nowhere/\(index).mkv ! decodebin ! videoconvert ! appsink name=bad\(index)"
      default: "filesrc location=/etc/passwd ! decodebin ! videoconvert ! appsink name=bad\(index)"
      }
    }
    try await run("\(bad.joined(separator: " ")) \(Self.good())") { engine, good in
      for index in 0..<8 {
        #expect(await hasFailed(engine, "bad\(index)"), "\(index)")
        #expect(await eventually { !has(engine, "bad\(index)") }, "\(index)")
      }
      engine.isPaused = true
      #expect(await eventually { engine.state == .paused })
      engine.isPaused = false
      await expectMore(of: good, "after a pause")
    }
  }

  @Test func aJumpReopensWhatHasEndedAndNotWhatHasFailed() async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("pipsink-\(UUID().uuidString).mkv")
    defer { try? FileManager.default.removeItem(at: url) }
    try TestFrame.run(
      "videotestsrc num-buffers=10 ! video/x-raw,width=64,height=48,framerate=30/1 ! jpegenc ! matroskamux"
        + " ! filesink location=\(url.path)")
    let film = "filesrc location=\(url.path) ! matroskademux ! jpegdec ! appsink name=good"
    try await run("\(Self.refused) \(film)") { engine, good in
      #expect(await hasFailed(engine))
      #expect(await eventually { engine.playState(of: "good") == .ended })
      #expect(await eventually { !has(engine, "bad") })
      let before = good.sampleBuffers.count
      try await engine.seekStream("good", to: .zero)
      #expect(await eventually { good.sampleBuffers.count >= before + 10 }, "\(good.sampleBuffers.count)")
      #expect(await hasFailed(engine))
    }
  }

  @Test func aStreamThatHadEndedAndFailsThenIsNotWaitedForAfterAJump() async throws {
    try await run("\(Self.good("bad", frames: 5)) \(Self.good(frames: 200))") { engine, good in
      #expect(await eventually { engine.playState(of: "bad") == .ended })
      let run = try #require(engine.withRun { $0 })
      let stream = try #require(run.pipeline.stream("bad"))
      let source = try #require(run.pipeline.upstreamElements(of: stream.sink).first { $0.pointee.numsinkpads == 0 })
      let error = g_error_new_literal(gst_resource_error_quark(), gint(GST_RESOURCE_ERROR_READ.rawValue), "gone")
      gst_element_post_message(source, gst_message_new_error(source.asObject, error, "a test"))
      g_error_free(error)
      #expect(await eventually { !has(engine, "bad") })
      try await engine.seekStream("good", to: .zero)
      await expectMore(of: good, "after the jump")
      #expect(engine.playState(of: "bad") == .ended)
    }
  }

  @Test func theLastStreamThatRefusesStopsItsSource() async throws {
    let engine = try VideoEngine(.text("fakesrc ! \(Self.impossible) ! appsink name=bad"))
    let events = try await engine.runToEnd { _ in CountingConsumer() }
    #expect(events.failedStreams == ["bad"])
  }
}
