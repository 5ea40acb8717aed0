import CGStreamer
import CGStreamerCheck
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// What the element does with frames whose memory the processor cannot read.
@Suite struct ElementMemoryTests {
  private static let size = "width=64,height=48,framerate=30/1"

  private func skipped(_ state: ElementState) -> UInt64? {
    guard let structure = state.makeStatistics() else { return nil }
    defer { gst_structure_free(structure) }
    var count: guint64 = 0
    return gst_structure_get_uint64(structure, "skipped", &count) == 0 ? nil : UInt64(count)
  }

  /// Returns the caps that a source can deliver to the element, of those that `offered` lists.
  private func taken(offered: String) throws -> String {
    try PipSinkPlugin.register()
    return try TestFrame.withPipeline("capsfilter caps=\"\(offered)\" ! pipsink name=sink surface=none") { pipeline in
      let sink = try #require(gst_bin_get_by_name(pipeline.asBin, "sink"))
      let pad = try #require(gst_element_get_static_pad(sink, "sink"))
      let source = try #require(gst_pad_get_peer(pad))
      let caps = try #require(gst_pad_get_allowed_caps(source))
      let text = gst_caps_to_string(caps)
      defer {
        g_free(text)
        gst_caps_unref(caps)
        for object in [source, pad] { gst_object_unref(object) }
        gst_object_unref(sink)
      }
      return text.map { String(cString: $0) } ?? ""
    }
  }

  @Test(arguments: [
    ("video/x-raw(memory:DMABuf),format=NV12", "vapostproc"),
    ("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x0100000000000001", "vapostproc"),
    ("video/x-raw(memory:GLMemory),format=RGBA", "gldownload"),
    ("video/x-raw(memory:CUDAMemory),format=NV12", "cudadownload"),
  ])
  func framesInAGPUsMemoryAreLeftOutWithOneWarning(caps: String, download: String) throws {
    let harness = try ElementHarness()
    let frames = try UnmappableFrames()
    gst_harness_set_src_caps_str(harness.harness, "\(caps),\(Self.size)")
    for _ in 0..<4 {
      #expect(gst_harness_push(harness.harness, try frames.makeBuffer(byteCount: 64 * 48 * 4)) == GST_FLOW_OK)
    }
    #expect(skipped(harness.state) == 4)
    #expect(harness.received == 0)
    let warning = try #require(harness.message(GST_MESSAGE_WARNING))
    let memory = try #require(caps.split(separator: "(").last?.split(separator: ")").first)
    #expect(warning.contains(memory) && warning.contains(download), "\(warning)")
    #expect(harness.message(GST_MESSAGE_WARNING, seconds: 0) == nil)

    // Frames that can be read are shown again.
    harness.setCaps()
    #expect(harness.push() == GST_FLOW_OK)
    #expect(harness.received == 1 && skipped(harness.state) == 4)
  }

  @Test func framesThatAGPUSharesAreShownWhereTheyCanBeRead() throws {
    let harness = try ElementHarness()
    gst_harness_set_src_caps_str(harness.harness, "video/x-raw(memory:GLMemory),format=I420,width=32,height=24")
    #expect(harness.push() == GST_FLOW_OK)
    #expect(harness.received == 1 && skipped(harness.state) == 0)
  }

  @Test func aRunThatBeginsAnewCountsAndWarnsAnew() throws {
    let harness = try ElementHarness()
    let frames = try UnmappableFrames()
    for _ in 0..<2 {
      gst_harness_set_src_caps_str(harness.harness, "video/x-raw(memory:DMABuf),format=NV12,\(Self.size)")
      harness.pushStart("video/x-raw(memory:DMABuf),format=NV12,\(Self.size)")
      gst_harness_push(harness.harness, try frames.makeBuffer(byteCount: 64 * 48 * 2))
      #expect(skipped(harness.state) == 1)
      #expect(harness.message(GST_MESSAGE_WARNING)?.contains("memory:DMABuf") == true)
      gst_element_set_state(harness.element, GST_STATE_NULL)
      #expect(skipped(harness.state) == 0)
      gst_element_set_state(harness.element, GST_STATE_PLAYING)
    }
  }

  // MARK: - Negotiation

  @Test func memoryThatTheProcessorReadsIsAllThatIsTakenWhereItCanBeHad() throws {
    let both = try taken(offered: "video/x-raw(memory:GLMemory),format=RGBA; video/x-raw,format=NV12")
    #expect(!both.contains("memory:") && both.contains("NV12"), "\(both)")
    let deviceAlone = try taken(offered: "video/x-raw(memory:GLMemory),format=RGBA")
    #expect(deviceAlone.contains("memory:GLMemory") && !deviceAlone.contains("video/x-raw,"), "\(deviceAlone)")
  }

  @Test func whatNoAppsinkOfAnEngineTakesIsRefused() throws {
    let harness = try ElementHarness()
    for caps in ["video/x-raw,format=NV12_64Z32", "audio/x-raw", "video/x-raw(memory:Nobodys),format=I420"] {
      let caps = gst_caps_from_string(caps)
      defer { gst_caps_unref(caps) }
      #expect(gst_pad_peer_query_accept_caps(harness.harness.pointee.srcpad, caps) == 0)
    }
  }

  // MARK: - In an engine

  @Test func anEngineCountsThoseOfItsElements() async throws {
    try PipSinkPlugin.register()
    let engine = try VideoEngine(
      .text(
        """
        appsrc name=gpu caps=video/x-raw(memory:DMABuf),format=NV12,\(Self.size) format=time
          ! pipsink stream-id=a sync=false
        """))
    let consumer = CountingConsumer()
    let events = engine.events()
    try await engine.start { _ in consumer }
    let frames = try UnmappableFrames()
    try engine.withUnsafeElement(named: "gpu") { element in
      let appsrc = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstAppSrc.self)
      for _ in 0..<3 { gst_app_src_push_buffer(appsrc, try frames.makeBuffer(byteCount: 64 * 48 * 2)) }
      gst_app_src_end_of_stream(appsrc)
    }
    var skipped: [String] = []
    for await event in events {
      if case .framesSkipped("a", let caps) = event { skipped.append(caps) }
      if case .finished = event { break }
    }
    #expect(engine.info(of: "a")?.skippedFrameCount == 3)
    #expect(skipped.count == 1 && skipped.first?.contains("memory:DMABuf") == true)
    await engine.stop()
    #expect(consumer.sampleBuffers.isEmpty)
  }
}
