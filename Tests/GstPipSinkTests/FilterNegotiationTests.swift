import CGStreamer
import CGStreamerCheck
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// `pipsinkfilter`: caps, orientation and pixels. GStreamer's own filters serve as the reference.
@Suite struct FilterNegotiationTests {
  init() throws { try PipSinkPlugin.register() }

  // MARK: - Pixels

  @Test(
    arguments: [
      ("rotate:90", "90r"), ("rotate:180", "180"), ("rotate:270", "90l"), ("mirror:horizontal", "horiz"),
      ("mirror:vertical", "vert"), ("rotate:90,mirror:horizontal", "ul-lr"),
    ], [PixelFormat.i420, .nv12, .y444, .bgra, .rgb, .gray8])
  func turnedPicturesAreVideoflips(call: (String, String), format: PixelFormat) throws {
    let source = try TestFrame.keptPixelBuffer(TestFrame.testSource(format, 64, 48, pixelAspectRatio: "4/3"))
    let ours = try TestFrame.pixelBuffer(owning: Oracle.pushed(source, through: "pipsinkfilter process=\(call.0)"))
    let theirs = try Oracle.flipped(source, method: call.1)
    #expect(ours.formatDescription.looksLike(theirs.formatDescription), "\(ours.formatDescription.capsDescription)")
    #expect(try PixelComparison.areEqual(ours, theirs))
  }

  @Test(arguments: [PixelFormat.i420, .yv12, .nv12, .nv21, .y444, .i422], [(64, 48), (62, 33)])
  func greyPicturesAreVideobalances(format: PixelFormat, size: (Int, Int)) throws {
    let source = try TestFrame.keptPixelBuffer(TestFrame.testSource(format, size.0, size.1))
    let ours = try TestFrame.pixelBuffer(owning: Oracle.pushed(source, through: "pipsinkfilter process=grayscale"))
    let theirs = try TestFrame.pixelBuffer(owning: Oracle.pushed(source, through: "videobalance saturation=0"))
    #expect(try PixelComparison.areEqual(ours, theirs))
  }

