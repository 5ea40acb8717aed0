import CGStreamer
import CGStreamerCheck
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// Pictures that accompany a frame, such as subtitles. GStreamer's own blending serves as the reference.
@Suite struct OverlayTests {
  private static let frameSize = PictureSize(width: 320, height: 180)

  /// Makes a grey frame without the rectangle, with the rectangle beside it, and with the rectangle blended into it.
  private func frames(
    _ size: PictureSize, at place: PictureRect, and other: PictureRect? = nil
  ) throws -> (plain: SampleBuffer, beside: SampleBuffer, blended: SampleBuffer) {
    let source = "videotestsrc num-buffers=1 pattern=gamut ! video/x-raw,format=BGRx,width=320,height=180"
    let sample = try TestFrame.sample(source)
    defer { gst_sample_unref(sample) }
    let rectangle = try TestFrame.overlay(size, at: place)
    let composition = try #require(gst_video_overlay_composition_new(rectangle))
    gst_video_overlay_rectangle_unref(rectangle)
    defer { gst_video_overlay_composition_unref(composition) }
    if let other {
      let second = try TestFrame.overlay(size, at: other)
      gst_video_overlay_composition_add_rectangle(composition, second)
      gst_video_overlay_rectangle_unref(second)
    }
    let beside = try #require(gst_buffer_copy_deep(gst_sample_get_buffer(sample)))
    gst_buffer_add_video_overlay_composition_meta(beside, composition)
    let blended = try #require(gst_buffer_copy_deep(gst_sample_get_buffer(sample)))
    var (info, frame) = (GstVideoInfo(), GstVideoFrame())
    #expect(gst_video_info_from_caps(&info, gst_sample_get_caps(sample)) != 0)
    #expect(
      gst_video_frame_map(&frame, &info, blended, GstMapFlags(GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue)) != 0)
    #expect(gst_video_overlay_composition_blend(composition, &frame) != 0)
    gst_video_frame_unmap(&frame)
    let format = try VideoFormatDescription.shared(for: gst_sample_get_caps(sample))
    let made = [try #require(gst_buffer_ref(gst_sample_get_buffer(sample))), beside, blended].map {
      SampleBuffer(pixelBuffer: PixelBuffer(owning: $0, formatDescription: format))
    }
    return (made[0], made[1], made[2])
  }

  static let places = [
    PictureRect(x: 20, y: 30, width: 96, height: 40), PictureRect(x: -40, y: 160, width: 96, height: 40),
    PictureRect(x: 280, y: -10, width: 96, height: 40),
  ]

  @Test(arguments: places)
  func aSurfaceOfTheFramesSizeHasWhatGStreamerBlends(place: PictureRect) throws {
    let (plain, beside, blended) = try frames(place.size, at: place)
    let shown = try rendered(beside, size: Self.frameSize).bytes
    let expected = try rendered(blended, size: Self.frameSize).bytes
    // There are two methods to divide by 255.
    #expect(PixelComparison.differ(atMost: 2, shown, expected))
    #expect(!PixelComparison.differ(atMost: 20, shown, try rendered(plain, size: Self.frameSize).bytes))
  }

  @Test func severalRectanglesAreAllShownTheLaterOnesAboveTheOthers() throws {
    let (_, beside, blended) = try frames(
      Self.places[0].size, at: Self.places[0], and: PictureRect(x: 60, y: 50, width: 96, height: 40))
    let (_, alone, _) = try frames(Self.places[0].size, at: Self.places[0])
    let shown = try rendered(beside, size: Self.frameSize).bytes
    #expect(PixelComparison.differ(atMost: 3, shown, try rendered(blended, size: Self.frameSize).bytes))
    #expect(!PixelComparison.differ(atMost: 20, shown, try rendered(alone, size: Self.frameSize).bytes))
  }

  /// Viewers read it, also in films of a phone that was held upright.
  @Test(arguments: VideoOrientation.allCases) func itStaysUprightWhereTheFrameIsTurned(
    orientation: VideoOrientation
  ) throws {
    let place = PictureRect(x: 110, y: 130, width: 100, height: 40)
    var (plain, beside, _) = try frames(place.size, at: place)
    (plain.orientation, beside.orientation) = (orientation, orientation)
    let size = orientation.applied(to: Self.frameSize)
    let (without, with) = (try rendered(plain, size: size), try rendered(beside, size: size))
    let changed = (0..<size.width * size.height).filter {
      with.pixel($0 % size.width, $0 / size.width) != without.pixel($0 % size.width, $0 / size.width)
    }
    let (columns, rows) = (changed.map { $0 % size.width }, changed.map { $0 / size.width })
    let expected =
      orientation.swapsSides
      ? PictureRect(x: 62, y: 276, width: 56, height: 23) : place
    let (left, top) = (try #require(columns.min()), try #require(rows.min()))
    let (right, bottom) = (try #require(columns.max()) + 1, try #require(rows.max()) + 1)
    #expect(PictureRect(x: left, y: top, width: right - left, height: bottom - top) == expected)
    // The left end is the more transparent one.
    let middle = expected.y + expected.height / 2
    let (first, last) = (with.pixel(expected.x, middle), with.pixel(expected.x + expected.width - 1, middle))
    #expect(last[2] > 200 && first[2] != last[2])
  }

  @Test(arguments: [VideoGravity.resize, .resizeAspect, .resizeAspectFill], [(480, 480), (160, 90), (900, 300)])
  func itIsScaledWithTheFrame(gravity: VideoGravity, size: (Int, Int)) throws {
    let (_, beside, blended) = try frames(PictureSize(width: 96, height: 40), at: Self.places[0])
    let size = PictureSize(width: size.0, height: size.1)
    let shown = try rendered(beside, size: size, gravity: gravity).bytes
    let psnr = Oracle.psnr(shown, try rendered(blended, size: size, gravity: gravity).bytes)
    #expect(psnr > 28, "\(psnr) dB")
  }

  /// A window keeps the scaled rectangle from one frame to the next, and the user resizes the window.
  @Test func itFitsASurfaceOfAnotherSizeAndAnotherShape() throws {
    let (_, beside, _) = try frames(PictureSize(width: 96, height: 40), at: Self.places[0])
    func draw(on canvas: inout FrameCanvas, _ size: PictureSize) throws -> [UInt8] {
      var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
      try pixels.withUnsafeMutableBufferPointer { pixels throws(PipSinkError) in
        guard let base = pixels.baseAddress else { return }
        _ = try canvas.draw(beside, gravity: .resize, on: base, stride: size.width * 4, size: size, keeping: nil)
      }
      return pixels
    }
    var canvas = FrameCanvas()
    for (width, height) in [(320, 180), (640, 360), (640, 180), (320, 360), (320, 180)] {
      let size = PictureSize(width: width, height: height)
      var fresh = FrameCanvas()
      let isTheSame = try draw(on: &canvas, size) == draw(on: &fresh, size)
      #expect(isTheSame, "\(width)x\(height)")
    }
  }

  @Test func itHasTheSurfacesPixelsAndNotTheFrames() throws {
    // Each pixel of the frame is as large as four pixels of the rectangle.
    let (_, beside, _) = try frames(PictureSize(width: 192, height: 80), at: Self.places[0])
    let size = PictureSize(width: 640, height: 360)
    let (_, large, _) = try frames(
      PictureSize(width: 192, height: 80), at: PictureRect(x: 40, y: 60, width: 192, height: 80))
    let shown = try rendered(beside, size: size)
    let expected = try rendered(large, size: Self.frameSize)
    // In its right half, the rectangle is so opaque that the frame under it does not matter. The test checks every
    // eighth row.
    for y in stride(from: 4, to: 80, by: 8) {
      let (ours, theirs) = (shown.pixel(40 + 188, 60 + y), expected.pixel(40 + 188, 60 + y))
      #expect(zip(ours, theirs).allSatisfy { abs(Int($0) - Int($1)) < 12 }, "row \(y): \(ours), not \(theirs)")
    }
  }

  @Test func whatIsBesideThePictureStaysBlack() throws {
    let (_, beside, _) = try frames(PictureSize(width: 96, height: 40), at: Self.places[1])
    let image = try rendered(beside, size: PictureSize(width: 320, height: 300), gravity: .resizeAspect)
    for x in stride(from: 0, to: 320, by: 3) {
      #expect(image.pixel(x, 30).prefix(3) == [0, 0, 0] && image.pixel(x, 250).prefix(3) == [0, 0, 0])
    }
  }

  // MARK: - The element

  private static func isInstalled(_ element: String) -> Bool {
    guard let factory = gst_element_factory_find(element) else { return false }
    gst_object_unref(UnsafeMutableRawPointer(factory))
    return true
  }

  /// Describes a source of a text over grey. Only the text has sharp edges.
  ///
  /// - Parameter padding: the distance of the text from the bottom, in rows of the frame. textoverlay rounds the
  ///   position of the text to whole rows.
  private func text(_ size: PictureSize, padding: Int) -> String {
    "videotestsrc pattern=solid-color foreground-color=0xff707070 ! video/x-raw,format=I420,width=\(size.width),"
      + "height=\(size.height),framerate=60/1 ! textoverlay text=Subtitle font-desc=\"Sans 40\" ypad=\(padding)"
  }

  @Test func aTextIsDrawnAtTheWindowsResolution() async throws {
    try PipSinkPlugin.register()
    try #require(Self.isInstalled("textoverlay"))
    let native = PictureSize(width: 640, height: 360)
    let expected = try rendered(
      TestFrame.sampleBuffer("\(text(native, padding: 39)) ! video/x-raw,format=I420"), size: native)
    let enlarged = try rendered(
      TestFrame.sampleBuffer("\(text(Self.frameSize, padding: 20)) ! video/x-raw,format=I420"), size: native)
    let pipeline = try #require(
      gst_parse_launch(
        "\(text(Self.frameSize, padding: 20)) ! pipsink name=sink surface=offscreen session=\(#function)", nil))
    gst_object_ref_sink(pipeline)
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(pipeline)
    }
    let sink = try #require(gst_bin_get_by_name(pipeline.asBin, "sink"))
    defer { gst_object_unref(sink) }
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let state = PipSinkElement.state(of: sink)
    var best = 0.0
    let isSharp = await eventually(within: 20) {
      guard let image = (state.member?.layer.renderer as? OffscreenRenderer)?.image() else { return false }
      best = max(best, Oracle.psnr(image.bytes, expected.bytes))
      return best > 30
    }
    #expect(isSharp, "\(best) dB")
    let blurred = Oracle.psnr(enlarged.bytes, expected.bytes)
    #expect(blurred < best - 5, "the enlarged picture has \(blurred) dB, and the shown one has \(best) dB")
    // If there is a processor, the text is blended into its frames.
    let object = UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GObject.self)
    gst_util_set_object_arg(object, "process", "rotate:180")
    let isInFrame = await eventually(within: 20) {
      guard let latest = state.member.flatMap({ $0.session.router.latestSampleBuffer(of: $0.streamID) }) else {
        return false
      }
      return OverlayComposition(of: latest.pixelBuffer) == nil
        && (try? Oracle.planes(latest.pixelBuffer)[0].contains { $0 > 200 }) == true
    }
    #expect(isInFrame)
  }

  /// textoverlay asks at its caps, and passes the question of the frames' source on, which comes later. When the window
  /// got its size between the two, the text was never rendered again.
  @Test func everyElementThatAsksGetsToKnowTheSize() throws {
    try PipSink.initialize()
    let caps = try #require(gst_caps_from_string("video/x-raw(\(ElementOverlays.capsFeatures)),format=I420"))
    defer { gst_caps_unref(caps) }
    let query = try #require(gst_query_new_allocation(caps, 0))
    defer { gst_query_unref(query) }
    let size = PictureSize(width: 640, height: 360)
    var overlays = ElementOverlays()
    func isOutdated() -> Bool { (0..<10).map { _ in overlays.isOutdated { size } }.contains(true) }
    overlays.note(caps)
    overlays.propose(to: query, size: nil)
    overlays.propose(to: query, size: size)
    #expect(isOutdated(), "the first element does not know the size")
    overlays.propose(to: query, size: size)
    overlays.propose(to: query, size: size)
    #expect(!isOutdated())
    overlays.propose(to: query, size: PictureSize(width: 320, height: 180))
    #expect(isOutdated(), "the window has changed its size")
    #expect(isOutdated(), "nobody has asked since then")
  }

  @Test func overlaysAreOfferedUnlessSomethingElseTakesTheFrames() throws {
    for (properties, isOffered) in [
      ("surface=offscreen", true), ("surface=offscreen process=grayscale", false), ("surface=none", false),
    ] {
      let harness = try ElementHarness("\(properties) sync=false session=\(#function)")
      gst_harness_set_src_caps_str(
        harness.harness,
        "video/x-raw(\(ElementOverlays.capsFeatures)),format=I420,width=32,height=24,framerate=30/1")
      #expect(harness.push() == GST_FLOW_OK)
      let caps = gst_pad_get_current_caps(harness.harness.pointee.srcpad)
      defer { gst_caps_unref(caps) }
      let query = try #require(gst_query_new_allocation(caps, 0))
      defer { gst_query_unref(query) }
      #expect(gst_pad_peer_query(harness.harness.pointee.srcpad, query) != 0)
      let meta = gst_video_overlay_composition_meta_api_get_type()
      #expect((gst_query_find_allocation_meta(query, meta, nil) != 0) == isOffered, "\(properties)")
    }
  }
}
