import CGStreamer
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// What media players ask of every video sink.
@Suite struct ElementPlayerTests {
  @Test func forceAspectRatioStretchesPicturesAndLeavesAChosenGravityAlone() async throws {
    let harness = try ElementHarness("surface=offscreen sync=false session=\(#function)")
    let white = try TestFrame.sample(TestFrame.testSource(.i420, 32, 24, pattern: "white"))
    defer { gst_sample_unref(white) }
    #expect(harness.push(white) == GST_FLOW_OK)
    func corner() -> UInt8? {
      (harness.state.member?.layer.renderer as? OffscreenRenderer)?.image()?.pixel(2, 2)[0]
    }
    #expect(harness.value("force-aspect-ratio") == "true")
    #expect(await eventually { corner() == 0 })
    harness.set("force-aspect-ratio", "false")
    #expect(await eventually { corner() ?? 0 > 200 })
    #expect(harness.value("gravity") == "resize-aspect")
    // This is how playbin sets the property.
    harness.set("force-aspect-ratio", "true")
    #expect(await eventually { corner() == 0 })
    harness.set("gravity", "resize")
    #expect(await eventually { corner() ?? 0 > 200 })
    #expect(harness.value("force-aspect-ratio") == "true")
  }

  @Test(arguments: [true, false])
  func lateFramesAreDroppedAndCountedAndUpstreamHearsOfItUnlessQoSIsOff(qos: Bool) throws {
    try PipSinkPlugin.register()
    let description =
      "videotestsrc num-buffers=40 ! video/x-raw,width=64,height=48,framerate=100/1 ! identity sleep-time=30000 "
      + "! pipsink name=sink surface=none qos=\(qos) session=\(#function)-\(qos)"
    try TestFrame.withPipeline(description) { pipeline in
      let types = try TestFrame.run(pipeline, wanting: GST_MESSAGE_QOS)
      #expect(types.contains(GST_MESSAGE_QOS) == qos)
      let sink = try #require(gst_bin_get_by_name(pipeline.asBin, "sink"))
      defer { gst_object_unref(sink) }
      let statistics = try #require(PipSinkElement.state(of: sink).makeStatistics())
      defer { gst_structure_free(statistics) }
      func count(_ name: String) throws -> UInt64 {
        var count: guint64 = 0
        #expect(gst_structure_get_uint64(statistics, name, &count) != 0, "\(name)")
        return UInt64(count)
      }
      #expect(try count("dropped") > 0)
      #expect(try count("received") == count("rendered"))
      #expect(try count("rendered") + count("dropped") == 40)
    }
  }

  @Test func theLastSampleIsKeptUnlessThatIsSwitchedOff() throws {
    for isEnabled in [true, false] {
      let harness = try ElementHarness("surface=none sync=false enable-last-sample=\(isEnabled)")
      harness.setCaps()
      #expect(harness.push(milliseconds: 70) == GST_FLOW_OK)
      let sample = gst_base_sink_get_last_sample(
        UnsafeMutableRawPointer(harness.element).assumingMemoryBound(to: GstBaseSink.self))
      #expect((sample != nil) == isEnabled)
      if let sample {
        #expect(gst_sample_get_buffer(sample)?.pointee.pts == 70_000_000)
        gst_sample_unref(sample)
      }
    }
  }
}
