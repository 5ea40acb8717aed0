import CGStreamer
import CGStreamerCheck
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// What every video sink does, with the engine's appsink and with the element. GStreamer's own fakevideosink says what
/// is right.
@Suite(.timeLimit(.minutes(5))) struct VideoSinkMannersTests {
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    case appsink, pipsink, fakevideosink

    var testDescription: String { rawValue }
  }

  init() throws { try PipSinkPlugin.register() }

  // MARK: - Before the pipeline plays

  @Test(arguments: Kind.allCases) func theFrameOfThePrerollIsShownOnce(_ kind: Kind) throws {
    let run = try SinkRun(kind, frames: 3)
    run.pause()
    #expect(run.shown == [0])
    run.play(until: GST_MESSAGE_EOS)
    #expect(run.shown == [0, 100, 200])
  }

  @Test(arguments: Kind.allCases) func aStepInAPauseShowsTheNextFrame(_ kind: Kind) throws {
    let run = try SinkRun(kind, frames: 30)
    run.pause()
    for step in 1...3 {
      gst_element_send_event(run.pipeline, gst_event_new_step(GST_FORMAT_BUFFERS, 1, 1, 1, 0))
      run.waitForState()
      #expect(run.shown == (0...step).map { UInt64(100 * $0) })
    }
  }

  @Test(arguments: Kind.allCases) func aSeekInAPauseShowsItsFrame(_ kind: Kind) throws {
    let run = try SinkRun(kind, frames: 30)
    run.pause()
    for time in [500, 200, 200, 800] {
      run.seek(from: time)
      run.waitForState()
    }
    #expect(run.shown == [0, 500, 200, 200, 800])
  }

  @Test(arguments: [
    (Kind.pipsink, "process=decimate:3", ""), (.pipsink, "rate-limit=4", ""),
    (.fakevideosink, "", "pipsinkfilter process=decimate:3"), (.appsink, "", "pipsinkfilter process=limit-rate:4"),
  ])
  func whatLowersTheFrameRateDropsNoPictureOfAPause(_ kind: Kind, _ properties: String, _ filter: String) throws {
    let run = try SinkRun(kind, frames: 30, properties: properties, filter: filter)
    run.pause()
    for time in [500, 600, 1200] {
      run.seek(from: time)
      run.waitForState()
    }
    #expect(run.shown == [0, 500, 600, 1200])
    guard filter.isEmpty else { return }
    gst_element_send_event(run.pipeline, gst_event_new_step(GST_FORMAT_BUFFERS, 1, 1, 1, 0))
    run.waitForState()
    #expect(run.shown.last == 1300)
  }

  @Test(arguments: [Kind.appsink, .pipsink], ["identity", "queue ! videoflip video-direction=auto ! queue"])
  func aPictureThatWasTurnedByItsTagIsNotTurnedAgain(_ kind: Kind, _ element: String) throws {
    let run = try SinkRun(kind, frames: 3, filter: "taginject tags=image-orientation=rotate-90 ! \(element)")
    run.play(until: GST_MESSAGE_EOS)
    let orientation = element == "identity" ? VideoOrientation(rotation: .quarter) : .upright
    #expect(run.orientations == [orientation, orientation, orientation])
  }

  @Test(arguments: Kind.allCases) func aGapPrerollsWithoutAFrame(_ kind: Kind) throws {
    let run = try SinkRun(kind, frames: 0)
    let harness = try #require(gst_harness_new_with_element(run.element, "sink", nil))
    defer { gst_harness_teardown(harness) }
    run.begin(harness, from: 0)
    #expect(gst_harness_push_event(harness, gst_event_new_gap(0, 1_000_000)) != 0)
    var state = GST_STATE_NULL
    #expect(gst_element_get_state(run.element, &state, nil, 20_000_000_000) == GST_STATE_CHANGE_SUCCESS)
    #expect(state == GST_STATE_PLAYING)
    #expect(run.shown.isEmpty)
  }

  // MARK: - Times

  @Test(arguments: Kind.allCases, [true, false])
  func theEndOfTheStreamTakesEffectWhenTheLastFramesTimeIsOver(_ kind: Kind, _ hasDuration: Bool) throws {
    // Only a GstVideoSink knows the duration from the frame rate, and in fakevideosink there is none.
    guard hasDuration || kind != .fakevideosink else { return }
    let run = try SinkRun(kind, frames: 1, isSynchronous: true, rate: "4/1")
    if !hasDuration { run.removeDurations() }
    // The engine hears of the end of each stream by a message of its own.
    run.play(until: kind == .fakevideosink ? GST_MESSAGE_EOS : GST_MESSAGE_APPLICATION)
    #expect(gst_element_get_current_running_time(run.pipeline) >= 250_000_000)
  }

  @Test(arguments: Kind.allCases) func lateFramesAreDroppedAndUpstreamHearsOfThem(_ kind: Kind) throws {
    let run = try SinkRun(kind, frames: 5, isSynchronous: true)
    run.beginInThePast(seconds: 10)
    let heard = run.upstreamEvents()
    let messages = run.play(until: GST_MESSAGE_EOS, counting: GST_MESSAGE_QOS)
    #expect(run.shown == [0])
    #expect(messages == 5)
    #expect(heard.withLock { $0 }.contains { $0 == GST_EVENT_QOS })
  }

  @Test(arguments: Kind.allCases) func itsTimeForAFrameIsPartOfTheLatency(_ kind: Kind) throws {
    let run = try SinkRun(kind, frames: 30, isSynchronous: true, source: "is-live=true")
    run.play(until: GST_MESSAGE_STREAM_START)
    run.waitForState()
    var latency: GstClockTime = 0
    #expect(gst_base_sink_query_latency(run.sink, nil, nil, &latency, nil) != 0)
    #expect(latency == 115_000_000)
  }

  @Test(arguments: Kind.allCases) func aFlushEndsTheWaitForAFramesTime(_ kind: Kind) async throws {
    let run = try SinkRun(kind, frames: 30, isSynchronous: true, rate: "1/100")
    gst_element_set_state(run.pipeline, GST_STATE_PLAYING)
    run.waitForState()
    #expect(run.shown == [0])
    run.seek(from: 200_000)
    #expect(await eventually { run.shown == [0, 200_000] })
  }

  @Test(arguments: Kind.allCases) func framesOutsideOfTheSegmentAreNotShown(_ kind: Kind) throws {
    let run = try SinkRun(kind, frames: 0)
    let harness = try #require(gst_harness_new_with_element(run.element, "sink", nil))
    defer { gst_harness_teardown(harness) }
    run.begin(harness, from: 1_000_000_000)
    for time in [500, 1000, 1100] as [UInt] {
      let buffer = gst_harness_create_buffer(harness, 16 * 16 * 3 / 2)
      buffer?.pointee.pts = GstClockTime(time) * 1_000_000
      buffer?.pointee.duration = 100_000_000
      #expect(gst_harness_push(harness, buffer) == GST_FLOW_OK)
    }
    #expect(run.shown == [1000, 1100])
  }

  @Test(arguments: Kind.allCases) func aNegativeRateShowsTheFramesBackwards(_ kind: Kind) throws {
    let run = try SinkRun(kind, frames: 30)
    run.pause()
    run.seek(from: 0, to: 500, rate: -1)
    run.waitForState()
    run.play(until: GST_MESSAGE_EOS)
    #expect(run.shown.dropFirst() == [400, 300, 200, 100, 0])
  }

  // MARK: - Buffers

  @Test(arguments: Kind.allCases) func theLastSampleIsThatOfTheLastFrame(_ kind: Kind) throws {
    let run = try SinkRun(kind, frames: 3)
    run.play(until: GST_MESSAGE_EOS)
    let sample = try #require(gst_base_sink_get_last_sample(run.sink))
    defer { gst_sample_unref(sample) }
    #expect(gst_sample_get_buffer(sample)?.pointee.pts == 200_000_000)
  }

  @Test(arguments: Kind.allCases) func anAllocationQueryIsAnswered(_ kind: Kind) throws {
    let run = try SinkRun(kind, frames: 0)
    let harness = try #require(gst_harness_new_with_element(run.element, "sink", nil))
    defer { gst_harness_teardown(harness) }
    run.begin(harness, from: 0)
    let pad = try #require(gst_element_get_static_pad(run.element, "sink"))
    defer { gst_object_unref(pad) }
    let caps = gst_pad_get_current_caps(pad)
    defer { gst_caps_unref(caps) }
    let query = try #require(gst_query_new_allocation(caps, 1))
    defer { gst_query_unref(query) }
    #expect(gst_pad_query(pad, query) != 0)
    for meta in [gst_video_meta_api_get_type(), gst_video_crop_meta_api_get_type()] {
      #expect(gst_query_find_allocation_meta(query, meta, nil) != 0)
    }
    guard kind != .fakevideosink else { return }
    var (pool, minimum): (UnsafeMutablePointer<GstBufferPool>?, guint) = (nil, 0)
    #expect(gst_query_get_n_allocation_pools(query) == 1)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, nil, &minimum, nil)
    #expect(pool != nil && minimum == 4)
    if let pool { gst_object_unref(pool) }
    // A pool for a device's memory is upstream's own, which has to have as many buffers.
    let other = gst_caps_from_string("video/x-raw(memory:DMABuf),format=NV12,width=64,height=36,framerate=30/1")
    defer { gst_caps_unref(other) }
    let question = try #require(gst_query_new_allocation(other, 1))
    defer { gst_query_unref(question) }
    #expect(gst_pad_query(pad, question) != 0)
    gst_query_parse_nth_allocation_pool(question, 0, &pool, nil, &minimum, nil)
    #expect(pool == nil && minimum == 4)
  }
}

