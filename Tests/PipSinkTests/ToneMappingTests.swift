import CGStreamer
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

/// Frames with a high dynamic range, shown with the standard one.
///
/// The expected colours are libplacebo's (4.208, by ffmpeg's filter), with BT.2390 on the largest component, a display
/// and a programme that have the same black (0.203 cd/m², which is 0 here), and linear light of BT.709 as the result:
/// `libplacebo=tonemapping=bt.2390:tonemapping_param=0.5:tonemapping_mode=max:peak_detect=0:gamut_mode=clip`
/// `:colorspace=gbr:color_primaries=bt709:color_trc=linear:range=pc`.
@Suite struct ToneMappingTests {
  /// Y, U and V with ten bits in BT.2020 with the perceptual quantizer, and the red, green and blue to be seen.
  private typealias Patch = (Int, Int, Int, Int, Int, Int)

  private static let masteredAt1000: [Patch] = [
    (327, 512, 512, 74, 74, 74), (450, 512, 512, 143, 143, 143),
    (509, 512, 512, 189, 189, 189), (573, 512, 512, 231, 231, 231), (636, 512, 512, 250, 250, 250),
    (689, 512, 512, 255, 255, 255), (723, 512, 512, 255, 255, 255), (367, 486, 540, 130, 82, 67),
    (382, 498, 469, 0, 120, 84), (354, 541, 502, 70, 87, 118), (398, 480, 519, 120, 110, 74),
    (385, 503, 522, 117, 98, 92), (392, 521, 496, 79, 112, 116), (357, 502, 547, 132, 73, 78),
    (343, 547, 509, 75, 79, 118), (523, 481, 546, 255, 164, 135), (540, 495, 460, 0, 241, 167),
    (508, 547, 499, 139, 175, 238), (560, 474, 520, 241, 220, 148), (544, 502, 524, 239, 201, 189),
    (553, 522, 493, 157, 225, 232), (511, 500, 554, 255, 145, 156), (494, 554, 509, 152, 157, 239),
    (650, 478, 548, 255, 184, 149), (668, 495, 457, 0, 255, 188), (634, 549, 499, 157, 195, 255),
    (689, 471, 520, 255, 247, 164), (673, 501, 525, 255, 228, 214), (682, 523, 492, 174, 249, 255),
    (638, 500, 556, 255, 164, 177), (620, 556, 508, 169, 177, 255),
  ]

  private static let masteredAt4000: [Patch] = [
    (311, 512, 512, 67, 67, 67), (571, 512, 512, 210, 210, 210), (703, 512, 512, 248, 248, 248),
    (821, 512, 512, 255, 255, 255), (478, 482, 545, 214, 133, 109), (464, 545, 500, 114, 143, 193),
    (499, 502, 524, 194, 162, 153), (451, 552, 509, 124, 128, 194), (668, 495, 457, 0, 255, 182),
    (689, 471, 520, 255, 239, 159), (638, 500, 556, 255, 158, 171),
  ]

  /// Y, U and V with hybrid log-gamma, and what libplacebo makes of them with the perceptual quantizer.
  private static let gammaAndQuantizer: [Patch] = [
    (287, 512, 512, 332, 512, 512), (499, 512, 512, 452, 512, 512), (721, 512, 512, 574, 512, 512),
    (892, 512, 512, 689, 512, 512), (348, 467, 569, 371, 487, 540), (374, 481, 433, 385, 498, 470),
    (327, 572, 493, 359, 541, 502), (388, 530, 479, 396, 520, 496), (333, 493, 581, 361, 503, 546),
    (658, 481, 400, 541, 495, 460), (611, 581, 485, 509, 546, 500), (675, 491, 536, 546, 502, 524),
    (835, 452, 573, 651, 479, 547), (813, 575, 488, 635, 548, 499), (869, 493, 534, 673, 501, 525),
    (792, 589, 506, 621, 556, 509),
  ]

  private static let quantizer = "2:6:14:7"
  private static let gamma = "2:6:15:7"
  private static let side = 8
  private static let formats: [PixelFormat] = [.i420Ten, .p010, .i422Ten, .y210]

  private let converter = PixelConverter(usesHelperThreads: false)

  // MARK: Colours