  @Test func rowsWithPaddingAreReadAsTheyLie() throws {
    let tight = try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 62, 34))
    let padded = try TestFrame.padded(tight, padding: 24)
    for process in ["grayscale", "rotate:90", "format:BGRA"] {
      let pictures = try [tight, padded].map {
        try TestFrame.pixelBuffer(owning: Oracle.pushed($0, through: "pipsinkfilter process=\(process)"))
      }
      #expect(try PixelComparison.areEqual(pictures[0], pictures[1]), "\(process)")
    }
  }

  // MARK: - Before there is a frame

  /// Returns the caps that a source can deliver to the filter, of those that `offered` lists.
  private func taken(offered: String, _ process: String, _ wanted: String) throws -> String {
    try TestFrame.withPipeline(
      "capsfilter name=in caps=\"\(offered)\" ! pipsinkfilter process=\(process) ! capsfilter caps=\"\(wanted)\""
    ) { pipeline in
      let source = try #require(gst_bin_get_by_name(pipeline.asBin, "in"))
      let pad = try #require(gst_element_get_static_pad(source, "src"))
      let caps = try #require(gst_pad_get_allowed_caps(pad))
      let text = gst_caps_to_string(caps)
      defer {
        g_free(text)
        gst_caps_unref(caps)
        gst_object_unref(pad)
        gst_object_unref(source)
      }
      return text.map { String(cString: $0) } ?? ""
    }
  }

  /// A query with a filter wants its formats, in its order, as those of GStreamer's filters answer it.
  @Test func aQueryForCapsIsAnsweredWithinItsFilterAndInItsOrder() throws {
    func answer(_ filter: String) throws -> String {
      try TestFrame.withPipeline("\(filter) name=it ! fakesink") { pipeline in
        let it = try #require(gst_bin_get_by_name(pipeline.asBin, "it"))
        let pad = try #require(gst_element_get_static_pad(it, "sink"))
        let wanted = gst_caps_from_string("video/x-raw,format=NV12,width=64; video/x-raw,format=I420; video/x-h264")
        let caps = try #require(gst_pad_query_caps(pad, wanted))
        let formats = (0..<gst_caps_get_size(caps)).map { index in
          let structure = gst_caps_get_structure(caps, index)
          return gst_structure_get_string(structure, "format").map { String(cString: $0) } ?? "?"
        }
        for object in [pad.asObject, it.asObject] { gst_object_unref(object) }
        gst_caps_unref(caps)
        gst_caps_unref(wanted)
        return formats.joined(separator: " ")
      }
    }
    #expect(try answer("videoflip") == "NV12 I420")
    for process in ["", "grayscale", "rotate:180"] {
      #expect(try answer("pipsinkfilter process=\"\(process)\"") == "NV12 I420", "\(process)")
    }
  }

  @Test func upstreamHearsWhatLeadsToWhatIsWantedDownstream() throws {
    let any = "video/x-raw"
    let turned = try taken(offered: any, "rotate:90", "video/x-raw,width=240,height=[100,320],pixel-aspect-ratio=4/3")
    #expect(turned.contains("width=(int)[ 100, 320 ]") && turned.contains("height=(int)240"), "\(turned)")
    #expect(turned.contains("pixel-aspect-ratio=(fraction)3/4"), "\(turned)")
    let upright = try taken(offered: any, "rotate:180,mirror:vertical", "video/x-raw,width=240,height=320")
    #expect(upright.contains("width=(int)240") && upright.contains("height=(int)320"), "\(upright)")
    let twice = try taken(offered: any, "rotate:90,rotate:270", "video/x-raw,width=240,height=320")
    #expect(twice.contains("width=(int)240") && twice.contains("height=(int)320"), "\(twice)")
    let made = try taken(offered: any, "format:NV12", "video/x-raw,format={RGB,NV12}")
    #expect(made.contains("format=(string){ NV12, I420,") && made.contains("BGRA"), "\(made)")
    let kept = try taken(offered: any, "grayscale", "video/x-raw,format={RGB,NV12}")
    #expect(kept.contains("RGB") && kept.contains("NV12") && !kept.contains("I420"), "\(kept)")
    let thinned = try taken(offered: any, "decimate:3", "video/x-raw,framerate=10/1")
    #expect(thinned.contains("framerate=(fraction)30/1"), "\(thinned)")
    let limited = try taken(offered: any, "limit-rate:10", "video/x-raw,framerate=10/1")
    #expect(limited.contains("framerate=(fraction)[ 0/1"), "\(limited)")
  }

  @Test func aSourceDeliversWhatTheFilterNeeds() throws {
    let frame = try TestFrame.pixelBuffer(
      "videotestsrc num-buffers=1 ! pipsinkfilter process=format:I420,rotate:90 ! video/x-raw,width=100,height=60")
    #expect(frame.size == PictureSize(width: 100, height: 60) && frame.pixelFormat == .i420)
  }

  @Test func whatDownstreamDoesNotTakeIsNamed() throws {
    let harness = try FilterHarness("rotate:90", following: " ! capsfilter name=behind")
    let behind = try #require(gst_harness_find_element(harness.harness, "capsfilter"))
    defer { gst_object_unref(behind) }
    gst_util_set_object_arg(
      UnsafeMutableRawPointer(behind).assumingMemoryBound(to: GObject.self), "caps", "video/x-raw,width=32,height=24")
    harness.setCaps()
    #expect(harness.push() != GST_FLOW_OK)
    let warning = try #require(harness.message(GST_MESSAGE_WARNING))
    #expect(
      warning.contains("the elements that follow do not accept the output of \"rotate:90\": video/x-raw"), "\(warning)")
    #expect(warning.contains("width=(int)24, height=(int)32"))
  }

  // MARK: - While the pipeline plays

  @Test func anotherProcessorHasOtherCapsFromTheNextFrameOn() throws {
    let harness = try FilterHarness()
    harness.setCaps()
    let cases: [(String?, Int, PixelFormat)] = [
      (nil, 32, .i420), ("rotate:90", 24, .i420), ("rotate:270,nv12", 24, .nv12), ("format:BGRA", 32, .bgra),
      ("grayscale", 32, .i420), (nil, 32, .i420), ("rotate:90", 24, .i420),
    ]
    for (process, width, format) in cases {
      harness.set(process: process)
      #expect(harness.push() == GST_FLOW_OK)
      #expect(harness.outputFormat?.size.width == width && harness.outputFormat?.pixelFormat == format)
      let output = try harness.pullPicture()
      #expect(output.isLaidOutByCaps && gst_buffer_get_size(output.buffer) == (format == .bgra ? 3072 : 1152))
    }
    // The source may also change the size of its frames.
    harness.setCaps("video/x-raw,format=NV12,width=80,height=64,framerate=25/1")
    #expect(harness.push(byteCount: 80 * 64 * 3 / 2) == GST_FLOW_OK)
    #expect(harness.outputFormat?.description == "NV12 64x80 at 25/1")
  }

  @Test func whatDownstreamDoesNotTakeIsNotBegunAndNoFrameIsLost() throws {
    let harness = try FilterHarness("grayscale", following: " ! capsfilter caps=video/x-raw,width=32,height=24")
    harness.setCaps()
    harness.push(number: 1)
    harness.set(process: "rotate:90,mirror:vertical")
    for number in 2..<5 { #expect(harness.push(number: number) == GST_FLOW_OK) }
    #expect(harness.waiting == 4 && harness.count("passed") == 4)
    let warning = try #require(harness.message(GST_MESSAGE_WARNING))
    #expect(
      warning.contains("the elements that follow do not accept the output of \"rotate:90,mirror:vertical\""),
      "\(warning)")
    #expect(warning.contains("videoscale"))
    #expect(harness.message(GST_MESSAGE_WARNING) == nil)
    harness.set(process: "mirror:vertical")
    #expect(harness.push() == GST_FLOW_OK && harness.message(GST_MESSAGE_WARNING) == nil)
  }

  // MARK: - Orientation

  @Test func whatIsTurnedByItsTagIsUprightForWhatFollows() throws {
    let harness = try FilterHarness("rotate:auto")
    harness.setCaps()
    let turn = VideoOrientation(rotation: .quarter, isMirrored: true)
    harness.pushTag(turn)
    #expect(harness.pullOrientation() == .upright)
    #expect(harness.push() == GST_FLOW_OK)
    #expect(harness.outputFormat?.size == PictureSize(width: 24, height: 32))
    // When the filter stops rotating by the tag, the tag is sent again. When the filter rotates by a fixed angle, the
    // tag is not sent again.
    harness.set(process: nil)
    #expect(harness.push() == GST_FLOW_OK && harness.pullOrientation() == turn)
    harness.set(process: "rotate:90")
    #expect(harness.push() == GST_FLOW_OK && harness.pullOrientation() == nil)
    harness.set(process: "rotate:auto,grayscale")
    #expect(harness.push() == GST_FLOW_OK && harness.pullOrientation() == .upright)
    #expect(harness.waiting == 4)
  }

  @Test func theNextStreamIsNotTurnedByTheTagOfTheOneBefore() throws {
    let harness = try FilterHarness("rotate:auto")
    harness.setCaps()
    harness.pushTag(VideoOrientation(rotation: .quarter))
    #expect(harness.push() == GST_FLOW_OK)
    #expect(harness.outputFormat?.size == PictureSize(width: 24, height: 32))
    gst_harness_push_event(harness.harness, gst_event_new_stream_start("the next one"))
    harness.setCaps("video/x-raw,format=I420,width=64,height=48,framerate=25/1")
    #expect(harness.push(byteCount: 64 * 48 * 3 / 2) == GST_FLOW_OK)
    #expect(harness.outputFormat?.size == PictureSize(width: 64, height: 48))
  }

  @Test func whatIsTurnedByItsMetaHasNoMetaAfterwards() throws {
    for (process, size, keepsMeta) in [
      ("rotate:auto", PictureSize(width: 24, height: 32), false),
      ("grayscale", PictureSize(width: 32, height: 24), true),
    ] {
      let harness = try FilterHarness(process)
      harness.setCaps()
      for _ in 0..<2 {
        let buffer = try #require(gst_harness_create_buffer(harness.harness, 32 * 24 * 3 / 2))
        let meta = try #require(gst_buffer_add_meta(buffer, gst_video_affine_transformation_meta_get_info(), nil))
        UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoAffineTransformationMeta.self).pointee.matrix = (
          0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1
        )
        #expect(harness.push(buffer) == GST_FLOW_OK)
        #expect(harness.outputFormat?.size == size, "\(process)")
        let output = try #require(harness.pull())
        defer { gst_buffer_unref(output) }
        #expect((VideoOrientation(affineMetaOf: output) == .init(rotation: .quarter)) == keepsMeta, "\(process)")
      }
      #expect(harness.pullOrientation() == nil)
    }
  }

  @Test func everyOrientationIsReadAsItIsWritten() throws {
    try PipSink.initialize()
    for orientation in VideoOrientation.allCases {
      let tags = gst_tag_list_new_from_string("taglist,image-orientation=\(orientation.tag)")
      defer { gst_tag_list_unref(tags) }
      #expect(try VideoOrientation(tags: #require(tags)) == orientation)
    }
  }
}