private typealias Handoff =
  @convention(c) (
    UnsafeMutableRawPointer?, UnsafeMutablePointer<GstBuffer>?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
  ) -> Void

/// What fakevideosink shows.
private final class Handoffs: Sendable {
  /// The times of its frames in milliseconds, and whether the last of them has only been prerolled.
  let shown = Locked<(times: [UInt64], isPreroll: Bool)>(([], false))

  static func note(
    _ buffer: UnsafeMutablePointer<GstBuffer>?, isPreroll: Bool, in handoffs: UnsafeMutableRawPointer?
  ) {
    guard let buffer, let handoffs else { return }
    let time = UInt64(buffer.pointee.pts) / 1_000_000
    Unmanaged<Handoffs>.fromOpaque(handoffs).takeUnretainedValue().shown.withLock { shown in
      if isPreroll || !(shown.isPreroll && shown.times.last == time) { shown.times.append(time) }
      shown.isPreroll = isPreroll
    }
  }
}

/// A pipeline with test pictures and one of the sinks.
private final class SinkRun: @unchecked Sendable {
  /// The pipeline, or the sink alone where there is no source.
  let pipeline: UnsafeMutablePointer<GstElement>
  /// The sink as the pipeline has it.
  let element: UnsafeMutablePointer<GstElement>
  /// The sink itself, which for fakevideosink is in a bin.
  let sink: UnsafeMutablePointer<GstBaseSink>
  private let consumer = CountingConsumer()
  private let handoffs = Handoffs()

