import CGStreamer
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

extension GLPicture {
  /// Whether OpenGL ES can be used. Where it is not installed, tests report that they are skipped.
  static let isInstalled = (try? GLPicture()) != nil
}

/// What OpenGL draws, compared with what the processor draws.
@Suite(.enabled(if: GLPicture.isInstalled)) struct GLPainterTests {
  private let target: GLPicture

  init() throws { target = try GLPicture() }

  /// Expects that two pictures look alike.
  ///
  /// - Parameter twin: a frame with the same picture, from which the expected picture is made; nil for the frame.
  private func compare(
    _ sampleBuffer: SampleBuffer, _ size: PictureSize, gravity: VideoGravity = .resize, twin: SampleBuffer? = nil,
    bound: Double = 45, _ what: String = "", location: SourceLocation = #_sourceLocation
  ) throws {
    #expect(GLPainter.canPaint(sampleBuffer, textureLimit: target.context.textureLimit), sourceLocation: location)
    let painted = try target.paint(sampleBuffer, gravity: gravity, size: size)
    let expected = try rendered(twin ?? sampleBuffer, size: size, gravity: gravity)
    // The processor keeps the alpha of frames. Windows ignore it.
    let ratio = painted.psnr(to: BGRAImage(size: size, opaque: expected.bytes))
    let text = "\(sampleBuffer.pixelBuffer.formatDescription), \(sampleBuffer.orientation), \(gravity), \(size) \(what)"
    #expect(ratio >= bound, "\(ratio) dB: \(text)", sourceLocation: location)
  }

  /// Compares a frame at a size, where libyuv's rounding has to be allowed for.
  ///
  /// When libyuv scales pixels of four bytes, or pairs of chroma, it makes them one to three values darker, and where it
  /// doubles pairs it repeats their rows. So pairs are compared with planes, which it scales better. Its averages of
  /// many samples are rounded down as well.
  private func compareScaled(
    _ frame: SampleBuffer, _ size: PictureSize, gravity: VideoGravity = .resize,
    location: SourceLocation = #_sourceLocation,
    twin: (PixelFormat) throws -> SampleBuffer
  ) throws {
    let format = frame.pixelBuffer.pixelFormat
    let isSmall = size.width * size.height * 4 < frame.pixelBuffer.size.width * frame.pixelBuffer.size.height
    if size == frame.pixelBuffer.size, frame.orientation == .upright, gravity == .resize {
      try compare(frame, size, bound: 50, location: location)
    } else if format.isRGB {
      try compare(frame, size, gravity: gravity, bound: isSmall ? 35 : 42, location: location)
    } else {
      let twin = format == .nv12 || format == .nv21 ? try twin(.i420) : frame
      try compare(frame, size, gravity: gravity, twin: twin, bound: isSmall ? 43 : 45, location: location)
    }
  }

  @Test(arguments: PixelFormat.allCases, ["smpte", "gradient", "zone-plate kx2=20 ky2=20"])
  func everyFormatLooksAsOnTheProcessor(format: PixelFormat, pattern: String) throws {
    let make = { try TestFrame.sampleBuffer(TestFrame.testSource($0, 320, 240, pattern: pattern)) }
    let frame = try make(format)
    // The same size, enlarged, reduced to two thirds, odd, and reduced to less than half in several ways.
    for (width, height) in [
      (320, 240), (640, 480), (213, 160), (319, 241), (101, 77), (160, 120), (80, 60), (90, 50), (400, 100),
    ] {
      try compareScaled(frame, PictureSize(width: width, height: height), twin: make)
    }
  }

  @Test(arguments: PixelFormat.allCases) func oddFramesLookAsOnTheProcessor(_ format: PixelFormat) throws {
    let make = { try TestFrame.sampleBuffer(TestFrame.smoothSource($0, 161, 91)) }
    for (width, height) in [(161, 91), (240, 135), (322, 182), (107, 61), (53, 30)] {
      try compareScaled(make(format), PictureSize(width: width, height: height), twin: make)
    }
  }

  @Test(
    arguments: ["bt601", "bt709", "bt2020", "1:4:0:0", "1:3:5:1", "1:6:5:1"],
    [PixelFormat.i420, .nv12, .yuy2, .y444, .gray8, .p010, .y210])
  func everyMatrixAndRangeIsThatOfTheProcessor(colorimetry: String, format: PixelFormat) throws {
    for pattern in ["smpte75", "smpte100", "gradient"] {
      let frame = try TestFrame.sampleBuffer(
        TestFrame.testSource(format, 140, 80, pattern: pattern, colorimetry: colorimetry))
      try compare(frame, frame.pixelBuffer.size)
    }
  }

  @Test(arguments: PixelFormat.allCases, VideoOrientation.allCases)
  func everyOrientationIsThatOfTheProcessor(format: PixelFormat, orientation: VideoOrientation) throws {
    let make = { (format: PixelFormat) in
      var frame = try TestFrame.sampleBuffer(TestFrame.smoothSource(format, 160, 120))
      frame.orientation = orientation
      return frame
    }
    for (width, height) in [(160, 120), (120, 160), (214, 140), (101, 83), (40, 30), (30, 40)] {
      try compareScaled(make(format), PictureSize(width: width, height: height), twin: make)
    }
  }

  @Test(arguments: PixelFormat.allCases.filter { $0.chromaShift == (1, 0) })
  func eachTwoRowsShareTheirChromaInRotatedFrames(_ format: PixelFormat) throws {
    for orientation in VideoOrientation.allCases where orientation.swapsSides {
      var frame = try TestFrame.sampleBuffer(TestFrame.testSource(format, 160, 120))
      frame.orientation = orientation
      for (width, height) in [(120, 160), (100, 120)] { try compare(frame, PictureSize(width: width, height: height)) }
    }
  }

  @Test(arguments: [PixelFormat.i420, .nv12, .yuy2, .bgrx, .rgb, .i422Ten], VideoGravity.allCases)
  func thePlaceIsThatOfTheProcessor(format: PixelFormat, gravity: VideoGravity) throws {
    for shape in ["1/1", "4/3"] {
      for orientation in [VideoOrientation.upright, VideoOrientation(rotation: .quarter)] {
        let make = { (format: PixelFormat) in
          let source = TestFrame.smoothSource(format, 160, 90)
          var frame = try TestFrame.sampleBuffer(source.replacing("aspect-ratio=1/1", with: "aspect-ratio=\(shape)"))
          frame.orientation = orientation
          return frame
        }
        for (width, height) in [(200, 90), (160, 163), (160, 90)] {
          try compareScaled(
            make(format), PictureSize(width: width, height: height), gravity: gravity, twin: make)
        }
      }
    }
  }

  @Test(arguments: PixelFormat.allCases) func theCropAndTheStridesAreThoseOfTheBuffer(_ format: PixelFormat) throws {
    let plain = try TestFrame.sample(TestFrame.testSource(format, 162, 90, pattern: "smpte100"))
    defer { gst_sample_unref(plain) }
    for padding in [0, 16, 19] {
      let padded = try TestFrame.padded(plain, padding: padding)
      defer { gst_sample_unref(padded) }
      let buffer = try #require(gst_buffer_copy(gst_sample_get_buffer(padded)))
      defer { gst_buffer_unref(buffer) }
      let meta = try #require(gst_buffer_add_meta(buffer, gst_video_crop_meta_get_info(), nil))
      let crop = UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self)
      (crop.pointee.x, crop.pointee.y, crop.pointee.width, crop.pointee.height) = (35, 41, 97, 43)
      let frame = try SampleBuffer(
        pixelBuffer: TestFrame.pixelBuffer(
          owning: #require(gst_sample_new(buffer, gst_sample_get_caps(padded), nil, nil))))
      try compare(frame, frame.pixelBuffer.visibleRect.size, "padded by \(padding)")
    }
  }

  @Test(arguments: [PixelFormat.bgrx, .i420, .p010]) func rowsMayComeFromTheLastToTheFirst(_ format: PixelFormat) throws
  {
    let plain = try TestFrame.sample(TestFrame.testSource(format, 160, 90))
    defer { gst_sample_unref(plain) }
    let buffer = try #require(gst_buffer_copy_deep(gst_sample_get_buffer(plain)))
    defer { gst_buffer_unref(buffer) }
    let info = try VideoFormatDescription.shared(for: gst_sample_get_caps(plain)).info
    let planes = [(info.offset.0, info.stride.0), (info.offset.1, info.stride.1), (info.offset.2, info.stride.2)]
    var offsets: [gsize] = [0, 0, 0, 0]
    var strides: [gint] = [0, 0, 0, 0]
    for index in 0..<format.planeCount {
      let rows = format.planeSize(index, of: PictureSize(width: 160, height: 90)).height
      offsets[index] = planes[index].0 + gsize(planes[index].1 * (rows - 1))
      strides[index] = -planes[index].1
    }
    while let meta = gst_buffer_get_video_meta(buffer) {
      gst_buffer_remove_meta(buffer, UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstMeta.self))
    }
    gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, format.gstFormat, 160, 90, guint(format.planeCount), &offsets, &strides)
    let frame = try SampleBuffer(
      pixelBuffer: TestFrame.pixelBuffer(
        owning: #require(gst_sample_new(buffer, gst_sample_get_caps(plain), nil, nil))))
    try compare(frame, frame.pixelBuffer.size)
  }

  @Test(arguments: PixelFormat.allCases) func coloursAreAdjustedAsOnTheProcessor(_ format: PixelFormat) throws {
    var frame = try TestFrame.sampleBuffer(TestFrame.testSource(format, 160, 120, pattern: "smpte75"))
    for balance in [
      ColorBalance(brightness: 150, contrast: -300), ColorBalance(saturation: 700), ColorBalance(hue: 400),
      ColorBalance(brightness: -100, contrast: 400, hue: -600, saturation: -500),
    ] {
      frame.colorBalance = balance
      try compare(frame, frame.pixelBuffer.size, "\(balance)")
    }
  }

  @Test func nothingOfAnEarlierFrameIsSeen() throws {
    let frames = try [
      TestFrame.testSource(.i420, 160, 90), TestFrame.testSource(.bgra, 96, 64, pattern: "gradient"),
      TestFrame.testSource(.nv12, 160, 90, pattern: "ball"), TestFrame.testSource(.p010, 160, 90, pattern: "red"),
      TestFrame.testSource(.yuy2, 160, 90), TestFrame.testSource(.gray8, 160, 90),
    ].map(TestFrame.sampleBuffer)
    for frame in frames + frames.reversed() {
      try compare(frame, PictureSize(width: 160, height: 90), gravity: .resizeAspect, bound: 42)
    }
  }

  @Test func framesThatOnlyTheProcessorCanDrawAreRefused() throws {
    let plain = try TestFrame.sample(TestFrame.testSource(.i420, 64, 64))
    defer { gst_sample_unref(plain) }
    let frame = try SampleBuffer(pixelBuffer: PixelBuffer(unsafeGstSample: plain))
    #expect(GLPainter.canPaint(frame, textureLimit: 64))
    #expect(!GLPainter.canPaint(frame, textureLimit: 63))
    for caps in ["colorimetry=bt601,interlace-mode=interleaved,field-order=top-field-first", "colorimetry=bt2100-pq"] {
      let source = "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=64,framerate=25/1,\(caps)"
      #expect(try !GLPainter.canPaint(TestFrame.sampleBuffer(source), textureLimit: 64), "\(caps)")
    }
    let buffer = try #require(gst_buffer_copy_deep(gst_sample_get_buffer(plain)))
    defer { gst_buffer_unref(buffer) }
    let overlay = try TestFrame.overlay(.init(width: 32, height: 16), at: .init(x: 8, y: 28, width: 48, height: 16))
    let composition = try #require(gst_video_overlay_composition_new(overlay))
    gst_video_overlay_rectangle_unref(overlay)
    gst_buffer_add_video_overlay_composition_meta(buffer, composition)
    gst_video_overlay_composition_unref(composition)
    let covered = try SampleBuffer(
      pixelBuffer: TestFrame.pixelBuffer(
        owning: #require(gst_sample_new(buffer, gst_sample_get_caps(plain), nil, nil))))
    #expect(!GLPainter.canPaint(covered, textureLimit: 64))
  }
}
