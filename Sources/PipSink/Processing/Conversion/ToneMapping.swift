import Glibc

/// Converts YUV with a high dynamic range to BGRA for displays with the standard one.
///
/// Light is compressed by the electro-electrical transfer function (EETF) of ITU-R BT.2390, so that the brightest pixel
/// of the programme is as bright as the display can be. What is darker than a knee stays as it is. The function
/// is applied to the largest of red, green and blue, and all three are scaled alike, so that the hue stays. Then the
/// primaries of BT.2020 become those of BT.709, whose values are limited to what the display can show. White is at
/// 203 cd/m², as in ITU-R BT.2408, and the display has the gamma of ITU-R BT.1886.
///
/// Tables have what costs time.
///
/// `@unchecked Sendable`: everything is constant after `init`.
final class ToneMapping: @unchecked Sendable {
  let colorimetry: Colorimetry
  /// The light of a coded value of red, green or blue: in hybrid log-gamma as a share of the brightest light, before the
  /// OOTF, and otherwise as a share of the peak.
  private let light: UnsafeMutablePointer<Float>
  /// By what the EETF multiplies light, by the largest coded value: the result is a share of white. In hybrid log-gamma
  /// by the largest light, as ``LightIndex`` has it.
  private let compression: UnsafeMutablePointer<Float>
  /// By what the OOTF of hybrid log-gamma multiplies light, by the index of its luminance; nil for other transfers.
  private let system: UnsafeMutablePointer<Float>?
  /// The value for the display in units of 1/256, by the index of light as a share of white.
  private let code: UnsafeMutablePointer<UInt16>
  private let decoding: Decoding
  private let primaries: Primaries

  /// The largest coded value.
  fileprivate static let largest = 2047
  /// The luminance of white on the display, in cd/m².
  private static let white = 203.0

  /// The mapping that was used last. All places of a stream need the same, and each of them a new plan for each size.
  private static let newest = Locked<ToneMapping?>(nil)

  /// The mapping for a colorimetry that has a high dynamic range.
  static func of(_ colorimetry: Colorimetry) -> ToneMapping {
    newest.withLock { newest in
      if let newest, newest.colorimetry == colorimetry { return newest }
      let new = ToneMapping(colorimetry)
      newest = new
      return new
    }
  }

  private init(_ colorimetry: Colorimetry) {
    self.colorimetry = colorimetry
    let range = colorimetry.highDynamicRange ?? HighDynamicRange(.perceptualQuantizer)
    let isGamma = range.transfer == .hybridLogGamma
    let peak = Double(range.peak)
    let factor = { (luminance: Double) in
      Float(Self.compressed(luminance, peak: peak) / luminance * peak / Self.white)
    }
    if isGamma {
      light = Self.table(Self.largest + 1) { Float(HybridLogGamma.light(Double($0) / Double(Self.largest))) }
      compression = Self.table(LightIndex.count) { factor(LightIndex.light($0) * peak) }
      system = Self.table(LightIndex.count) { Float(pow(LightIndex.light($0), HybridLogGamma.gamma - 1)) }
    } else {
      let luminance = { (value: Int) in
        min(peak, PerceptualQuantizer.luminance(Double(value) / Double(Self.largest)))
      }
      light = Self.table(Self.largest + 1) { Float(luminance($0) / peak) }
      // The value 0 has no factor, but its light is 0.
      compression = Self.table(Self.largest + 1) { factor(luminance(max($0, 1))) }
      system = nil
    }
    code = Self.table(LightIndex.count) { index in
      index == 0 ? 0 : UInt16((255 * 256 * pow(LightIndex.light(index), 1 / 2.4)).rounded())
    }
    decoding = Decoding(colorimetry)
    primaries = range.hasWideGamut ? .bt2020 : .bt709
  }

  deinit {
    light.deallocate()
    compression.deallocate()
    system?.deallocate()
    code.deallocate()
  }

  private static func table<Value>(_ count: Int, _ value: (Int) -> Value) -> UnsafeMutablePointer<Value> {
    let table = UnsafeMutablePointer<Value>.allocate(capacity: count)
    for index in 0..<count { (table + index).initialize(to: value(index)) }
    return table
  }

  /// The EETF of ITU-R BT.2390, for a display whose black is the programme's: values up to a knee stay, and a Hermite
  /// spline leads from there to the peak.
  private static func compressed(_ luminance: Double, peak: Double) -> Double {
    let brightest = PerceptualQuantizer.value(peak)
    let limit = PerceptualQuantizer.value(white) / brightest
    let knee = 1.5 * limit - 0.5
    let value = min(1, PerceptualQuantizer.value(luminance) / brightest)
    guard value > knee, knee < 1 else { return luminance }
    let t = (value - knee) / (1 - knee)
    let (square, cube) = (t * t, t * t * t)
    let result =
      (2 * cube - 3 * square + 1) * knee + (cube - 2 * square + t) * (1 - knee) + (3 * square - 2 * cube) * limit
    return PerceptualQuantizer.luminance(result * brightest)
  }