  @Test(arguments: formats)
  func colorsAreThoseOfTheReference(format: PixelFormat) throws {
    let (patches, more) = (Self.masteredAt1000, Self.masteredAt4000)
    let dim = try frame(patches.map { ($0.0, $0.1, $0.2) }, format, fields: ",\(Self.masteringDisplay(peak: 1000))")
    let bright = try frame(more.map { ($0.0, $0.1, $0.2) }, format, fields: ",\(Self.masteringDisplay(peak: 4000))")
    for (patches, frame) in [(patches, dim), (more, bright)] {
      let image = try rendered(SampleBuffer(pixelBuffer: frame), size: frame.size)
      for (index, patch) in patches.enumerated() {
        let color = color(of: index, in: image)
        let difference = difference(color, (patch.3, patch.4, patch.5))
        #expect(difference <= 3, "\(patch): \(color), \(difference)")
        // Gray has no colour that the display could lack.
        if patch.1 == 512, patch.2 == 512 { #expect(difference <= 1, "\(patch): \(color)") }
      }
    }
  }

  @Test func hybridLogGammaLooksAsTheSameLightWithThePerceptualQuantizer() throws {
    let pairs = Self.gammaAndQuantizer
    let first = try frame(pairs.map { ($0.0, $0.1, $0.2) }, .i420Ten, colorimetry: Self.gamma)
    let second = try frame(pairs.map { ($0.3, $0.4, $0.5) }, .i420Ten)
    let images = try [first, second].map { try rendered(SampleBuffer(pixelBuffer: $0), size: $0.size) }
    for index in pairs.indices {
      let (ours, theirs) = (color(of: index, in: images[0]), color(of: index, in: images[1]))
      #expect(difference(ours, theirs) <= 3, "\(pairs[index]): \(ours), \(theirs)")
    }
  }

  @Test(arguments: [PixelFormat.i420, .yv12, .nv12, .nv21, .i422, .y444, .yuy2, .uyvy])
  func eightBitsLookAsTheSameValuesWithTenBits(format: PixelFormat) throws {
    let values = Self.masteredAt1000.map { ($0.0 / 4 * 4, $0.1 / 4 * 4, $0.2 / 4 * 4) }
    let (eight, ten) = try (frame(values, format), frame(values, .i420Ten))
    #expect(
      try rendered(SampleBuffer(pixelBuffer: eight), size: eight.size).bytes
        == rendered(SampleBuffer(pixelBuffer: ten), size: ten.size).bytes)
  }

