import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// How an engine sets up the appsinks of a description.
@Suite(.timeLimit(.minutes(5))) struct StreamSinkTests {
  private static let caps = "video/x-raw,format=GRAY8,width=4,height=2,framerate=30/1"

  /// Runs `body` with an engine that plays the buffers of `appsrc name=src`.
  private func withEngine(
    _ sink: String, _ body: (VideoEngine, UnsafeMutablePointer<GstElement>, CountingConsumer) async throws -> Void
  ) async throws {
    let engine = try VideoEngine(
      .text("appsrc name=src format=time do-timestamp=true caps=\"\(Self.caps)\" ! \(sink) name=a sync=false"))
    let consumer = CountingConsumer()
    try await engine.start { _ in consumer }
    let source = try #require(engine.withUnsafeElement(named: "src") { gst_object_ref($0) } ?? nil)
    defer { gst_object_unref(source) }
    try await body(engine, source.assumingMemoryBound(to: GstElement.self), consumer)
  }

  /// Makes a frame of one shade of gray. The source sets its time, because ThreadSanitizer would report a race if the
  /// test wrote into the buffer's fields: it does not see the source's lock.
  private func buffer(_ gray: UInt8 = 0) -> UnsafeMutablePointer<GstBuffer>? {
    let buffer = gst_buffer_new_allocate(nil, 8, nil)
    gst_buffer_memset(buffer, 0, gray, 8)
    return buffer
  }

  @Test func itsAppsinksAreStillAppsinks() async throws {
    try await withEngine("appsink max-buffers=3") { engine, _, _ in
      let found = try #require(
        engine.withUnsafeElement(named: "a") { sink in
          var maximum: guint = 0
          sink.withMemoryRebound(to: GstAppSink.self, capacity: 1) { maximum = gst_app_sink_get_max_buffers($0) }
          let factory = gst_element_get_factory(sink).map {
            UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstObject.self).objectName
          }
          return (sink.isA(gst_app_sink_get_type()), factory, maximum)
        })
      #expect(found == (true, "appsink", 3))
    }
  }

  @Test func theFramesOfABufferListComeOneByOne() async throws {
    try await withEngine("appsink") { _, source, consumer in
      let list = gst_buffer_list_new()
      for gray in 0..<5 { gst_buffer_list_insert(list, -1, buffer(UInt8(gray))) }
      source.withMemoryRebound(to: GstAppSrc.self, capacity: 1) { _ = gst_app_src_push_buffer_list($0, list) }
      #expect(await eventually { consumer.sampleBuffers.count == 5 })
      let grays = try consumer.sampleBuffers.map {
        try $0.pixelBuffer.withPlane(0) { bytes, _ in bytes.unsafeLoad(as: UInt8.self) }
      }
      #expect(grays == [0, 1, 2, 3, 4])
    }
  }

  /// A stream that is not visible may have no frames for hours, but it has events all the time.
  @Test func eventsDoNotPileUpWhileThereAreNoFrames() async throws {
    try await withEngine("appsink") { engine, _, _ in
      let event = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("test"))
      defer { gst_event_unref(event) }
      engine.withUnsafeElement(named: "a") { sink in
        let pad = gst_element_get_static_pad(sink, "sink")
        defer { gst_object_unref(pad) }
        gst_pad_send_event(pad, gst_event_ref(event))
      }
      #expect(event?.pointee.mini_object.refcount == 1)
    }
  }

  @Test func aStreamThatStartsInAPauseShowsItsFirstFrameOnce() async throws {
    let engine = try VideoEngine(
      .text("appsrc name=src format=time do-timestamp=true caps=\"\(Self.caps)\" ! appsink name=a sync=false"))
    engine.isPaused = true
    let consumer = CountingConsumer()
    try await engine.start { _ in consumer }
    let push = { (gray: UInt8) in
      _ = engine.withUnsafeElement(named: "src") { source in
        source.withMemoryRebound(to: GstAppSrc.self, capacity: 1) { gst_app_src_push_buffer($0, self.buffer(gray)) }
      }
    }
    push(1)
    #expect(await eventually { engine.state == .paused && consumer.sampleBuffers.count == 1 })
    #expect(consumer.sampleBuffers.first?.attachments.mustNotBeDropped == true)
    engine.isPaused = false
    push(2)
    #expect(await eventually { consumer.sampleBuffers.count >= 2 })
    let grays = try consumer.sampleBuffers.map {
      try $0.pixelBuffer.withPlane(0) { bytes, _ in bytes.unsafeLoad(as: UInt8.self) }
    }
    #expect(grays == [1, 2])
    await engine.stop()
  }

  @Test func whatIsLeftOverInADecoderReachesNobodyAndStopsNothing() async throws {
    try await withEngine("appsink") { engine, source, consumer in
      let push = { (gray: UInt8) in
        source.withMemoryRebound(to: GstAppSrc.self, capacity: 1) { _ = gst_app_src_push_buffer($0, self.buffer(gray)) }
      }
      push(1)
      // Before the pipeline plays, the source has no clock, and its frames have no times.
      #expect(await eventually { consumer.sampleBuffers.count == 1 && engine.state == .running })
      // This simulates a decoder that resumes with a keyframe of an hour later. The engine leaves out 32 frames and
      // then no more.
      engine.withRun { $0.pipeline.stream("a")?.flow.resume(at: 3_600_000_000_000) }
      for gray in 2...36 as ClosedRange<UInt8> { push(gray) }
      #expect(await eventually { consumer.sampleBuffers.count >= 4 })
      let grays = try consumer.sampleBuffers.map {
        try $0.pixelBuffer.withPlane(0) { bytes, _ in bytes.unsafeLoad(as: UInt8.self) }
      }
      #expect(grays == [1, 34, 35, 36])
      #expect(consumer.sampleBuffers.map(\.sequenceNumber) == [1, 2, 3, 4], "frames that are left out are not counted")
    }
  }

  @Test func newCapsCountFromTheirFirstFrameOn() async throws {
    try await withEngine("appsink") { engine, source, consumer in
      let events = engine.events()
      source.withMemoryRebound(to: GstAppSrc.self, capacity: 1) { source in
        _ = gst_app_src_push_buffer(source, buffer())
        let caps = gst_caps_from_string("video/x-raw,format=GRAY8,width=2,height=2,framerate=30/1")
        gst_app_src_set_caps(source, caps)
        gst_caps_unref(caps)
        _ = gst_app_src_push_buffer(source, buffer())
      }
      #expect(await eventually { consumer.sampleBuffers.count == 2 })
      #expect(consumer.sampleBuffers.map(\.pixelBuffer.size.width) == [4, 2])
      var sizes: [Int] = []
      for await event in events {
        if case .formatChanged("a", let format) = event { sizes.append(format.size.width) }
        if sizes.last == 2 { break }
      }
      #expect(sizes == [4, 2])
    }
  }
}
