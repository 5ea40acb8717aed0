import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// Sizes at which kernels may go wrong: sizes that are smaller than a vector, are odd, or leave a rest, and sizes of
/// real streams.
let matrixSizes = [(2, 2), (3, 5), (17, 9), (641, 361), (1280, 720), (1920, 1080)].map {
  PictureSize(width: $0.0, height: $0.1)
}

extension PictureSize {
  /// The size with both sides rounded up to even numbers.
  fileprivate var roundedUp: PictureSize { PictureSize(width: (width + 1) / 2 * 2, height: (height + 1) / 2 * 2) }
}

extension PixelFormat {
  static let eightBit = allCases.filter { !$0.isTenBit }
}

@Suite struct PixelConverterTests {
  private let converter = PixelConverter()

  private func source(_ format: PixelFormat, _ size: PictureSize) throws -> PixelBuffer {
    try TestFrame.keptPixelBuffer(TestFrame.smoothSource(format, size.width, size.height))
  }

  // MARK: Formats

  @Test(arguments: PixelFormat.allCases, matrixSizes)
  func everyFormatBecomesBGRAAsVideoconvertMakesIt(format: PixelFormat, size: PictureSize) throws {
    let source = try source(format, size)
    let expected = try exactRGB(source, .bgra)
    for padding in [0, 19, 32] {
      let padded = padding == 0 ? source : try TestFrame.padded(source, padding: padding)
      let result = try converter.convert(padded, to: .init(pixelFormat: .bgra))
      let psnr = try Oracle.psnr(Oracle.tightBytes(result), Oracle.tightBytes(expected))
      #expect(psnr >= 40, "padding \(padding): \(psnr) dB")
    }
  }

  /// Converts through 16 bits per channel, where GstVideoConverter is exact. Each chroma sample is used for all of its
  /// pixels, as in libyuv.
  private func exactRGB(_ source: PixelBuffer, _ format: PixelFormat) throws -> PixelBuffer {
    let size = "width=\(source.size.width),height=\(source.size.height)"
    let options =
      "GstVideoConverter.dither-method=(GstVideoDitherMethod)none, GstVideoConverter.chroma-mode=(GstVideoChromaMode)none"
    let exact = try source.withUnsafeGstSample {
      try Oracle.convertedSample($0, to: "video/x-raw,format=ARGB64_LE,\(size)", options: options)
    }
    defer { gst_sample_unref(exact) }
    return try TestFrame.pixelBuffer(
      owning: Oracle.convertedSample(exact, to: "video/x-raw,format=\(format.rawValue),\(size)"))
  }

  /// The height leaves a rest with two bands and with three.
  @Test(arguments: [VideoOrientation.upright, VideoOrientation(rotation: .quarter)])
  func aLargePictureIsTheSameByAnyNumberOfThreads(orientation: VideoOrientation) throws {
    let source = try source(.i420, .init(width: 2560, height: 1442))
    let turned = orientation.applied(to: source.size)
    func converted(by bands: RowBands) throws -> [UInt8] {
      var bytes = [UInt8](repeating: 7, count: turned.width * turned.height * 4)
      var converter = PictureConverter(bands: bands)
      try source.withMappedFrame { source throws(PipSinkError) in
        try bytes.withUnsafeMutableBufferPointer { bytes throws(PipSinkError) in
          guard let base = bytes.baseAddress else { return }
          let target = Picture(packed: .bgra, size: turned, data: base, stride: Int32(turned.width * 4))
          try converter.convert(Picture(source), into: target, orientation: orientation)
        }
      }
      return bytes
    }
    let expected = try converted(by: .none)
    for helperCount in [1, 2] {
      #expect(try converted(by: RowBands(helperCount: helperCount)) == expected, "\(helperCount) helpers")
    }
  }