  @Test func blackIsBlackAndThePeakIsWhite() throws {
    for (colorimetry, peak) in [(Self.quantizer, 723), (Self.gamma, 940)] {
      let frame = try frame([(64, 512, 512), (peak, 512, 512), (1019, 512, 512)], .p010, colorimetry: colorimetry)
      let image = try rendered(SampleBuffer(pixelBuffer: frame), size: frame.size)
      #expect(
        (0..<3).map { image.pixel($0 * Self.side, 0) } == [
          [0, 0, 0, 255], [255, 255, 255, 255], [255, 255, 255, 255],
        ])
    }
  }

  @Test func thePrimariesOfBT709StayAsTheyAre() throws {
    let red = [(400, 480, 560)]
    let (wide, narrow) = try (frame(red, .p010), frame(red, .p010, colorimetry: "2:6:14:1"))
    let colors = try [wide, narrow].map { color(of: 0, in: try rendered(SampleBuffer(pixelBuffer: $0), size: $0.size)) }
    // The same numbers stand for a less saturated red in the smaller gamut.
    #expect(colors[0].0 > colors[1].0 && colors[0].1 < colors[1].1, "\(colors)")
  }

  // MARK: The peak

  private static let peaks: [(fields: String, peak: Int)] = [
    ("", 1000), (",content-light-level=(string)600:200", 600), (",content-light-level=(string)0:0", 1000),
    (",\(masteringDisplay(peak: 4000))", 4000), (",\(masteringDisplay(peak: 0))", 1000),
    (",\(masteringDisplay(peak: 4000)),content-light-level=(string)800:300", 800),
    (",content-light-level=(string)1:1", 203), (",\(masteringDisplay(peak: 400_000))", 10_000),
    (",mastering-display-info=(string)nonsense,content-light-level=(string)9", 1000),
  ]

  /// The largest value of the programme counts, then that of the display on which it was mastered.
  @Test(arguments: peaks)
  func thePeakIsWhatTheCapsSay(fields: String, peak: Int) throws {
    let format = try format(.p010, PictureSize(width: 16, height: 16), fields: fields)
    #expect(format.colorimetry.highDynamicRange == HighDynamicRange(.perceptualQuantizer, peak: peak))
  }

  @Test func hybridLogGammaHasNoPeakOfItsOwn() throws {
    let fields = ",content-light-level=(string)600:200"
    let format = try format(.p010, PictureSize(width: 16, height: 16), colorimetry: Self.gamma, fields: fields)
    #expect(format.colorimetry.highDynamicRange == HighDynamicRange(.hybridLogGamma, peak: 1000))
  }

  // MARK: Other conversions

  @Test func yuvKeepsItsLightAndRGBHasTheStandardRange() throws {
    let source = try frame([(500, 480, 560)], .p010, fields: ",content-light-level=(string)600:200")
    let nv12 = try converter.convert(source, to: .init(pixelFormat: .nv12))
    #expect(nv12.formatDescription.colorimetry == source.formatDescription.colorimetry)
    let bgra = try converter.convert(source, to: .init(pixelFormat: .bgra))
    #expect(bgra.formatDescription.colorimetry.highDynamicRange == nil)
    let shown = try rendered(SampleBuffer(pixelBuffer: bgra), size: bgra.size)
    #expect(try shown.bytes == rendered(SampleBuffer(pixelBuffer: source), size: source.size).bytes)
  }

  /// A frame that an app copies keeps its light, too.
  @Test func theCapsOfAColorimetryHaveItsTransferAndPrimaries() throws {
    for colorimetry in [Self.quantizer, Self.gamma, "1:3:14:1", "1:3:15:7"] {
      let format = try format(.i420, PictureSize(width: 16, height: 16), colorimetry: colorimetry)
      #expect(format.colorimetry.capsValue == colorimetry)
    }
  }

  @Test(arguments: [PixelFormat.bgra, .bgrx, .rgba, .xrgb, .rgb, .bgr])
  func allKindsOfRGBHaveTheSameColors(format: PixelFormat) throws {
    let source = try frame([(500, 480, 560), (300, 530, 500)], .i420Ten)
    let result = try converter.convert(source, to: .init(pixelFormat: format))
    #expect(
      try rendered(SampleBuffer(pixelBuffer: result), size: result.size).bytes
        == rendered(SampleBuffer(pixelBuffer: source), size: source.size).bytes)
  }

  @Test(arguments: formats, [VideoOrientation.upright, .mirrored, .init(rotation: .quarter)])
  func scaledAndTurnedPatchesKeepTheirColors(format: PixelFormat, orientation: VideoOrientation) throws {
    let source = try frame(Self.masteredAt1000.map { ($0.0, $0.1, $0.2) }, format)
    let whole = try rendered(SampleBuffer(pixelBuffer: source), size: source.size)
    let half = PictureSize(width: source.size.width / 2, height: source.size.height / 2)
    let result = try converter.convert(
      source, to: .init(pixelFormat: .bgra, size: orientation.applied(to: half), orientation: orientation))
    let back = try converter.convert(result, to: .init(orientation: orientation.inverse))
    let small = try rendered(SampleBuffer(pixelBuffer: back), size: half)
    for index in Self.masteredAt1000.indices {
      let colors = (color(of: index, in: whole), color(of: index, in: small, side: Self.side / 2))
      #expect(difference(colors.0, colors.1) <= 1, "\(index): \(colors)")
    }
  }

  @Test func colorsAreAdjustedAfterTheLightHasBeenMapped() throws {
    let source = try frame(Self.masteredAt1000.map { ($0.0, $0.1, $0.2) }, .p010)
    let mapped = try converter.convert(source, to: .init(pixelFormat: .bgra))
    let balance = ColorBalance(brightness: 100, contrast: -200, hue: 300, saturation: 100)
    let images = try [source, mapped].map { frame in
      let target = try converter.pool.makePixelBuffer(
        .make(.bgra, size: frame.size))
      return try balanced(frame, balance, into: target)
    }
    #expect(images[0] == images[1])
  }

  private func balanced(
    _ frame: PixelBuffer, _ balance: ColorBalance, into target: consuming MutablePixelBuffer
  ) throws -> [UInt8] {
    var picture = PictureConverter(bands: .none)
    try frame.withMappedFrame { frame throws(PipSinkError) in
      try target.withMappedFrame { target throws(PipSinkError) in
        try picture.convert(Picture(frame), into: Picture(target), balance: balance)
      }
    }
    return try Oracle.tightBytes(target.finish())
  }

  /// Eight bits have fewer values than ten. The pixels of an area show a value between two of them in turn.
  @Test func everyStepOfTenBitsCanBeSeen() throws {
    let steps = Array(200..<640)
    let frame = try frame(steps.map { ($0, 512, 512) }, .i420Ten)
    let image = try rendered(SampleBuffer(pixelBuffer: frame), size: frame.size)
    var last = -1
    for (index, step) in steps.enumerated() {
      var sum = 0
      for row in 0..<Self.side {
        for column in 0..<Self.side { sum += Int(image.pixel(index * Self.side + column, row)[1]) }
      }
      #expect(sum > last, "step \(step)")
      last = sum
    }
  }

  // MARK: Frames of patches

  private static func masteringDisplay(peak: Int) -> String {
    "mastering-display-info=(string)35400:14600:8500:39850:6550:2300:15635:16450:\(peak * 10000):1"
  }

  private func format(
    _ format: PixelFormat, _ size: PictureSize, colorimetry: String = quantizer, fields: String = ""
  ) throws -> VideoFormatDescription {
    try PipSink.initialize()
    let text =
      "video/x-raw,format=\(format.rawValue),width=\(size.width),height=\(size.height),framerate=25/1"
      + ",colorimetry=(string)\(colorimetry)\(fields)"
    let caps = try #require(gst_caps_from_string(text))
    defer { gst_caps_unref(caps) }
    return try .shared(for: caps)
  }

  /// Makes a frame of squares in a row.
  ///
  /// - Parameter colors: Y, U and V of each square with ten bits, of which formats with eight bits take the upper ones.
  private func frame(
    _ colors: [(Int, Int, Int)], _ pixelFormat: PixelFormat, colorimetry: String = quantizer, fields: String = ""
  ) throws -> PixelBuffer {
    let size = PictureSize(width: colors.count * Self.side, height: Self.side)
    let format = try format(pixelFormat, size, colorimetry: colorimetry, fields: fields)
    var buffer = try converter.pool.makePixelBuffer(format)
    for plane in 0..<format.planeCount {
      try buffer.withMutablePlane(plane) { bytes, layout in
        for row in 0..<layout.height {
          for sample in 0..<layout.bytesPerRow {
            guard let value = self.byte(sample, ofPlane: plane, colors, pixelFormat) else { continue }
            bytes.storeBytes(of: value, toByteOffset: row * layout.bytesPerRow + sample, as: UInt8.self)
          }
        }
      }
    }
    return buffer.finish()
  }

  /// A byte of a row; nil behind its end.
  private func byte(
    _ index: Int, ofPlane plane: Int, _ colors: [(Int, Int, Int)], _ format: PixelFormat
  ) -> UInt8? {
    let sampleSize = format.isTenBit ? 2 : 1
    let sample = index / sampleSize
    // The component of the sample (0 for Y, 1 for U, 2 for V), and the column of its pixel.
    let (component, column): (Int, Int) =
      switch format {
      case .yuy2, .y210: ([0, 1, 0, 2][sample % 4], sample / 2)
      case .uyvy: ([1, 0, 2, 0][sample % 4], sample / 2)
      case .nv12, .p010: plane == 0 ? (0, sample) : (1 + sample % 2, sample / 2 * 2)
      case .nv21: plane == 0 ? (0, sample) : (2 - sample % 2, sample / 2 * 2)
      case .yv12: ([0, 2, 1][plane], plane == 0 ? sample : sample * 2)
      default: (plane, sample << (plane == 0 ? 0 : format.chromaShift.x))
      }
    guard column / Self.side < colors.count else { return nil }
    let color = colors[column / Self.side]
    let value = [color.0, color.1, color.2][component]
    guard format.isTenBit else { return UInt8(value / 4) }
    let word = value << (format.tenBitShift ?? 0)
    return UInt8(truncatingIfNeeded: index % 2 == 0 ? word : word >> 8)
  }

  /// The red, green and blue in the middle of a square.
  private func color(of index: Int, in image: BGRAImage, side: Int = side) -> (Int, Int, Int) {
    let pixel = image.pixel(index * side + side / 2, side / 2)
    return (Int(pixel[2]), Int(pixel[1]), Int(pixel[0]))
  }

  /// The distance of two colours in CIE L*a*b* (1976), on a display with the gamma of BT.1886.
  private func difference(_ one: (Int, Int, Int), _ other: (Int, Int, Int)) -> Double {
    let (a, b) = (lab(one), lab(other))
    return sqrt((0..<3).map { (a[$0] - b[$0]) * (a[$0] - b[$0]) }.reduce(0, +))
  }

  private func lab(_ color: (Int, Int, Int)) -> [Double] {
    let (r, g, b) = (light(color.0), light(color.1), light(color.2))
    let x = root((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505)
    let y = root(0.2126 * r + 0.7152 * g + 0.0722 * b)
    let z = root((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089)
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)]
  }

  private func light(_ value: Int) -> Double { pow(Double(value) / 255, 2.4) }

  private func root(_ value: Double) -> Double { value > 0.008856 ? cbrt(value) : 7.787 * value + 16.0 / 116 }
}
