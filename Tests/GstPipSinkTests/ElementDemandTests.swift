import CGStreamer
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// How large the element's pictures have to be.
@Suite(.timeLimit(.minutes(5))) struct ElementDemandTests {
  @Test func theElementSaysHowLargeItsPicturesHaveToBe() async throws {
    let harness = try ElementHarness("surface=offscreen sync=false session=\(#function)")
    harness.setCaps()
    harness.push()
    #expect(harness.elementMessages(until: "demand-changed").last == "demand-changed")
    let shown = try await harness.onInterface { adapter in adapter.session.streams.first?.demand }
    guard case .size(let size) = shown else {
      Issue.record("the surface in memory has a size, and not \(String(describing: shown))")
      return
    }
    #expect(harness.value("wanted-width") == "\(size.width)")
    #expect(harness.value("wanted-height") == "\(size.height)")
    harness.set("camera-off", "true")
    #expect(harness.elementMessages(until: "demand-changed").last == "demand-changed")
    #expect(harness.value("wanted-width") == "0")
    #expect(harness.value("wanted-height") == "0")
  }

  @Test func withoutBackgroundDecodingTheDecoderRestsWhileNobodySeesTheStream() async throws {
    try PipSinkPlugin.register()
    let pipeline = try #require(
      gst_parse_launch(
        """
        videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=60/1
          ! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=600 ! h264parse ! avdec_h264
          ! pipsink name=p surface=offscreen session=resting background-decoding=false
        """, nil))
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(pipeline)
    }
    let bin = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    let element = try #require(gst_bin_get_by_name(bin, "p"))
    defer { gst_object_unref(element) }
    let state = PipSinkElement.state(of: element)
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    func received() -> UInt64 { state.member?.statistics?.received ?? 0 }
    #expect(await eventually { received() > 5 })
    gst_util_set_object_arg(
      UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "camera-off", "true")
    let upstream = try #require(state.member?.upstream)
    #expect(await eventually { upstream.flow.withheld.load(ordering: .relaxed) > 30 })
    let count = received()
    let withheld = upstream.flow.withheld.load(ordering: .relaxed)
    #expect(await eventually { upstream.flow.withheld.load(ordering: .relaxed) > withheld + 30 })
    #expect(received() == count)
    gst_util_set_object_arg(
      UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "camera-off", "false")
    // The encoder sends a keyframe by itself every ten seconds only.
    #expect(await eventually { received() > count + 30 })
  }
}
