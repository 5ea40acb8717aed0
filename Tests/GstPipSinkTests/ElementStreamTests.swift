import CGStreamer
import CGStreamerCheck
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// What the element does with frames, events and queries.
@Suite struct ElementStreamTests {
  @Test(arguments: PixelFormat.allCases)
  func aPaddedFrameOfEveryFormatArrivesAsItIs(format: PixelFormat) throws {
    let original = try TestFrame.sample(TestFrame.testSource(format, 34, 22))
    let padded = try TestFrame.padded(original, padding: 48)
    defer { gst_sample_unref(padded) }
    let harness = try ElementHarness()
    #expect(harness.push(padded) == GST_FLOW_OK)
    let latest = try #require(harness.latest)
    #expect(latest.formatDescription.pixelFormat == format)
    #expect(try Oracle.planes(latest.pixelBuffer) == Oracle.planes(TestFrame.pixelBuffer(owning: original)))
    let bytes = try latest.pixelBuffer.withPlane(0) { bytes, layout in layout.bytesPerRow }
    #expect(bytes >= 34 + 48, "the padding is gone, so the frame was copied")
  }

  @Test func theFormatMayChangeBetweenFrames() throws {
    let harness = try ElementHarness()
    for (format, width) in [(PixelFormat.i420, 32), (.nv12, 64), (.bgra, 16), (.i420, 32)] {
      harness.setCaps(format, width, 24)
      #expect(harness.push(byteCount: width * 24 * 4) == GST_FLOW_OK)
      #expect(harness.latest?.formatDescription.pixelFormat == format)
      #expect(harness.latest?.pixelBuffer.size.width == width)
    }
    #expect(harness.received == 4)
    #expect(harness.latest?.sequenceNumber == 4)
  }

  @Test func capsThatNobodyCanShowAreRefused() throws {
    let harness = try ElementHarness()
    gst_harness_set_src_caps_str(harness.harness, "video/x-raw,format=AYUV64,width=32,height=24,framerate=30/1")
    #expect(harness.push() == GST_FLOW_NOT_NEGOTIATED)
  }

  @Test func theAllocationQueryOffersAPoolAndTheMetasThatAreRead() throws {
    let harness = try ElementHarness()
    harness.setCaps(.nv12, 320, 240)
    #expect(harness.push(byteCount: 320 * 240 * 3 / 2) == GST_FLOW_OK)
    let caps = gst_pad_get_current_caps(harness.harness.pointee.srcpad)
    defer { gst_caps_unref(caps) }
    let query = try #require(gst_query_new_allocation(caps, 1))
    defer { gst_query_unref(query) }
    #expect(gst_pad_peer_query(harness.harness.pointee.srcpad, query) != 0)
    for meta in [
      gst_video_meta_api_get_type(), gst_video_crop_meta_api_get_type(),
      gst_video_affine_transformation_meta_api_get_type(),
    ] {
      #expect(gst_query_find_allocation_meta(query, meta, nil) != 0)
    }
    #expect(gst_query_get_n_allocation_pools(query) == 1)
    var (pool, size, least, most): (UnsafeMutablePointer<GstBufferPool>?, guint, guint, guint) = (nil, 0, 0, 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &least, &most)
    defer { if let pool { gst_object_unref(pool) } }
    #expect(size == 320 * 240 * 3 / 2)
    let offered = try #require(pool)
    #expect(gst_buffer_pool_set_active(offered, 1) != 0)
    var buffer: UnsafeMutablePointer<GstBuffer>?
    #expect(gst_buffer_pool_acquire_buffer(offered, &buffer, nil) == GST_FLOW_OK)
    let made = try #require(buffer)
    #expect(gst_buffer_get_meta(made, gst_video_meta_api_get_type()) != nil)
    gst_buffer_unref(made)
    gst_buffer_pool_set_active(offered, 0)
  }