  @Test(arguments: PixelFormat.allCases, PixelFormat.eightBit)
  func everyFormatBecomesEveryOtherAsVideoconvertMakesIt(format: PixelFormat, target: PixelFormat) throws {
    let source = try source(format, .init(width: 642, height: 361))
    let result = try converter.convert(source, to: .init(pixelFormat: target))
    let expected =
      target.isRGB && format.isYUV
      ? try exactRGB(source, target) : try Oracle.converted(source, to: result.formatDescription.capsDescription)
    try expectAlike(result, expected, exactLuma: format.isYUV && target.isYUV && !format.isTenBit)
  }

  @Test(arguments: PixelFormat.eightBit, matrixSizes)
  func formatsThatDifferInTheirLayoutOnlyKeepEverySample(format: PixelFormat, size: PictureSize) throws {
    let source = try TestFrame.keptPixelBuffer(noise(format, size))
    let others = PixelFormat.eightBit.filter {
      $0.isRGB == format.isRGB && $0.chromaShift == format.chromaShift && ($0 == .gray8) == (format == .gray8)
    }
    for target in others {
      let result = try converter.convert(source, to: .init(pixelFormat: target))
      let back = try converter.convert(result, to: .init(pixelFormat: format))
      if format.isYUV || format.hasAlpha == target.hasAlpha {
        let expected = try Oracle.converted(source, to: result.formatDescription.capsDescription)
        try expectEqualVisibly(result, expected)
        try expectEqualVisibly(back, source)
      }
    }
  }

  /// Compares all bytes except the padding byte of four-byte RGB and the half of a packed chroma pair that belongs to
  /// no pixel.
  private func expectEqualVisibly(_ result: PixelBuffer, _ expected: PixelBuffer) throws {
    if try PixelComparison.areEqual(result, expected) { return }
    let format = result.pixelFormat
    guard format.isPackedYUV || (format.isRGB32 && !format.hasAlpha) else {
      Issue.record("\(result.formatDescription) is not \(expected.formatDescription) to the bit")
      return
    }
    let all = PixelConverter.Output(pixelFormat: format.isRGB ? .rgb : .i422)
    let (ours, theirs) = try (converter.convert(result, to: all), converter.convert(expected, to: all))
    #expect(try PixelComparison.areEqual(ours, theirs), "\(result.formatDescription)")
  }

  private func expectAlike(_ result: PixelBuffer, _ expected: PixelBuffer, exactLuma: Bool) throws {
    #expect(result.size == expected.size)
    for plane in 0..<result.planeCount {
      let (ours, theirs) = try (Oracle.tightBytes(result, plane: plane), Oracle.tightBytes(expected, plane: plane))
      if exactLuma, plane == 0, !result.pixelFormat.isPackedYUV {
        #expect(PixelComparison.areEqual(ours, theirs), "\(result.formatDescription): luma")
      }
      let psnr = Oracle.psnr(ours, theirs, sampleCount: ours.count)
      #expect(psnr >= 40, "\(result.formatDescription), plane \(plane): \(psnr) dB")
    }
  }

