import CGStreamer
import Testing

@testable import PipSink

@Suite struct HardwareDecoderTests {
  /// A decoder that declares itself a hardware decoder. Machines that run tests usually have no real one.
  private static let name: String = {
    try? PipSink.initialize()
    var info = GTypeInfo()
    info.class_size = guint16(MemoryLayout<GstElementClass>.size)
    info.instance_size = guint16(MemoryLayout<GstElement>.size)
    info.class_init = { elementClass, _ in
      guard let elementClass else { return }
      gst_element_class_set_metadata(
        elementClass.assumingMemoryBound(to: GstElementClass.self), "Test decoder", "Codec/Decoder/Video/Hardware",
        "Decodes nothing", "PipSink's tests")
    }
    let type = g_type_register_static(gst_element_get_type(), "PipSinkTestDecoder", &info, GTypeFlags(rawValue: 0))
    gst_element_register(nil, "pipsinktestdecoder", GST_RANK_MARGINAL.rawValue, type)
    return "pipsinktestdecoder"
  }()

  private func rank() -> guint {
    guard let factory = gst_element_factory_find(Self.name) else { return 0 }
    defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
    return gst_plugin_feature_get_rank(factory)
  }

  @Test func hardwareDecodersArePreferredOrLeftOutAndGetTheirOwnRankBack() {
    let own = rank()
    #expect(own == GST_RANK_MARGINAL.rawValue)
    #expect(ElementInspection.hardwareVideoDecoders.contains(Self.name))
    #expect(!ElementInspection.hardwareVideoDecoders.contains("avdec_h264"))
    HardwareDecoders.preference = .on
    #expect(rank() > GST_RANK_PRIMARY.rawValue)
    HardwareDecoders.preference = .off
    #expect(rank() == GST_RANK_NONE.rawValue)
    HardwareDecoders.preference = .automatic
    #expect(rank() == own)
  }

  @Test func elementsThatAreNotThereAreNotFound() {
    #expect(ElementInspection.exists("videotestsrc"))
    #expect(!ElementInspection.exists("nosuchelement"))
  }
}