  /// Writes the picture to the pixels of `target`.
  ///
  /// - Parameters:
  ///   - source: has YUV in planes, with eight or ten bits for each sample.
  ///   - target: pixels of four bytes: blue, green, red, and 255.
  ///   - firstRow: the row of the whole picture that is the first one here.
  func perform(from source: Picture, into target: Picture.Plane, firstRow: Int) {
    let width = source.size.width
    withUnsafeTemporaryAllocation(of: UInt16.self, capacity: width * 3) { samples in
      guard let y = samples.baseAddress else { return }
      let (u, v) = (y + width, y + 2 * width)
      for row in 0..<Int32(source.size.height) {
        source.readTenBits(row: row, y, u, v)
        convert(
          (y, u, v), chromaShift: source.format.chromaShift.x,
          into: UnsafeMutableRawPointer(target.row(row)).assumingMemoryBound(to: UInt32.self), count: width,
          dither: OrderedDither.thresholds(ofRow: firstRow + Int(row)))
      }
    }
  }

  /// Converts a row.
  ///
  /// - Parameter dither: eight bytes, for the columns from the lowest one on.
  private func convert(
    _ samples: (y: UnsafeMutablePointer<UInt16>, u: UnsafeMutablePointer<UInt16>, v: UnsafeMutablePointer<UInt16>),
    chromaShift: Int,
    into pixels: UnsafeMutablePointer<UInt32>, count: Int, dither: UInt64
  ) {
    let (light, compression, system, code) = (light, compression, system, code)
    let (decoding, primaries) = (decoding, primaries)
    for column in 0..<count {
      let coded = decoding.coded(
        samples.y[column], samples.u[column &>> chromaShift], samples.v[column &>> chromaShift])
      var (r, g, b) = (light[coded.red], light[coded.green], light[coded.blue])
      let factor: Float
      if let system {
        let ootf = system[LightIndex.of(0.2627 * r + 0.6780 * g + 0.0593 * b)]
        factor = ootf * compression[LightIndex.of(ootf * max(r, max(g, b)))]
      } else {
        factor = compression[max(coded.red, max(coded.green, coded.blue))]
      }
      (r, g, b) = primaries.converted(r * factor, g * factor, b * factor)
      let threshold = UInt32(truncatingIfNeeded: dither &>> UInt64((column & 7) * 8)) & 255
      let red = (UInt32(code[LightIndex.of(r)]) &+ threshold) &>> 8
      let green = (UInt32(code[LightIndex.of(g)]) &+ threshold) &>> 8
      let blue = (UInt32(code[LightIndex.of(b)]) &+ threshold) &>> 8
      pixels[column] = 0xFF00_0000 | red &<< 16 | green &<< 8 | blue
    }
  }
}

/// The index of light in a table: 512 entries for each factor of two, as the eye sees it. The first one has all light
/// that cannot be told from black, and the last one is that of 1 and more.
private enum LightIndex {
  /// The smallest light that is not the first entry's.
  private static let darkest: Float = 0x1p-24
  private static let unusedBits = UInt32(Float.significandBitCount - 9)
  private static let half = UInt32(1) << (unusedBits - 1)
  private static let first = Int(darkest.bitPattern >> unusedBits)
  static let count = Int(Float(1).bitPattern >> unusedBits) - first + 1

  @inline(__always)
  static func of(_ light: Float) -> Int {
    Int((min(max(light, darkest), 1).bitPattern &+ half) &>> unusedBits) &- first
  }

  /// The light of an entry, which is that nearest to the light that it stands for.
  static func light(_ index: Int) -> Double { Double(Float(bitPattern: UInt32(index + first) << unusedBits)) }
}

extension ToneMapping: Equatable {
  static func == (left: ToneMapping, right: ToneMapping) -> Bool { left.colorimetry == right.colorimetry }
}

/// Makes coded red, green and blue, from 0 to 2047, from YUV with ten bits.
private struct Decoding {
  // The weights are in units of 1/16384.
  private let black: Int32
  private let luma: Int32
  private let redOfV: Int32
  private let greenOfU: Int32
  private let greenOfV: Int32
  private let blueOfU: Int32

  init(_ colorimetry: Colorimetry) {
    let (red, blue) = colorimetry.matrix.lumaWeights
    let green = 1 - red - blue
    let isFull = colorimetry.isFullRange
    let unit = Double(ToneMapping.largest) * 16384
    let weight = { (value: Double) in Int32((value * unit / (isFull ? 1023 : 896)).rounded()) }
    black = isFull ? 0 : 64
    luma = Int32((unit / (isFull ? 1023 : 876)).rounded())
    redOfV = weight(2 * (1 - red))
    greenOfU = weight(-2 * (1 - blue) * blue / green)
    greenOfV = weight(-2 * (1 - red) * red / green)
    blueOfU = weight(2 * (1 - blue))
  }