  @Test(
    arguments: ["bt601", "bt709", "bt2020", "1:4:0:0", "1:3:5:1"], [PixelFormat.i420, .nv12, .yuy2, .y444])
  func theColorBarsAreThoseOfGStreamer(colorimetry: String, format: PixelFormat) throws {
    let source = try TestFrame.pixelBuffer(
      TestFrame.testSource(format, 700, 360, pattern: "smpte75", colorimetry: colorimetry))
    let (ours, theirs) = try (
      Oracle.tightBytes(converter.convert(source, to: .init(pixelFormat: .bgra))),
      Oracle.tightBytes(exactRGB(source, .bgra))
    )
    for bar in 0..<7 {
      for channel in 0..<3 {
        let index = (40 * 700 + bar * 100 + 50) * 4 + channel
        #expect(
          abs(Int(ours[index]) - Int(theirs[index])) <= 2,
          "bar \(bar), channel \(channel): \(ours[index]), not \(theirs[index])")
      }
    }
  }

  @Test func aFrameThatIsAsWantedIsHandedBackItself() throws {
    let source = try source(.i420, .init(width: 17, height: 9))
    #expect(try converter.convert(source, to: .init(pixelFormat: .i420)) === source)
    #expect(try converter.convert(source, to: .init(size: source.size)) === source)
    #expect(converter.pool.statistics.taken == 0)
  }

  @Test(arguments: PixelFormat.allCases.filter(\.isTenBit))
  func tenBitsOfAnotherFormatAreATypedError(target: PixelFormat) throws {
    let source = try source(.i420, .init(width: 17, height: 9))
    #expect(throws: PipSinkError.frame(.unsupportedPixelFormat(target, operation: "conversion of I420 frames"))) {
      try converter.convert(source, to: .init(pixelFormat: target))
    }
  }

  @Test(arguments: [(0, 10), (10, 0), (-1, 5), (40000, 10)])
  func anAbsurdSizeIsATypedError(size: (Int, Int)) throws {
    let source = try source(.i420, .init(width: 17, height: 9))
    #expect(throws: PipSinkError.frame(.invalidSize(width: size.0, height: size.1))) {
      try converter.convert(source, to: .init(size: PictureSize(width: size.0, height: size.1)))
    }
  }

  @Test func yuvKeepsItsColorimetryAndRGBBecomesBT601() throws {
    let source = try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 64, 48, colorimetry: "bt709"))
    let nv12 = try converter.convert(source, to: .init(pixelFormat: .nv12))
    #expect(nv12.formatDescription.colorimetry == Colorimetry(matrix: .bt709, isFullRange: false))
    let rgb = try converter.convert(source, to: .init(pixelFormat: .bgra))
    let back = try converter.convert(rgb, to: .init(pixelFormat: .i420))
    #expect(back.formatDescription.colorimetry == Colorimetry(matrix: .bt601, isFullRange: false))
    #expect(back.formatDescription.frameRate == source.formatDescription.frameRate)
  }

  // MARK: Orientation

  private static let methods = [
    ("90r", VideoOrientation(rotation: .quarter)), ("180", VideoOrientation(rotation: .half)),
    ("90l", VideoOrientation(rotation: .threeQuarters)), ("horiz", .mirrored),
    ("vert", .flippedVertically), ("ul-lr", VideoOrientation(rotation: .threeQuarters, isMirrored: true)),
    ("ur-ll", VideoOrientation(rotation: .quarter, isMirrored: true)),
  ]
  /// videoflip supports all formats of PipSink except I422, P010 and Y210. How it turns chroma of 4:2:2 with ten bits is
  /// compared in ``TenBitTests``.
  private static let flippable = PixelFormat.allCases.filter { ![.i422, .p010, .i422Ten, .y210].contains($0) }

  @Test(arguments: flippable, matrixSizes)
  func turnedFramesAreVideoflipsToTheBit(format: PixelFormat, size: PictureSize) throws {
    // If only half of a chroma pair belongs to the picture, no rule says what becomes of the pair.
    let size = format.isPackedYUV ? size.roundedUp : size
    let source = try TestFrame.keptPixelBuffer(noise(format, size))
    let padded = try TestFrame.padded(source, padding: 19)
    for (method, orientation) in Self.methods {
      let expected = try Oracle.flipped(source, method: method)
      for source in [source, padded] {
        let result = try converter.convert(source, to: .init(orientation: orientation))
        #expect(result.size == expected.size)
        // When packed 4:2:2 is rotated by 90 degrees, its chroma is averaged. videoflip rounds down, and libyuv rounds
        // to the nearest value.
        if format.isPackedYUV, orientation.swapsSides {
          try expectPackedAlike(result, expected, method)
        } else if try !PixelComparison.areEqual(result, expected) {
          Issue.record("\(method) of \(source.formatDescription) differs, padded: \(source === padded)")
        }
      }
    }
  }

  private func expectPackedAlike(_ result: PixelBuffer, _ expected: PixelBuffer, _ method: String) throws {
    let apart = PixelConverter.Output(pixelFormat: .i422)
    let (ours, theirs) = try (
      Oracle.planes(converter.convert(result, to: apart)), Oracle.planes(converter.convert(expected, to: apart))
    )
    let what = "\(method) of \(result.formatDescription)"
    #expect(PixelComparison.areEqual(ours[0], theirs[0]), "\(what): luma")
    for plane in 1...2 {
      #expect(PixelComparison.differ(atMost: 1, ours[plane], theirs[plane]), "\(what): plane \(plane)")
    }
  }

  private func noise(_ format: PixelFormat, _ size: PictureSize) -> String {
    "videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=GRAY8,width=\(size.width),height=\(size.height)"
      + ",framerate=30/1 ! videoconvert ! video/x-raw,format=AYUV ! coloreffects preset=heat ! videoconvert"
      + " ! video/x-raw,format=\(format.rawValue)"
  }

  @Test(arguments: [PixelFormat.i422, .p010, .i422Ten])
  func formatsThatVideoflipDoesNotKnowAreTurnedAsTheirSamplesSay(format: PixelFormat) throws {
    let source = try TestFrame.keptPixelBuffer(noise(format, .init(width: 34, height: 18)))
    for (_, orientation) in Self.methods {
      let turned = try converter.convert(source, to: .init(orientation: orientation))
      for plane in 0..<source.planeCount where format == .p010 || plane == 0 || !orientation.swapsSides {
        let unit = format.rowByteCount(plane, width: 1)
        let (from, to) = try (Oracle.tightBytes(source, plane: plane), Oracle.tightBytes(turned, plane: plane))
        let dimensions = format.planeSize(plane, of: source.size)
        let size = PictureSize(width: Int(dimensions.width), height: Int(dimensions.height))
        let stride = orientation.applied(to: size).width
        var isEqual = true
        for y in 0..<size.height {
          for x in 0..<size.width {
            let there = orientation.applied(to: PictureRect(x: x, y: y, width: 1, height: 1), in: size)
            let (a, b) = ((y * size.width + x) * unit, (there.y * stride + there.x) * unit)
            if from[a..<a + unit] != to[b..<b + unit] { isEqual = false }
          }
        }
        #expect(isEqual, "\(orientation), plane \(plane)")
      }
    }
  }

  @Test func aQuarterTurnExchangesTheSidesOfThePixelsToo() throws {
    let source = try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 720, 576, pixelAspectRatio: "16/15"))
    let turned = try converter.convert(source, to: .init(orientation: .init(rotation: .quarter)))
    #expect(turned.size == PictureSize(width: 576, height: 720))
    #expect(turned.formatDescription.pixelAspectRatio == (15, 16))
  }

  // MARK: Sizes

  @Test(
    arguments: PixelFormat.allCases,
    [(1920, 1080, 320, 180), (1280, 720, 641, 361), (641, 361, 213, 401), (320, 180, 1280, 720), (640, 360, 64, 36)])
  func scaledFramesAreLikeVideoscales(format: PixelFormat, sizes: (Int, Int, Int, Int)) throws {
    let source = try TestFrame.keptPixelBuffer(TestFrame.naturalSource(format, sizes.0, sizes.1))
    let size = PictureSize(width: sizes.2, height: sizes.3)
    let result = try converter.convert(source, to: .init(size: size))
    #expect(result.pixelFormat == format)
    let expected = try Oracle.converted(source, to: result.formatDescription.capsDescription)
    for plane in 0..<result.planeCount {
      let (ours, theirs) = try (deepest(result, plane), deepest(expected, plane))
      let psnr = Oracle.psnr(ours, theirs, sampleCount: ours.count)
      #expect(psnr >= 30, "plane \(plane): \(psnr) dB")
    }
  }

  /// Returns the bytes of a plane. Of a ten-bit sample, these are the upper eight bits.
  private func deepest(_ pixelBuffer: PixelBuffer, _ plane: Int) throws -> [UInt8] {
    let bytes = try Oracle.tightBytes(pixelBuffer, plane: plane)
    guard let shift = pixelBuffer.pixelFormat.tenBitShift else { return bytes }
    return stride(from: 0, to: bytes.count, by: 2).map {
      UInt8(truncatingIfNeeded: (Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8) >> (shift + 2))
    }
  }

  @Test(arguments: ScalingFilter.allCases, [PixelFormat.i420, .nv12, .bgra])
  func everyFilterMakesTheSamePictureByItsOwnMeans(filter: ScalingFilter, format: PixelFormat) throws {
    let source = try TestFrame.keptPixelBuffer(TestFrame.naturalSource(format, 640, 360))
    let output = PixelConverter.Output(size: .init(width: 320, height: 180), scalingFilter: filter)
    let result = try converter.convert(source, to: output)
    let expected = try Oracle.converted(source, to: result.formatDescription.capsDescription)
    let psnr = try Oracle.psnr(Oracle.tightBytes(result), Oracle.tightBytes(expected))
    #expect(psnr >= 30, "\(psnr) dB")
  }

  @Test func boxAveragesWhatNearestLeavesOut() throws {
    // The columns are alternately black and white. Their average is gray, but no single column is.
    let source = try TestFrame.pixelBuffer(
      "videotestsrc num-buffers=1 pattern=pinwheel ! video/x-raw,format=GRAY8,width=640,height=8,framerate=30/1")
    var copy = try converter.pool.mutableCopy(of: source)
    try copy.withMutablePlane(0) { bytes, layout in
      for row in 0..<layout.height {
        for column in 0..<layout.width {
          bytes.storeBytes(
            of: column % 2 == 0 ? 0 : 255, toByteOffset: row * layout.bytesPerRow + column, as: UInt8.self)
        }
      }
    }
    let stripes = copy.finish()
    let small = { filter in
      try Oracle.tightBytes(
        self.converter.convert(stripes, to: .init(size: .init(width: 320, height: 4), scalingFilter: filter)))
    }
    #expect(try small(.box).allSatisfy { abs(Int($0) - 128) <= 1 })
    // Each pixel is the right one of the two that it stands for.
    #expect(try Set(small(.none)) == [255])
    #expect(try small(.automatic) == small(.box))
  }

  // MARK: All steps at once

  @Test(arguments: [PixelFormat.i420, .nv12, .bgra, .yuy2, .p010, .y210], [PixelFormat.bgra, .nv12, .rgb, .uyvy])
  func turningScalingAndConvertingAtOnceIsLikeOneAfterTheOther(format: PixelFormat, target: PixelFormat) throws {
    let source = try TestFrame.keptPixelBuffer(TestFrame.naturalSource(format, 640, 360))
    for orientation in VideoOrientation.allCases {
      for size in [PictureSize(width: 160, height: 120), .init(width: 700, height: 500)] {
        let atOnce = try converter.convert(
          source, to: .init(pixelFormat: target, size: size, orientation: orientation))
        let turned = try converter.convert(source, to: .init(orientation: orientation))
        let scaled = try converter.convert(turned, to: .init(size: size))
        let last = try converter.convert(scaled, to: .init(pixelFormat: target))
        try expectSimilar(atOnce, last, "\(orientation) to \(size)")
      }
    }
  }

  private func expectSimilar(_ result: PixelBuffer, _ expected: PixelBuffer, _ what: String) throws {
    #expect(result.size == expected.size)
    for plane in 0..<result.planeCount {
      let (ours, theirs) = try (Oracle.tightBytes(result, plane: plane), Oracle.tightBytes(expected, plane: plane))
      let psnr = Oracle.psnr(ours, theirs, sampleCount: ours.count)
      #expect(psnr >= 30, "\(what), plane \(plane): \(psnr) dB")
    }
  }

  @Test(arguments: PixelFormat.allCases, [nil, "1:4:0:0"])
  func barsAroundAPictureAreBlackInEveryFormat(format: PixelFormat, colorimetry: String?) throws {
    guard colorimetry == nil || format.isYUV else { return }
    let source = try TestFrame.pixelBuffer(
      TestFrame.testSource(format, 320, 180, pattern: "white", colorimetry: colorimetry))
    let boxed = try converter.convert(
      source, to: .init(size: .init(width: 240, height: 240), gravity: .resizeAspect))
    let rgb = try converter.convert(boxed, to: .init(pixelFormat: .bgra))
    let bytes = try Oracle.tightBytes(rgb)
    let pixel = { (x: Int, y: Int) in Array(bytes[(y * 240 + x) * 4..<(y * 240 + x) * 4 + 3]) }
    for y in [0, 20, 48, 190, 239] { #expect(pixel(100, y) == [0, 0, 0], "row \(y)") }
    // videotestsrc uses 235 for white in every range, and 127 or 128 for neutral chroma. GRAY8 always has the full
    // range.
    let white: UInt8 = boxed.formatDescription.colorimetry.isFullRange ? 232 : 252
    for y in [54, 120, 185] { #expect(pixel(100, y).allSatisfy { $0 >= white }, "row \(y): \(pixel(100, y))") }
  }

  // MARK: Fields

  @Test(arguments: [PixelFormat.i420, .nv12], ["top-field-first", "bottom-field-first"])
  func theFieldsOfAnInterlacedFrameKeepTheirOwnChroma(format: PixelFormat, order: String) throws {
    let source = try interlaced(format, order)
    #expect(source.formatDescription.isInterlaced)
    let result = try converter.convert(source, to: .init(pixelFormat: .bgra))
    let psnr = try Oracle.psnr(Oracle.tightBytes(result), Oracle.tightBytes(exactRGB(source, .bgra)))
    #expect(psnr >= 40, "\(psnr) dB")
    // If the frame were treated as progressive, the colours of the two fields would mix.
    let progressive = try source.withUnsafeGstSample { sample in
      let caps = gst_caps_copy(gst_sample_get_caps(sample))!
      gst_structure_remove_field(gst_caps_get_structure(caps, 0), "interlace-mode")
      gst_structure_remove_field(gst_caps_get_structure(caps, 0), "field-order")
      defer { gst_caps_unref(caps) }
      let buffer = gst_buffer_copy(gst_sample_get_buffer(sample))!
      defer { gst_buffer_unref(buffer) }
      return try TestFrame.pixelBuffer(owning: gst_sample_new(buffer, caps, nil, nil)!)
    }
    let mixed = try converter.convert(progressive, to: .init(pixelFormat: .bgra))
    #expect(try Oracle.psnr(Oracle.tightBytes(mixed), Oracle.tightBytes(exactRGB(source, .bgra))) < 30)
  }

  @Test(arguments: [("top-field-first", 255), ("bottom-field-first", 0)])
  func aScaledInterlacedFrameIsMadeOfItsEarlierField(order: String, luma: Int) throws {
    let source = try interlaced(.i420, order)
    let result = try converter.convert(source, to: .init(pixelFormat: .bgra, size: .init(width: 64, height: 100)))
    #expect(!result.formatDescription.isInterlaced)
    // The top field is white, and the bottom field is blue.
    let bytes = try Oracle.tightBytes(result)
    #expect(stride(from: 2, to: bytes.count, by: 4).allSatisfy { abs(Int(bytes[$0]) - luma) <= 4 })
  }

  /// Makes a frame whose even rows are white and whose odd rows are blue. Each field has its own chroma.
  private func interlaced(_ format: PixelFormat, _ order: String) throws -> PixelBuffer {
    try PipSink.initialize()
    let caps = try #require(
      gst_caps_from_string(
        "video/x-raw,format=\(format.rawValue),width=64,height=64,framerate=25/1,colorimetry=bt601,"
          + "interlace-mode=interleaved,field-order=\(order)"))
    defer { gst_caps_unref(caps) }
    var frame = try converter.pool.makePixelBuffer(.shared(for: caps))
    // These are the values of Y', Cb and Cr for white and for blue in BT.601.
    let colors: [[UInt8]] = [[235, 128, 128], [41, 240, 110]]
    for plane in 0..<frame.planeCount {
      try frame.withMutablePlane(plane) { bytes, layout in
        for row in 0..<layout.height {
          for byte in 0..<layout.width * layout.pixelStride {
            let component = plane == 0 ? 0 : layout.pixelStride == 2 ? 1 + byte % 2 : plane
            bytes.storeBytes(
              of: colors[row % 2][component], toByteOffset: row * layout.bytesPerRow + byte, as: UInt8.self)
          }
        }
      }
    }
    return frame.finish()
  }
}
