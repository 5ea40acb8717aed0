import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// The caps that the appsink of a stream accepts.
@Suite struct StreamCapsTests {
  /// Sends a query for caps to an appsink after a source with the caps `offered`, and passes the answer to `body`. If
  /// `offered` is nil, the appsink has no source.
  private func answer(
    _ series: FrameFormatSeries, offered: String?, sink: String = "appsink", filter: String? = nil,
    _ body: (UnsafeMutablePointer<GstCaps>) throws -> Void
  ) throws {
    let source = offered.map { "capsfilter caps=\"\($0)\" ! " } ?? ""
    try TestFrame.withPipeline("\(source)\(sink) name=sink identity") { pipeline in
      let sink = try #require(gst_bin_get_by_name(pipeline.asBin, "sink"))
      let pad = try #require(gst_element_get_static_pad(sink, "sink"))
      let filter = filter.flatMap { gst_caps_from_string($0) }
      let query = try #require(gst_query_new_caps(filter))
      defer {
        gst_query_unref(query)
        if let filter { gst_caps_unref(filter) }
        gst_object_unref(pad)
        gst_object_unref(sink)
      }
      StreamCaps(of: sink, series: series).answer(query, on: pad)
      var result: UnsafeMutablePointer<GstCaps>?
      gst_query_parse_caps_result(query, &result)
      try body(#require(result))
    }
  }

  private func takes(_ caps: UnsafeMutablePointer<GstCaps>, _ text: String) -> Bool {
    let other = gst_caps_from_string(text)
    defer { gst_caps_unref(other) }
    return gst_caps_can_intersect(caps, other) != 0
  }

  private static let (i420, bgra) = ("video/x-raw,format=I420", "video/x-raw,format=BGRA")
  private static let gl = "video/x-raw(memory:GLMemory),format=RGBA"

  @Test func theKindThatTheConsumerWantsIsAllThatIsTakenWhereItCanBeHad() throws {
    for (series, wanted, other) in [(FrameFormatSeries.rgb, Self.bgra, Self.i420), (.yuv, Self.i420, Self.bgra)] {
      try answer(series, offered: "\(Self.i420); \(Self.bgra); \(Self.gl)") { caps in
        #expect(takes(caps, wanted), "\(series)")
        #expect(!takes(caps, other) && !takes(caps, Self.gl), "\(series)")
      }
    }
  }

  @Test func oneFormatIsAllThatIsTakenWhereItCanBeHad() throws {
    let nv12 = "video/x-raw,format=NV12"
    try answer(.exactly(.nv12), offered: "\(Self.i420); \(nv12); \(Self.bgra)") { caps in
      #expect(takes(caps, nv12) && !takes(caps, Self.i420) && !takes(caps, Self.bgra))
    }
    try answer(.exactly(.nv12), offered: Self.bgra) { #expect(takes($0, Self.bgra)) }
  }

  @Test func ofSeveralFormatsTheFirstOneThatCanBeHadIsPreferred() {
    #expect(FrameFormatSeries.oneOf([.nv12, .i420]).capsString == "video/x-raw, format=(string){ NV12, I420 }")
    #expect(FrameFormatSeries.oneOf([]).capsString == FrameFormatSeries.any.capsString)
    let fallbacks: [([PixelFormat], PixelFormat)] = [([.p010, .nv12, .i420], .nv12), ([.p010], .p010), ([], .i420)]
    for (wanted, fallback) in fallbacks {
      #expect(FrameFormatSeries.oneOf(wanted).fallback == fallback)
    }
  }

  @Test func anotherKindIsTakenWhereItCannot() throws {
    try answer(.rgb, offered: Self.i420) { #expect(takes($0, Self.i420)) }
    try answer(.yuv, offered: "\(Self.gl); \(Self.bgra)") { caps in
      #expect(takes(caps, Self.bgra) && !takes(caps, Self.gl))
    }
  }

  @Test func aGPUsMemoryIsTakenWhereThereIsNoOther() throws {
    try answer(.any, offered: Self.gl) { #expect(takes($0, Self.gl)) }
    try answer(.any, offered: "video/x-raw(memory:DMABuf),format=DMA_DRM") { caps in
      #expect(takes(caps, "video/x-raw(memory:DMABuf)") && !takes(caps, Self.i420))
    }
  }

  @Test func whatIsNoVideoIsNotTaken() throws {
    try answer(.any, offered: "audio/x-raw") { #expect(gst_caps_is_empty($0) != 0) }
    try answer(.any, offered: "video/x-raw,format=NV12_64Z32") { #expect(gst_caps_is_empty($0) != 0) }
  }

  @Test func beforeAnybodyIsThereAllIsPossibleTheMostWantedFirst() throws {
    try answer(.rgb, offered: nil) { caps in
      #expect(takes(caps, Self.i420) && takes(caps, Self.bgra) && takes(caps, Self.gl))
      let fixed = try #require(gst_caps_fixate(gst_caps_ref(caps)))
      defer { gst_caps_unref(fixed) }
      let rgb = PixelFormat.allCases.filter(\.isRGB).map(\.rawValue).joined(separator: ",")
      #expect(takes(fixed, "video/x-raw,format={\(rgb)}"))
    }
  }

  @Test func theAppsinksOwnCapsAreABound() throws {
    let sink = "appsink caps=\"video/x-raw,format=(string){NV12,RGB}\""
    try answer(.any, offered: nil, sink: sink) { caps in
      #expect(takes(caps, "video/x-raw,format=NV12") && takes(caps, "video/x-raw,format=RGB"))
      #expect(!takes(caps, Self.i420) && !takes(caps, Self.gl))
    }
    try answer(.rgb, offered: "video/x-raw,format={NV12,RGB,BGRA}", sink: sink) { caps in
      #expect(takes(caps, "video/x-raw,format=RGB"))
      #expect(!takes(caps, "video/x-raw,format=NV12") && !takes(caps, Self.bgra))
    }
  }

  @Test func theAnswerStaysWithinTheQuestion() throws {
    try answer(.any, offered: nil, filter: "\(Self.i420),width=64; audio/x-raw") { caps in
      #expect(gst_caps_get_size(caps) == 1)
      #expect(takes(caps, "\(Self.i420),width=64"))
      #expect(!takes(caps, "\(Self.i420),width=65") && !takes(caps, Self.bgra))
    }
  }
}