  @Test func aFlushIsFollowedByFramesAgain() throws {
    let harness = try ElementHarness()
    harness.setCaps()
    #expect(harness.push() == GST_FLOW_OK)
    #expect(gst_harness_push_event(harness.harness, gst_event_new_flush_start()) != 0)
    #expect(harness.push(milliseconds: 33) == GST_FLOW_FLUSHING)
    #expect(gst_harness_push_event(harness.harness, gst_event_new_flush_stop(1)) != 0)
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    segment.start = 1_000_000_000
    segment.time = 1_000_000_000
    #expect(gst_harness_push_event(harness.harness, gst_event_new_segment(&segment)) != 0)
    // A frame from before the start of the segment is not shown.
    #expect(harness.push(milliseconds: 500) == GST_FLOW_OK)
    #expect(harness.received == 1)
    #expect(harness.push(milliseconds: 1100) == GST_FLOW_OK)
    #expect(harness.received == 2)
  }

  @Test func aGapAndTheEndAreTaken() throws {
    let harness = try ElementHarness()
    harness.setCaps()
    #expect(harness.push() == GST_FLOW_OK)
    #expect(gst_harness_push_event(harness.harness, gst_event_new_gap(33_000_000, 33_000_000)) != 0)
    #expect(harness.push(milliseconds: 66) == GST_FLOW_OK)
    #expect(gst_harness_push_event(harness.harness, gst_event_new_eos()) != 0)
    #expect(harness.message(GST_MESSAGE_EOS) == nil, "the message of the end has no structure")
    #expect(harness.push(milliseconds: 99) == GST_FLOW_EOS)
    #expect(harness.received == 2)
  }

  @Test(arguments: [true, false])
  func aPausedElementShowsTheFirstFrameOnceIfItIsToldTo(showsPreroll: Bool) throws {
    try PipSinkPlugin.register()
    let sink = "pipsink name=sink surface=none sync=false show-preroll-frame=\(showsPreroll)"
    try TestFrame.withPipeline("videotestsrc num-buffers=5 ! \(sink)") { pipeline in
      let sink = try #require(gst_bin_get_by_name(pipeline.asBin, "sink"))
      defer { gst_object_unref(sink) }
      gst_element_set_state(pipeline, GST_STATE_PAUSED)
      #expect(gst_element_get_state(pipeline, nil, nil, 20_000_000_000) == GST_STATE_CHANGE_SUCCESS)
      let member = try #require(PipSinkElement.state(of: sink).member)
      #expect(member.statistics?.received == (showsPreroll ? 1 : 0))
      try TestFrame.run(pipeline)
      #expect(member.statistics?.received == 5)
    }
  }

  @Test func lateFramesAreLeftOutAndUpstreamIsTold() throws {
    try PipSinkPlugin.register()
    // Each frame takes twice its duration to arrive.
    let source = "videotestsrc num-buffers=20 ! video/x-raw,framerate=100/1 ! identity sleep-time=20000"
    try TestFrame.withPipeline("\(source) ! pipsink surface=none max-lateness=5000000") { pipeline in
      let messages = try TestFrame.run(pipeline, wanting: GST_MESSAGE_QOS)
      #expect(messages.contains(GST_MESSAGE_QOS))
    }
  }

  @Test func theLastSampleIsTheNewestFrame() throws {
    let harness = try ElementHarness()
    harness.setCaps()
    #expect(harness.push() == GST_FLOW_OK)
    #expect(harness.push(milliseconds: 33) == GST_FLOW_OK)
    let sink = UnsafeMutableRawPointer(harness.element).assumingMemoryBound(to: GstBaseSink.self)
    let sample = try #require(gst_base_sink_get_last_sample(sink))
    defer { gst_sample_unref(sample) }
    #expect(gst_sample_get_buffer(sample).pointee.pts == 33_000_000)
  }