  @inline(__always)
  func coded(_ y: UInt16, _ u: UInt16, _ v: UInt16) -> (red: Int, green: Int, blue: Int) {
    let (u, v) = (Int32(u) &- 512, Int32(v) &- 512)
    let gray = (Int32(y) &- black) &* luma &+ 8192
    return (
      Self.limited(gray &+ redOfV &* v), Self.limited(gray &+ greenOfU &* u &+ greenOfV &* v),
      Self.limited(gray &+ blueOfU &* u)
    )
  }

  @inline(__always)
  private static func limited(_ value: Int32) -> Int { Int(min(max(value &>> 14, 0), Int32(ToneMapping.largest))) }
}

/// What makes linear red, green and blue of BT.709 from that of other primaries.
private struct Primaries {
  private let red: (Float, Float, Float)
  private let green: (Float, Float, Float)
  private let blue: (Float, Float, Float)

  /// From ITU-R BT.2407.
  static let bt2020 = Primaries(
    red: (1.6605, -0.5876, -0.0728), green: (-0.1246, 1.1329, -0.0083), blue: (-0.0182, -0.1006, 1.1187))
  static let bt709 = Primaries(red: (1, 0, 0), green: (0, 1, 0), blue: (0, 0, 1))

  @inline(__always)
  func converted(_ r: Float, _ g: Float, _ b: Float) -> (Float, Float, Float) {
    (
      red.0 * r + red.1 * g + red.2 * b, green.0 * r + green.1 * g + green.2 * b,
      blue.0 * r + blue.1 * g + blue.2 * b
    )
  }
}

/// The perceptual quantizer of SMPTE ST 2084.
private enum PerceptualQuantizer {
  private static let (m1, m2) = (2610.0 / 16384, 2523.0 / 4096 * 128)
  private static let (c1, c2, c3) = (3424.0 / 4096, 2413.0 / 4096 * 32, 2392.0 / 4096 * 32)

  /// The luminance of a coded value from 0 to 1, in cd/m².
  static func luminance(_ value: Double) -> Double {
    let root = pow(value, 1 / m2)
    return 10_000 * pow(max(root - c1, 0) / (c2 - c3 * root), 1 / m1)
  }

  /// The coded value of a luminance in cd/m².
  static func value(_ luminance: Double) -> Double {
    let share = pow(luminance / 10_000, m1)
    return pow((c1 + c2 * share) / (1 + c3 * share), m2)
  }
}

/// Hybrid log-gamma of ITU-R BT.2100.
private enum HybridLogGamma {
  /// The gamma of the OOTF for a peak of 1,000 cd/m².
  static let gamma = 1.2
  private static let (a, b, c) = (0.17883277, 0.28466892, 0.55991073)

  /// The light of the scene for a coded value from 0 to 1.
  static func light(_ value: Double) -> Double {
    value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
  }
}

extension Picture {
  /// Reads a row of a YUV picture with planes, with ten bits for each sample. Chroma that is subsampled horizontally
  /// stays so.
  fileprivate func readTenBits(
    row: Int32, _ y: UnsafeMutablePointer<UInt16>, _ u: UnsafeMutablePointer<UInt16>,
    _ v: UnsafeMutablePointer<UInt16>
  ) {
    let chromaRow = row >> Int32(format.chromaShift.y)
    let width = Int(planes[1].width)
    let unused = UInt16(format.tenBitShift ?? 0)
    func words(_ plane: Int, _ row: Int32) -> UnsafeMutablePointer<UInt16> {
      UnsafeMutableRawPointer(planes[plane].row(row)).assumingMemoryBound(to: UInt16.self)
    }
    func read(_ plane: Int, _ row: Int32, count: Int, into samples: UnsafeMutablePointer<UInt16>) {
      if format.isTenBit {
        let from = words(plane, row)
        for index in 0..<count { samples[index] = (from[index] &>> unused) & 1023 }
      } else {
        let from = planes[plane].row(row)
        for index in 0..<count { samples[index] = UInt16(from[index]) &<< 2 }
      }
    }
    read(0, row, count: size.width, into: y)
    switch format {
    case .gray8:
      for index in 0..<size.width { (u[index], v[index]) = (512, 512) }
    case .p010:
      let from = words(1, chromaRow)
      for index in 0..<width { (u[index], v[index]) = (from[2 * index] &>> 6, from[2 * index + 1] &>> 6) }
    case .nv12, .nv21:
      let from = planes[1].row(chromaRow)
      let (first, second) = format == .nv12 ? (u, v) : (v, u)
      for index in 0..<width {
        (first[index], second[index]) = (UInt16(from[2 * index]) &<< 2, UInt16(from[2 * index + 1]) &<< 2)
      }
    default:
      read(1, chromaRow, count: width, into: u)
      read(2, chromaRow, count: width, into: v)
    }
  }
}