  /// - Parameters:
  ///   - frames: the number of pictures. With 0 there is no source.
  ///   - rate: the number of pictures per second.
  ///   - source: further properties of the source.
  ///   - properties: further properties of the sink.
  ///   - filter: an element before the sink.
  init(
    _ kind: VideoSinkMannersTests.Kind, frames: Int, isSynchronous: Bool = false, rate: String = "10/1",
    source: String = "", properties: String = "", filter: String = ""
  ) throws {
    let input =
      "videotestsrc num-buffers=\(frames) \(source) ! video/x-raw,format=I420,width=16,height=16,framerate=\(rate) ! "
      + (filter.isEmpty ? "" : "\(filter) !")
    let surface = kind == .pipsink ? "surface=none" : ""
    let description = "\(kind) name=tested sync=\(isSynchronous) \(surface) \(properties)"
    pipeline = try #require(gst_parse_launch(frames > 0 ? "\(input) \(description)" : description, nil))
    gst_object_ref_sink(pipeline)
    element = try #require(
      frames > 0 ? gst_bin_get_by_name(pipeline.asBin, "tested") : gst_object_ref(pipeline).map(Self.element))
    guard kind == .fakevideosink else {
      sink = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstBaseSink.self)
      StreamSink.install(on: Pipeline.Stream(id: "tested", sink: element), of: nil, deliveringTo: consumer)
      return
    }
    let inner = try #require(gst_bin_get_by_name(element.asBin, "sink"))
    gst_object_unref(inner)
    sink = UnsafeMutableRawPointer(inner).assumingMemoryBound(to: GstBaseSink.self)
    connect("preroll-handoff") { _, buffer, _, handoffs in Handoffs.note(buffer, isPreroll: true, in: handoffs) }
    connect("handoff") { _, buffer, _, handoffs in Handoffs.note(buffer, isPreroll: false, in: handoffs) }
    gst_util_set_object_arg(UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GObject.self), "signal-handoffs", "1")
  }

  deinit {
    gst_element_set_state(pipeline, GST_STATE_NULL)
    gst_object_unref(element)
    gst_object_unref(pipeline)
  }

  private static func element(_ object: gpointer) -> UnsafeMutablePointer<GstElement> {
    object.assumingMemoryBound(to: GstElement.self)
  }

  /// The times of the frames that were shown, in milliseconds.
  var shown: [UInt64] {
    handoffs.shown.withLock { $0.times }
      + consumer.sampleBuffers.map {
        UInt64($0.timing.presentationTimeStamp.clockTime ?? .max) / 1_000_000
      }
  }

  /// How the frames that were shown have to be turned.
  var orientations: [VideoOrientation] { consumer.sampleBuffers.map(\.orientation) }

  private func connect(_ signal: String, _ handler: Handoff) {
    g_signal_connect_data(
      sink, signal, unsafeBitCast(handler, to: GCallback.self), Unmanaged.passRetained(handoffs).toOpaque(),
      { handoffs, _ in if let handoffs { Unmanaged<Handoffs>.fromOpaque(handoffs).release() } },
      GConnectFlags(rawValue: 0))
  }

  // MARK: - Control

  func pause() {
    gst_element_set_state(pipeline, GST_STATE_PAUSED)
    waitForState()
  }

  /// Gives the pipeline a running time, at which the first frames are late.
  func beginInThePast(seconds: UInt) {
    let clock = gst_system_clock_obtain()
    defer { gst_object_unref(clock) }
    gst_pipeline_use_clock(UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstPipeline.self), clock)
    gst_element_set_start_time(pipeline, .max)
    gst_element_set_base_time(pipeline, gst_clock_get_time(clock) - seconds * 1_000_000_000)
  }

  func waitForState() {
    #expect(gst_element_get_state(pipeline, nil, nil, 20_000_000_000) != GST_STATE_CHANGE_ASYNC)
  }

  /// Plays until a message of one type.
  ///
  /// - Returns: the number of messages of the type `counted` before it.
  @discardableResult
  func play(until last: GstMessageType, counting counted: GstMessageType = GST_MESSAGE_UNKNOWN) -> Int {
    let bus = gst_element_get_bus(pipeline)
    defer { gst_object_unref(bus) }
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    var count = 0
    while let message = gst_bus_timed_pop(bus, 20_000_000_000) {
      defer { gst_message_unref(message) }
      if message.pointee.type == last { return count }
      if message.pointee.type == counted { count += 1 }
    }
    Issue.record("no message of the type \(last)")
    return count
  }

  /// Seeks to a part of the source.
  ///
  /// - Parameters:
  ///   - start: its beginning in milliseconds.
  ///   - end: its end in milliseconds; nil for that of the source.
  func seek(from start: Int, to end: Int? = nil, rate: Double = 1) {
    let flags = GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
    let isDone = gst_element_seek(
      pipeline, rate, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, start * 1_000_000,
      end == nil ? GST_SEEK_TYPE_NONE : GST_SEEK_TYPE_SET, end.map { $0 * 1_000_000 } ?? -1)
    #expect(isDone != 0)
  }

  /// Sends what comes before the first frame.
  ///
  /// - Parameter start: the start of the segment in nanoseconds.
  func begin(_ harness: UnsafeMutablePointer<GstHarness>, from start: UInt) {
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    segment.start = start
    let caps = gst_caps_from_string("video/x-raw,format=I420,width=16,height=16,framerate=10/1")
    defer { gst_caps_unref(caps) }
    for event in [gst_event_new_stream_start("test"), gst_event_new_caps(caps), gst_event_new_segment(&segment)] {
      #expect(gst_harness_push_event(harness, event) != 0)
    }
  }

  /// Removes the durations from all buffers.
  func removeDurations() {
    probe(GST_PAD_PROBE_TYPE_BUFFER) { _, info, _ in
      if let buffer = info.flatMap(gst_pad_probe_info_get_buffer) { buffer.pointee.duration = .max }
      return GST_PAD_PROBE_OK
    }
  }

  /// The types of the events that the sink sends upstream from now on.
  func upstreamEvents() -> Locked<[GstEventType]> {
    let types = Locked<[GstEventType]>([])
    probe(GST_PAD_PROBE_TYPE_EVENT_UPSTREAM, Unmanaged.passRetained(types).toOpaque()) { _, info, types in
      if let types, let event = info.flatMap(gst_pad_probe_info_get_event) {
        Unmanaged<Locked<[GstEventType]>>.fromOpaque(types).takeUnretainedValue().withLock {
          $0.append(event.pointee.type)
        }
      }
      return GST_PAD_PROBE_OK
    }
    return types
  }

  private func probe(
    _ type: GstPadProbeType, _ context: UnsafeMutableRawPointer? = nil, _ callback: GstPadProbeCallback
  ) {
    let pad = gst_element_get_static_pad(element, "sink")
    defer { gst_object_unref(pad) }
    gst_pad_add_probe(
      pad, type, callback, context,
      { context in if let context { Unmanaged<AnyObject>.fromOpaque(context).release() } })
  }
}