  @Test func aTagTurnsThePictureAndTheDirectionPropertyTurnsItInstead() throws {
    let harness = try ElementHarness()
    harness.setCaps()
    let tags = gst_tag_list_new_from_string("taglist, image-orientation=(string)rotate-90;")
    #expect(gst_harness_push_event(harness.harness, gst_event_new_tag(tags)) != 0)
    harness.push()
    #expect(harness.latest?.orientation == VideoOrientation(rotation: .quarter))
    harness.set("video-direction", "180")
    harness.push(milliseconds: 33)
    #expect(harness.latest?.orientation == VideoOrientation(rotation: .half))
    harness.set("video-direction", "identity")
    harness.push(milliseconds: 50)
    #expect(harness.latest?.orientation == .upright)
    harness.set("video-direction", "auto")
    harness.push(milliseconds: 66)
    #expect(harness.latest?.orientation == VideoOrientation(rotation: .quarter))
  }

  @Test func aStreamIsNamedByTheApplicationOrElseByItsTitleOrItsID() async throws {
    let harness = try ElementHarness("surface=offscreen sync=false stream-id=a session=\(#function)")
    let notifications = ElementPlaybackTests.Notifications("stream-name", of: harness.element)
    func name() async throws -> String { try await harness.onInterface { $0.session.participant(of: "a").name } }
    func tell(_ tags: String) {
      let list = gst_tag_list_new_from_string("taglist, \(tags)")
      #expect(gst_harness_push_event(harness.harness, gst_event_new_tag(list)) != 0)
    }
    harness.setCaps()
    harness.push()
    #expect(harness.value("stream-name") == "a")
    #expect(try await name() == "a")
    tell("title=(string)Film")
    #expect(harness.value("stream-name") == "Film")
    #expect(try await name() == "Film")
    #expect(notifications.count.withLock { $0 } == 1)
    // Other tags leave the title as it is.
    tell("artist=(string)Somebody")
    #expect(try await name() == "Film")
    harness.set("stream-name", "Anna")
    tell("title=(string)Another")
    #expect(try await name() == "Anna")
    #expect(notifications.count.withLock { $0 } == 2, "the application has set the name once")
    // What another part of the application has said stays until the property changes.
    try await harness.onInterface { try? $0.session.setName("Ben", of: "a") }
    harness.set("gravity", "resize")
    #expect(try await name() == "Ben")
    var none = GValue()
    g_value_init(&none, GType(16 << 2))
    g_object_set_property(
      UnsafeMutableRawPointer(harness.element).assumingMemoryBound(to: GObject.self), "stream-name", &none)
    g_value_unset(&none)
    #expect(harness.value("stream-name") == "Another")
    #expect(try await name() == "Another")
    // Another stream has another title, or none.
    #expect(gst_harness_push_event(harness.harness, gst_event_new_stream_start("other")) != 0)
    #expect(harness.value("stream-name") == "a")
    #expect(try await name() == "a")
  }

  @Test func processorsAndTheRateLimitMayChangeWhilePlaying() throws {
    let harness = try ElementHarness("surface=none sync=false rate-limit=10")
    harness.setCaps()
    for index in 0..<30 { harness.push(milliseconds: UInt(index) * 33) }
    #expect((9...11).contains(harness.received))
    harness.set("rate-limit", "0")
    harness.set("process", "grayscale,decimate:2")
    let before = harness.received
    for index in 30..<40 { harness.push(milliseconds: UInt(index) * 33) }
    #expect(harness.received == before + 5)
    // A list with an error is refused, and the previous processors stay.
    harness.set("process", "nonsense")
    #expect(harness.message(GST_MESSAGE_WARNING)?.contains("nonsense") == true)
    for index in 40..<50 { harness.push(milliseconds: UInt(index) * 33) }
    #expect(harness.received == before + 10)
  }

  @Test func aSurfaceThatRefusesEveryFrameIsAWarningOnTheBus() throws {
    let harness = try ElementHarness("surface=offscreen sync=false session=\(#function)")
    harness.setCaps()
    #expect(harness.push(byteCount: 10) == GST_FLOW_OK)
    let warning = harness.message(GST_MESSAGE_WARNING)
    #expect(warning?.contains("cannot be mapped") == true, "\(warning ?? "none")")
    #expect(harness.push() == GST_FLOW_OK)
  }
}
