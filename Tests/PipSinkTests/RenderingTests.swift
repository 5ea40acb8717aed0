import CGStreamer
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct RenderingTests {
  @Test func aCopyOfWhatAWindowShowsIsOpaque() {
    let image = BGRAImage(size: PictureSize(width: 3, height: 1), opaque: [1, 2, 3, 0, 4, 5, 6, 128, 7, 8, 9, 255])
    #expect(image.bytes == [1, 2, 3, 255, 4, 5, 6, 255, 7, 8, 9, 255])
  }

  @Test(arguments: PixelFormat.allCases, [(640, 360), (641, 361), (1280, 720)])
  func everyFormatIsShownAsVideoconvertShowsIt(format: PixelFormat, size: (Int, Int)) throws {
    let source = TestFrame.smoothSource(format, size.0, size.1)
    try expectEqual(TestFrame.pixelBuffer(source), Oracle.bgra(source))
  }

  @Test(arguments: PixelFormat.allCases, [(640, 360), (641, 361), (3, 5), (2, 2), (1, 1)])
  func hardEdgesAreShownAsVideoconvertShowsThemWithoutInterpolatingChroma(
    format: PixelFormat, size: (Int, Int)
  ) throws {
    // In the packed 4:2:2 formats, videotestsrc leaves half of the last chroma pair of an odd row unwritten.
    let width = format.isPackedYUV ? (size.0 + 1) / 2 * 2 : size.0
    let source = TestFrame.testSource(format, width, size.1, pattern: "smpte100")
    try expectEqual(TestFrame.pixelBuffer(source), Oracle.bgra(source, interpolatesChroma: false))
  }

  @Test(arguments: PixelFormat.allCases)
  func paddedRowsAreNotShown(format: PixelFormat) throws {
    let tight = try TestFrame.sample(TestFrame.testSource(format, 642, 361, pattern: "smpte100"))
    let padded = try TestFrame.pixelBuffer(owning: TestFrame.padded(tight, padding: 32))
    let original = try TestFrame.pixelBuffer(owning: tight)
    let size = padded.size
    let expected = try rendered(SampleBuffer(pixelBuffer: original), size: size).bytes
    #expect(try rendered(SampleBuffer(pixelBuffer: padded), size: size).bytes == expected)
  }

  private func expectEqual(_ pixelBuffer: PixelBuffer, _ expected: [UInt8], location: SourceLocation = #_sourceLocation)
    throws
  {
    let image = try rendered(SampleBuffer(pixelBuffer: pixelBuffer), size: pixelBuffer.size)
    let psnr = Oracle.psnr(image.bytes, expected)
    #expect(psnr >= 40, "\(pixelBuffer.formatDescription): \(psnr) dB", sourceLocation: location)
  }

  /// Compares the colour of each bar with the result of the standards' formulas for Y', Cb and Cr. The dither of ten bits
  /// has that colour on average.
  @Test(
    arguments: ["bt601", "bt709", "bt2020", "1:4:0:0", "1:3:5:1", "1:6:0:0"],
    PixelFormat.allCases.filter { $0.isYUV && $0 != .gray8 })
  func theColorimetryOfTheCapsDecides(colorimetry: String, format: PixelFormat) throws {
    let source = TestFrame.testSource(format, 700, 360, pattern: "smpte75", colorimetry: colorimetry)
    let pixelBuffer = try TestFrame.pixelBuffer(source)
    let image = try rendered(SampleBuffer(pixelBuffer: pixelBuffer), size: pixelBuffer.size)
    let y444 = try TestFrame.pixelBuffer(
      TestFrame.testSource(.y444, 700, 360, pattern: "smpte75", colorimetry: colorimetry))
    for bar in 0..<7 {
      let x = bar * 100 + 50
      let yuv = try (0..<3).map { plane in
        let value = try y444.withPlane(plane) { $0.unsafeLoad(fromByteOffset: 40 * $1.bytesPerRow + x, as: UInt8.self) }
        // GStreamer makes ten bits from eight by repeating the upper two below them.
        return Double(value) + (format.isTenBit ? Double(value >> 6) / 4 : 0)
      }
      let expected = exactBGR(yuv, pixelBuffer.formatDescription.colorimetry)
      let color = average(image, x, 40)
      for (channel, value) in zip(color, expected) {
        #expect(abs(channel - value) <= 2, "bar \(bar): \(color), should be \(expected)")
      }
    }
  }

  /// The average colour of a square as large as the pattern of a dither of chroma.
  private func average(_ image: BGRAImage, _ x: Int, _ y: Int) -> [Double] {
    var sums = [0, 0, 0]
    for row in y..<y + 16 {
      for column in x..<x + 16 {
        let offset = (row * image.size.width + column) * 4
        for channel in 0..<3 { sums[channel] += Int(image.bytes[offset + channel]) }
      }
    }
    return sums.map { Double($0) / 256 }
  }

  /// Converts by the formulas of ITU-R BT.601, BT.709 and BT.2020, whose luma weights define the matrix.
  private func exactBGR(_ yuv: [Double], _ colorimetry: Colorimetry) -> [Double] {
    let (red, blue) =
      switch colorimetry.matrix {
      case .bt601: (0.299, 0.114)
      case .bt709: (0.2126, 0.0722)
      case .bt2020: (0.2627, 0.0593)
      }
    let isFull = colorimetry.isFullRange
    let y = isFull ? yuv[0] : (yuv[0] - 16) * 255 / 219
    let u = (yuv[1] - 128) * (isFull ? 1 : 255.0 / 224)
    let v = (yuv[2] - 128) * (isFull ? 1 : 255.0 / 224)
    let r = y + 2 * (1 - red) * v
    let b = y + 2 * (1 - blue) * u
    let g = (y - red * r - blue * b) / (1 - red - blue)
    return [b, g, r].map { min(255, max(0, $0)) }
  }

  @Test(arguments: [PixelFormat.i420, .nv12, .bgra, .rgb, .yuy2], [(320, 180), (1280, 720), (213, 401)])
  func scaledPicturesLookLikeVideoscales(format: PixelFormat, target: (Int, Int)) throws {
    let source = TestFrame.smoothSource(format, 640, 360)
    let size = PictureSize(width: target.0, height: target.1)
    let image = try rendered(TestFrame.sampleBuffer(source), size: size)
    let psnr = try Oracle.psnr(image.bytes, Oracle.bgra(source, size: size))
    #expect(psnr >= 30, "\(psnr) dB")
  }

  @Test func thePaddingByteOfRGBIsOpaque() throws {
    for format in [PixelFormat.bgrx, .rgbx, .xrgb, .rgb, .bgr, .i420] {
      let image = try rendered(
        TestFrame.sampleBuffer(TestFrame.testSource(format, 17, 9)), size: .init(width: 17, height: 9))
      #expect(stride(from: 3, to: image.bytes.count, by: 4).allSatisfy { image.bytes[$0] == 255 }, "\(format)")
    }
  }

  @Test func theCropMetaIsWhatIsShown() throws {
    // The left bar of smpte100 is white, and the right bar is blue. Only the right bar remains.
    let sample = try TestFrame.sample(TestFrame.testSource(.i420, 640, 360, pattern: "smpte100"))
    let buffer = try #require(gst_buffer_copy(gst_sample_get_buffer(sample)))
    let meta = try #require(gst_buffer_add_meta(buffer, gst_video_crop_meta_get_info(), nil))
    UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self).pointee.x = 560
    UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self).pointee.y = 0
    UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self).pointee.width = 80
    UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self).pointee.height = 100
    let cropped = try #require(gst_sample_new(buffer, gst_sample_get_caps(sample), nil, nil))
    gst_buffer_unref(buffer)
    gst_sample_unref(sample)
    let image = try rendered(
      SampleBuffer(pixelBuffer: TestFrame.pixelBuffer(owning: cropped)), size: .init(width: 80, height: 100))
    for point in [(0, 0), (79, 99), (40, 50)] {
      let pixel = image.pixel(point.0, point.1)
      #expect(pixel[0] > 240 && pixel[1] < 15 && pixel[2] < 15, "\(pixel) at \(point)")
    }
  }

  // MARK: Gravity

  @Test func aspectGravityKeepsAllOfThePictureBetweenBlackBars() throws {
    let white = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 640, 480, pattern: "white"))
    let image = try rendered(white, size: .init(width: 320, height: 180), gravity: .resizeAspect)
    #expect(image.pixel(39, 90) == [0, 0, 0, 255])
    #expect(image.pixel(40, 90).allSatisfy { $0 > 250 })
    #expect(image.pixel(279, 90).allSatisfy { $0 > 250 })
    #expect(image.pixel(280, 90) == [0, 0, 0, 255])
  }

  @Test func fillGravityCutsTheSidesAndResizeStretches() throws {
    // The outer bars of smpte100 are white and blue. A crop to the centre removes both.
    let bars = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 640, 240, pattern: "smpte100"))
    let size = PictureSize(width: 100, height: 100)
    let filled = try rendered(bars, size: size, gravity: .resizeAspectFill)
    let stretched = try rendered(bars, size: size, gravity: .resize)
    #expect(filled.pixel(0, 10)[0] > 240 && filled.pixel(0, 10)[2] < 15, "the left edge is cyan")
    #expect(stretched.pixel(0, 10).allSatisfy { $0 > 240 }, "the left edge is white")
    #expect(stretched.pixel(99, 10)[0] > 240 && stretched.pixel(99, 10)[1] < 15, "the right edge is blue")
  }

  @Test func pixelsThatAreNotSquareAreStretched() throws {
    let wide = try TestFrame.sampleBuffer(
      TestFrame.testSource(.i420, 320, 360, pattern: "white", pixelAspectRatio: "2/1"))
    let image = try rendered(wide, size: .init(width: 640, height: 360), gravity: .resizeAspect)
    #expect(image.pixel(0, 0).allSatisfy { $0 > 250 })
    #expect(image.pixel(639, 359).allSatisfy { $0 > 250 })
  }

  @Test(arguments: VideoGravity.allCases, [(1, 1), (1, 4000), (4000, 1), (17, 9)])
  func everyPlacementLiesInThePictureAndInTheSurface(gravity: VideoGravity, picture: (Int, Int)) {
    let size = PictureSize(width: picture.0, height: picture.1)
    for surface in [PictureSize(width: 1, height: 1), .init(width: 320, height: 180), .init(width: 9, height: 3000)] {
      let placement = gravity.placement(
        of: size, displaySize: (Double(size.width), Double(size.height)), in: surface)
      for (rect, limit) in [(placement.source, size), (placement.target, surface)] {
        #expect(rect.x >= 0 && rect.y >= 0 && rect.width >= 1 && rect.height >= 1)
        #expect(rect.x + rect.width <= limit.width && rect.y + rect.height <= limit.height)
      }
    }
  }

  @Test func aPictureThatLiesElsewhereLeavesNothingOfTheOneBefore() throws {
    let white = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 64, 64, pattern: "white"))
    let renderer = try OffscreenRenderer(size: .init(width: 128, height: 64))
    for (gravity, isBar) in [(VideoGravity.resize, false), (.resizeAspect, true), (.resizeAspectFill, false)] {
      try renderer.render(white, gravity: gravity)
      let image = try #require(renderer.image())
      #expect((image.pixel(2, 32) == [0, 0, 0, 255]) == isBar, "\(gravity)")
      #expect((image.pixel(126, 32) == [0, 0, 0, 255]) == isBar, "\(gravity)")
      #expect(image.pixel(64, 32).allSatisfy { $0 > 250 })
    }
    // A tall picture follows a wide one.
    let tall = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 32, 64, pattern: "white"))
    try renderer.render(white, gravity: .resizeAspect)
    try renderer.render(tall, gravity: .resizeAspect)
    let image = try #require(renderer.image())
    #expect(image.pixel(40, 32) == [0, 0, 0, 255] && image.pixel(64, 32)[0] > 250)
  }

  /// Finds the pixel of the frame under the pointer, for a picture of 200x100 pixels on surfaces of other shapes.
  @Test(
    arguments: [
      // There are bars above and below the picture, which has its full size and starts at (0, 50).
      (VideoGravity.resizeAspect, VideoOrientation.upright, (200, 200), (0, 50), (0, 0)),
      (.resizeAspect, .upright, (200, 200), (199, 149), (199, 99)),
      (.resizeAspect, .upright, (200, 200), (10, 40), (10, -10)),
      // The picture is stretched or cropped.
      (.resize, .upright, (100, 200), (50, 100), (100, 50)),
      (.resizeAspectFill, .upright, (100, 100), (0, 10), (50, 10)),
      // The picture is rotated. Its upper left corner was the lower left corner of the frame.
      (.resize, VideoOrientation(rotation: .quarter), (100, 200), (0, 0), (0, 99)),
      (.resize, VideoOrientation(rotation: .quarter), (100, 200), (99, 0), (0, 0)),
      (.resize, .mirrored, (200, 100), (0, 7), (199, 7)),
      (.resizeAspect, VideoOrientation(rotation: .threeQuarters), (100, 300), (0, 50), (199, 0)),
    ] as [(VideoGravity, VideoOrientation, (Int, Int), (Int, Int), (Int, Int))])
  func aPlaceOnTheSurfaceIsAPixelOfTheFrame(
    gravity: VideoGravity, orientation: VideoOrientation, surface: (Int, Int), place: (Int, Int), pixel: (Int, Int)
  ) throws {
    let format = try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 200, 100)).formatDescription
    let found = gravity.pixel(
      at: (Double(place.0), Double(place.1)), of: PictureSize(width: surface.0, height: surface.1), in: format,
      orientation: orientation)
    #expect(found == (Double(pixel.0), Double(pixel.1)))
  }

  @Test func aSizeThatIsNoPictureIsATypedError() {
    for size in [PictureSize(width: 0, height: 10), .init(width: 10, height: -1), .init(width: 100_000, height: 10)] {
      #expect(throws: PipSinkError.frame(.invalidSize(width: size.width, height: size.height))) {
        try OffscreenRenderer(size: size)
      }
    }
  }

  // MARK: Pictures as files

  @Test func aPictureComesBackFromItsPNG() throws {
    let image = try rendered(
      TestFrame.sampleBuffer(TestFrame.testSource(.i420, 65, 37)), size: .init(width: 65, height: 37))
    let path = "/tmp/pipsink-test-\(UInt64.random(in: 0 ... .max)).png"
    defer { unlink(path) }
    try image.writePNG(to: path)
    let decoded = try TestFrame.pixelBuffer(
      "filesrc location=\(path) ! pngdec ! videoconvert ! video/x-raw,format=BGRA")
    #expect(try Oracle.tightBytes(decoded) == image.bytes)
  }

  @Test func aFileThatCannotBeWrittenIsATypedErrorWithItsPath() throws {
    let image = try rendered(
      TestFrame.sampleBuffer(TestFrame.testSource(.i420, 16, 16)), size: .init(width: 16, height: 16))
    #expect(throws: PipSinkError.frame(.notWritten(path: "/nowhere/a.png", reason: "No such file or directory"))) {
      try image.writePNG(to: "/nowhere/a.png")
    }
  }
}
