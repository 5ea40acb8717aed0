import CGStreamer
import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Which streams without frames have lost their source. The test advances the engine's clock.
@Suite(.timeLimit(.minutes(2))) struct SilentStreamTests {
  private static let caps = "video/x-raw,format=I420,width=16,height=16"

  @Test(arguments: [
    ("filesrc location=film ! decodebin", false, true),
    ("webrtcbin name=w w. ! decodebin", false, true), ("udpsrc caps=\(caps)", true, false),
    ("appsrc", false, false), ("appsrc", true, true), ("videotestsrc is-live=true", false, false),
  ])
  func theSourceSaysWhetherAStreamMaySendNothing(source: String, hasVariableRate: Bool, maySendNothing: Bool) throws {
    let beside = "videotestsrc is-live=true ! appsink name=beside"
    let pipeline = try Pipeline(.text("\(source) ! appsink name=a \(beside)"))
    #expect(
      try pipeline.maySendNothing(#require(pipeline.stream("a")), hasVariableRate: hasVariableRate) == maySendNothing)
    #expect(try !pipeline.maySendNothing(#require(pipeline.stream("beside"))))
  }

  /// What is known of a pipeline's first stream at each of some moments.
  private final class Answers {
    let pipeline: Pipeline
    let values = Locked<[Bool]>([])

    init(_ pipeline: Pipeline) { self.pipeline = pipeline }
  }

  private static let noteLink: @convention(c) (OpaquePointer?, OpaquePointer?, gpointer?) -> Void = {
    _, _, answers in
    guard let answers = answers.map({ Unmanaged<Answers>.fromOpaque($0).takeUnretainedValue() }),
      let stream = answers.pipeline.streams.first
    else { return }
    answers.values.withLock { $0.append(answers.pipeline.maySendNothing(stream)) }
  }

  /// For a link with caps the parser tries a filter on each pad of the demuxer. A filter that has been refused by the
  /// sound's pad is still linked to the decoder for a moment.
  @Test func theSourceIsKnownWhileALinkIsMade() async throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("pipsink-\(UUID().uuidString).mkv").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try TestFrame.run(
      "matroskamux name=m ! filesink location=\(path) audiotestsrc num-buffers=2 ! m. "
        + "videotestsrc num-buffers=2 ! video/x-raw,width=16,height=16,framerate=2/1 ! jpegenc ! m.")
    let pipeline = try Pipeline(
      "filesrc location=\(path) ! matroskademux ! image/jpeg ! jpegdec name=decoder ! appsink name=a")
    let decoder = try #require(pipeline.elements.first { $0.elementName == "decoder" })
    let pad = try #require(gst_element_get_static_pad(decoder, "sink"))
    defer { gst_object_unref(pad) }
    let answers = Answers(pipeline)
    g_signal_connect_data(
      pad, "linked", unsafeBitCast(Self.noteLink, to: GCallback.self), Unmanaged.passUnretained(answers).toOpaque(),
      nil, GConnectFlags(rawValue: 0))
    pipeline.setState(GST_STATE_PAUSED)
    #expect(await eventually { pipeline.reachedState == GST_STATE_PAUSED })
    pipeline.setState(GST_STATE_NULL)
    #expect(answers.values.withLock { $0 } == [true, true])
  }

  /// A stream whose source the test controls.
  private final class Silent {
    let engine: VideoEngine
    let clock = ManualClock()
    let frames = CountingConsumer()
    /// It is never freed, and only copies of it, which GStreamer makes, go to the streaming thread: ThreadSanitizer does
    /// not see that a queue of GStreamer passes a buffer from one thread to another.
    private let template: UnsafeMutablePointer<GstBuffer>?

    init(rate: String? = "30/1", _ sink: String = "appsink name=a sync=false") async throws {
      engine = try VideoEngine(
        .text(
          "appsrc name=source format=time caps=\(SilentStreamTests.caps)\(rate.map { ",framerate=\($0)" } ?? "") ! \(sink)"
        ),
        clock: clock.clock)
      // The engine has initialised GStreamer.
      template = gst_buffer_new_allocate(nil, 384, nil)
      engine.configuration.stallTimeout = .seconds(3)
      try await engine.start { [frames] _ in frames }
    }

    var state: StreamPlayState? { engine.info(of: "a")?.state }

    func push(milliseconds: UInt = 0) {
      _ = engine.withUnsafeElement(named: "source") { source in
        template?.pointee.pts = GstClockTime(milliseconds) * 1_000_000
        _ = source.withMemoryRebound(to: GstAppSrc.self, capacity: 1) {
          gst_app_src_push_buffer($0, gst_buffer_copy(template))
        }
      }
    }

    func end() {
      _ = engine.withUnsafeElement(named: "source") { source in
        source.withMemoryRebound(to: GstAppSrc.self, capacity: 1) { gst_app_src_end_of_stream($0) }
      }
    }

    /// Pushes the first frame, and waits until the sink is done with it and the pipeline's thread has noticed it. A frame
    /// that is still in the sink counts as one that waits for its time, and its stream does not stall.
    func play() async -> Bool {
      push()
      let hasArrived = await eventually {
        self.state == .playing
          && self.engine.run(of: "a")?.pipeline.streams.contains(where: \.isWaiting) == false
      }
      guard hasArrived else { return false }
      return await look()
    }

    /// Lets the pipeline's thread look at the stream, after so many seconds.
    func look(after seconds: Double = 0.5) async -> Bool {
      guard await clock.isAwaited(in: 0.5) else { return false }
      clock.advance(by: max(0.5, seconds) + 1e-5)
      return await clock.isAwaited(in: 0.5)
    }
  }

  @Test func aStreamWithNoReasonToBeSilentIsStalled() async throws {
    let stream = try await Silent()
    #expect(await stream.play())
    #expect(await stream.look(after: 2))
    #expect(stream.state == .playing)
    #expect(await stream.look(after: 1.1))
    #expect(stream.state == .stalled)
    await stream.engine.stop()
  }

  @Test(arguments: PushedStream.Kind.allCases)
  func unlessTheAppSaysOtherwiseAStreamIsStalledAfterThreeSeconds(kind: PushedStream.Kind) async throws {
    let clock = ManualClock()
    let stream = try PushedStream(kind, PipelineConfiguration(), clock: clock)
    try await stream.start()
    #expect(await stream.play())
    // The first look after the frame begins the time.
    #expect(await clock.reach(0.5))
    for _ in 0..<5 { #expect(await clock.reach(0.5)) }
    #expect(await clock.isAwaited(in: 0.5))
    #expect(stream.state == .playing)
    #expect(await clock.reach(0.5))
    #expect(await eventually { stream.state == .stalled })
    await stream.engine.stop()
  }

  @Test func aStreamHasItsWholeTimeAgainAfterAPause() async throws {
    let stream = try await Silent()
    #expect(await stream.play())
    #expect(await stream.look(after: 2))
    stream.engine.isPaused = true
    #expect(await stream.look(after: 1000))
    stream.engine.isPaused = false
    // The first look after the pause begins the time.
    #expect(await stream.look())
    #expect(await stream.look(after: 2.9))
    #expect(stream.state == .playing)
    #expect(await stream.look(after: 0.5))
    #expect(stream.state == .stalled)
    await stream.engine.stop()
  }

  @Test func aStreamOfFewFramesHasTwoIntervals() async throws {
    let stream = try await Silent(rate: "1/12")
    #expect(await stream.play())
    #expect(await stream.look(after: 23))
    #expect(stream.state == .playing)
    #expect(await stream.look(after: 1.1))
    #expect(stream.state == .stalled)
    await stream.engine.stop()
  }

  @Test func aStreamOfAVariableRateMayStandStill() async throws {
    let stream = try await Silent(rate: "0/1")
    #expect(await stream.play())
    #expect(await stream.look(after: 1000))
    #expect(stream.state == .playing)
    await stream.engine.stop()
  }

  /// As that of a photograph: nothing says how long it is shown.
  @Test(arguments: [nil, "0/1"]) func aStreamOfOnePictureStays(rate: String?) async throws {
    let stream = try await Silent(rate: rate)
    #expect(await stream.play())
    stream.end()
    let sink = try #require(stream.engine.withRun { $0.pipeline.stream("a") } ?? nil)
    #expect(await eventually { sink.isAtEnd })
    #expect(await stream.look(after: 1000))
    #expect(stream.state == .playing)
    await stream.engine.stop()
  }

  @Test(arguments: [(1, "30/1"), (2, "0/1")]) func aStreamWhoseLastPictureHasAnEndEnds(count: Int, rate: String)
    async throws
  {
    let stream = try await Silent(rate: rate)
    #expect(await stream.play())
    for number in 1..<count { stream.push(milliseconds: UInt(number)) }
    stream.end()
    #expect(await eventually { stream.state == .ended })
    await stream.engine.stop()
  }

  @Test func aFrameThatWaitsForItsTimeIsASign() async throws {
    let stream = try await Silent("appsink name=a")
    #expect(await stream.play())
    let sink = try #require(stream.engine.withRun { $0.pipeline.stream("a") } ?? nil)
    #expect(await eventually { !sink.isWaiting })
    stream.push(milliseconds: 3_600_000)
    #expect(await eventually { sink.isWaiting })
    #expect(await stream.look(after: 1000))
    #expect(stream.state == .playing)
    await stream.engine.stop()
  }

  @Test func soundOfTheSameSourceIsASign() async throws {
    let stream = try await Silent(
      "tee name=t ! queue ! valve name=pictures ! appsink name=a sync=false t. ! queue ! fakesink name=sound sync=false "
        + "videotestsrc is-live=true ! fakesink name=other")
    #expect(await stream.play())
    _ = stream.engine.withUnsafeElement(named: "pictures") {
      gst_util_set_object_arg(UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObject.self), "drop", "true")
    }
    for _ in 0..<4 {
      let count = rendered("sound", stream.engine)
      stream.push()
      #expect(await eventually { rendered("sound", stream.engine) > count })
      #expect(await stream.look(after: 2))
      #expect(stream.state == .playing)
    }
    #expect(await stream.look(after: 3.1))
    #expect(stream.state == .stalled)
    #expect(stream.frames.sampleBuffers.count == 1)
    await stream.engine.stop()
  }

  private func rendered(_ name: String, _ engine: VideoEngine) -> UInt64 {
    let count = engine.withUnsafeElement(named: name) { element in
      var count: guint64 = 0
      let statistics = gst_base_sink_get_stats(
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstBaseSink.self))
      defer { gst_structure_free(statistics) }
      gst_structure_get_uint64(statistics, "rendered", &count)
      return UInt64(count)
    }
    return count ?? 0
  }
}
