import CGStreamer
import CLibYUV
import Testing

@testable import PipSink
@testable import TestSupport

/// Frames with ten bits per sample, of which eight are shown. A pattern of two neighbouring values stands for what is
/// between them.
@Suite struct TenBitTests {
  private static let formats = PixelFormat.allCases.filter(\.isTenBit)
  /// All lumas from black to white.
  private static let ramp = Array(64...940)
  /// The side of the pattern, after which it begins again. A square of this size has every threshold once, wherever it
  /// lies.
  private static let side = 8

  private let converter = PixelConverter(usesHelperThreads: false)

  // MARK: Values

  /// The average of a square is exactly the value, so that the sum of its 64 pixels is 16 times the value in ten bits.
  @Test(arguments: formats, [PixelFormat.gray8, .i420, .nv12, .y444])
  func theMeanOfEachLumaStays(format: PixelFormat, target: PixelFormat) throws {
    let result = try converter.convert(ramp(format), to: .init(pixelFormat: target))
    let luma = try Oracle.tightBytes(result)
    #expect(Self.ramp.indices.allSatisfy { sum(luma, result.size.width, $0 * Self.side, 0) == Self.ramp[$0] * 16 })
  }

  @Test(arguments: formats)
  func theMeanOfEachChromaStays(format: PixelFormat) throws {
    let values = Array(stride(from: 64, through: 960, by: 7))
    // Chroma is half as wide and as high as luma, or less.
    let patch = Self.side * 2
    let source = try frame(format, .init(width: values.count * patch, height: patch)) { component, x, _ in
      let value = values[x / patch]
      return component == 0 ? 512 : component == 1 ? value : 1023 - value
    }
    let result = try converter.convert(source, to: .init(pixelFormat: .i420))
    let (u, v) = try (Oracle.tightBytes(result, plane: 1), Oracle.tightBytes(result, plane: 2))
    // Between 4:2:2 and 4:2:0 two rows of the pattern are averaged, which rounds half of the pairs up.
    let tolerance = format.chromaShift.y == 1 ? 0 : Self.side * Self.side / 2
    for (index, value) in values.enumerated() {
      let sums = [u, v].map { sum($0, result.size.width / 2, index * Self.side, 0) }
      let differences = [abs(sums[0] - value * 16), abs(sums[1] - (1023 - value) * 16)]
      #expect(differences.allSatisfy { $0 <= tolerance }, "\(value): \(differences)")
    }
  }

  @Test(arguments: formats, [PixelFormat.bgra, .bgrx, .rgb])
  func everyStepOfASlowRampCanBeSeen(format: PixelFormat, target: PixelFormat) throws {
    let source = try ramp(format)
    let converted = try converter.convert(source, to: .init(pixelFormat: target))
    let unit = target == .rgb ? 3 : 4
    try expectIncreasing(Oracle.tightBytes(converted), source.size.width, unit: unit)
    let shown = try rendered(SampleBuffer(pixelBuffer: source), size: source.size)
    try expectIncreasing(shown.bytes, source.size.width, unit: 4)
  }

  private func expectIncreasing(_ bytes: [UInt8], _ width: Int, unit: Int) throws {
    let sums = Self.ramp.indices.map { sum(bytes, width, $0 * Self.side, 0, unit: unit) }
    let steps = zip(sums, sums.dropFirst()).filter { $0 < $1 }.count
    #expect(steps == Self.ramp.count - 1, "\(steps) of \(Self.ramp.count - 1) steps")
    #expect(sums.first == 0 && sums.last == 255 * Self.side * Self.side)
  }

  @Test(arguments: formats, [(17, 9), (64, 48), (1, 1)])
  func blackAndWhiteHaveNoPattern(format: PixelFormat, size: (Int, Int)) throws {
    for (luma, value) in [(64, 0), (940, 255)] {
      let source = try frame(format, .init(width: size.0, height: size.1)) { component, _, _ in
        component == 0 ? luma : 512
      }
      for shown in [source.size, PictureSize(width: 30, height: 40), .init(width: 100, height: 70)] {
        let image = try rendered(SampleBuffer(pixelBuffer: source), size: shown)
        #expect(image.bytes.enumerated().allSatisfy { $1 == ($0 % 4 == 3 ? 255 : UInt8(value)) }, "\(luma) \(shown)")
      }
      let gray = try Oracle.tightBytes(converter.convert(source, to: .init(pixelFormat: .gray8)))
      #expect(gray.allSatisfy { Int($0) == luma / 4 })
    }
  }

  @Test(arguments: [(0, false), (0, true), (6, false), (6, true)] as [(Int32, Bool)])
  func everyWordBecomesItsUpperByteOrTheNextOne(shift: Int32, isInPairs: Bool) {
    let words = (0...65535).map { UInt16($0) }
    for count in Array(0...40) + [65536] {
      for row in 0..<Self.side {
        // The words begin at an odd address.
        var source = [UInt8](repeating: 0, count: 1 + 2 * count)
        let first = count == 65536 ? 0 : 65536 - count
        for index in 0..<count {
          source[1 + 2 * index] = UInt8(truncatingIfNeeded: words[first + index])
          source[2 + 2 * index] = UInt8(words[first + index] >> 8)
        }
        var target = [UInt8](repeating: 7, count: count + 1)
        let thresholds = (0..<Self.side).map { OrderedDither.thresholds(ofRow: $0) }
        source.withUnsafeBufferPointer { source in
          pipsink_dither_plane(
            source.baseAddress! + 1, 0, &target, 0, Int32(count), 1, shift, thresholds, Int32(row), isInPairs)
        }
        let wrong = (0..<count).filter { index in
          let word = Int(words[first + index] << UInt16(shift))
          return Int(target[index]) != min(255, (word + threshold(isInPairs ? index / 2 : index, row)) / 256)
        }
        #expect(wrong.isEmpty && target[count] == 7, "\(count) words, row \(row): \(wrong.prefix(4))")
      }
    }
  }

  /// The matrix by its recursive definition, each of whose thresholds is in the middle of its range.
  private static let matrix: [[Int]] = {
    var matrix = [[0]]
    for half in [1, 2, 4] {
      matrix = (0..<2 * half).map { y in
        (0..<2 * half).map { x in 4 * matrix[y % half][x % half] + [[0, 2], [3, 1]][y / half][x / half] }
      }
    }
    return matrix.map { $0.map { $0 * 4 + 2 } }
  }()

  private func threshold(_ column: Int, _ row: Int) -> Int { Self.matrix[row % Self.side][column % Self.side] }

  // MARK: Places

  /// Bands begin in the middle of the pattern, of luma and of chroma. A high dynamic range is shared among threads from
  /// fewer pixels on.
  @Test(arguments: formats, [("bt709", 1500, 1442), ("2:6:14:7", 642, 362)])
  func thePatternDoesNotDependOnTheBands(format: PixelFormat, kind: (colorimetry: String, width: Int, height: Int))
    throws
  {
    let source = try noise(format, .init(width: kind.width, height: kind.height), colorimetry: kind.colorimetry)
    for orientation in [VideoOrientation.upright, .init(rotation: .quarter)] {
      for target in [PixelFormat.bgra, .i422] where target == .bgra || orientation == .upright {
        let expected = try converted(source, to: target, orientation, by: .none)
        for helperCount in [1, 2] {
          let result = try converted(source, to: target, orientation, by: RowBands(helperCount: helperCount))
          #expect(try PixelComparison.areEqual(result, expected), "\(target), \(orientation), \(helperCount) helpers")
        }
      }
    }
  }

  /// Whatever happens to a plain picture before, the pattern lies in the same way on the result.
  @Test(arguments: formats, [(508, 0), (509, 1), (510, 2), (511, 3)])
  func thePatternLiesOnThePictureThatIsShown(format: PixelFormat, value: (Int, Int)) throws {
    let source = try frame(format, .init(width: 96, height: 64)) { component, _, _ in component == 0 ? value.0 : 512 }
    for size in [(96, 64), (48, 32), (24, 16), (64, 43), (144, 96), (31, 17), (200, 160)] {
      for orientation in VideoOrientation.allCases {
        let output = PixelConverter.Output(
          pixelFormat: .gray8, size: .init(width: size.0, height: size.1), orientation: orientation)
        let luma = try Oracle.tightBytes(converter.convert(source, to: output))
        let wrong = luma.indices.filter { index in
          Int(luma[index]) != (value.0 * 64 + self.threshold(index % size.0, index / size.0)) / 256
        }
        #expect(wrong.isEmpty, "\(size), \(orientation): \(wrong.count) pixels")
        // A value of every fourth step has no pattern.
        if value.1 == 0 { #expect(luma.allSatisfy { $0 == 127 }) }
      }
    }
  }

  /// Ten bits are reduced to eight at last, so that nothing averages the pattern away.
  @Test(arguments: formats, [(320, 180), (160, 90), (426, 240), (213, 120), (640, 360), (1000, 500)])
  func aScaledPictureIsTheSameWhetherItsFormatChangesAtOnceOrAfterwards(
    format: PixelFormat, size: (Int, Int)
  ) throws {
    let source = try noise(format, .init(width: 640, height: 360))
    let size = PictureSize(width: size.0, height: size.1)
    for orientation in VideoOrientation.allCases where !orientation.swapsSides || format.chromaShift.y == 1 {
      for target in [PixelFormat.bgra, .i420, .gray8] {
        let atOnce = try converter.convert(
          source, to: .init(pixelFormat: target, size: size, orientation: orientation))
        let scaled = try converter.convert(source, to: .init(size: size, orientation: orientation))
        #expect(scaled.pixelFormat == format)
        let last = try converter.convert(scaled, to: .init(pixelFormat: target))
        #expect(try PixelComparison.areEqual(atOnce, last), "\(target), \(orientation)")
      }
    }
  }

  @Test(arguments: formats, [(2, 2), (4, 4), (3, 3), (3, 2), (5, 3), (1, 2), (2, 3)])
  func aSlowRampHasAllItsStepsAtEverySize(format: PixelFormat, ratio: (from: Int, to: Int)) throws {
    let ratio = ratio.from == ratio.to ? (from: ratio.from, to: 1) : ratio
    // A scaled patch is as wide as three patterns, so that one of them is away from its edges.
    let patch = Self.side * 3 * ratio.from
    let values = Array(500..<520)
    let source = try frame(format, .init(width: values.count * patch, height: patch)) { component, x, _ in
      component == 0 ? values[x / patch] : 512
    }
    let scaled = patch * ratio.to / ratio.from
    let size = PictureSize(width: values.count * scaled, height: scaled)
    let result = try converter.convert(source, to: .init(pixelFormat: .nv12, size: size))
    let luma = try Oracle.tightBytes(result)
    for (index, value) in values.enumerated() {
      let middle = sum(luma, size.width, index * scaled + Self.side * ratio.to, Self.side)
      #expect(middle == value * 16, "\(value): \(middle)")
    }
  }

  @Test(arguments: formats)
  func paddingCropsAndTheOrderOfRowsChangeNothing(format: PixelFormat) throws {
    let source = try noise(format, .init(width: 70, height: 46))
    let expected = try bgra({ Picture($0) }, of: source)
    for padding in [6, 32, 19] {
      #expect(try bgra({ Picture($0) }, of: TestFrame.padded(source, padding: padding)) == expected)
    }
    // A picture whose rows are stored from the last to the first.
    let flipped = try converter.convert(source, to: .init(orientation: .flippedVertically))
    #expect(try bgra({ Picture($0).upsideDown }, of: flipped) == expected)
    let rect = PictureRect(x: 6, y: 10, width: 33, height: 21)
    // The pattern begins at the corner of the crop, so that a copy of the crop looks the same.
    let copy = try bgra({ Picture($0) }, of: copied(source, rect))
    #expect(try bgra({ Picture($0, crop: rect) }, of: source) == copy)
  }

  // MARK: Packed 4:2:2

  @Test(arguments: [(64, 32), (33, 9), (1, 1), (642, 5)])
  func y210HasTheSamplesOfPlanes(size: (Int, Int)) throws {
    let size = PictureSize(width: size.0, height: size.1)
    var random = SeededGenerator(seed: 210)
    let samples = (0..<3 * size.width * size.height).map { _ in Int.random(in: 0...1023, using: &random) }
    let value = { (component: Int, x: Int, y: Int) in
      samples[(component * size.height + y) * size.width + min(x, size.width - 1)]
    }
    let (packed, planar) = try (frame(.y210, size, value), frame(.i422Ten, size, value))
    for target in [PixelFormat.i422, .bgra, .nv12, .gray8, .y444] {
      let results = try [packed, planar].map { try converter.convert($0, to: .init(pixelFormat: target)) }
      #expect(try PixelComparison.areEqual(results[0], results[1]), "\(target)")
    }
    for orientation in [VideoOrientation.mirrored, .flippedVertically, .init(rotation: .half)] {
      let results = try [packed, planar].map {
        try converter.convert($0, to: .init(pixelFormat: .i422, orientation: orientation))
      }
      #expect(try PixelComparison.areEqual(results[0], results[1]), "\(orientation)")
    }
  }

  /// videoconvert cuts the lower bits off. The dither rounds up or down, by less than one.
  @Test(arguments: formats)
  func eightBitsAreVideoconvertsOrTheNextValue(format: PixelFormat) throws {
    let source = try noise(format, .init(width: 642, height: 362), isTenBits: true)
    let result = try converter.convert(source, to: .init(pixelFormat: planes(of: format)))
    let expected = try Oracle.converted(source, to: result.formatDescription.capsDescription)
    for plane in 0..<result.planeCount {
      let (ours, theirs) = try (Oracle.tightBytes(result, plane: plane), Oracle.tightBytes(expected, plane: plane))
      #expect(PixelComparison.differ(atMost: 1, ours, theirs), "plane \(plane)")
      #expect(!PixelComparison.areEqual(ours, theirs), "plane \(plane) is cut off")
    }
  }

  /// videoflip knows the format with planes, to which and from which videoconvert changes Y210 without a loss.
  @Test(arguments: [PixelFormat.y210, .i422Ten])
  func turned422IsVideoflips(format: PixelFormat) throws {
    let source = try noise(format, .init(width: 66, height: 34), isTenBits: true)
    // To the left by 90 degrees, videoflip does not average the last chroma of each row.
    let methods = [
      (["90r"], VideoOrientation(rotation: .quarter)), (["180"], VideoOrientation(rotation: .half)),
      (["90r", "180"], VideoOrientation(rotation: .threeQuarters)), (["horiz"], .mirrored),
      (["vert"], .flippedVertically),
    ]
    for (steps, orientation) in methods {
      let turned = try converter.convert(source, to: .init(orientation: orientation))
      #expect(turned.pixelFormat == format)
      let expected = try steps.reduce(planar(source)) { try Oracle.flipped($0, method: $1) }
      let (ours, theirs) = try (words(planar(turned)), words(expected))
      #expect(ours[0] == theirs[0], "\(steps): luma")
      // In a quarter turn two rows of chroma are averaged. videoflip rounds down, and libyuv to the nearest value.
      let tolerance = orientation.swapsSides ? 1 : 0
      for plane in 1...2 {
        let isAlike = zip(ours[plane], theirs[plane]).allSatisfy { abs($0 - $1) <= tolerance }
        #expect(isAlike && ours[plane].count == theirs[plane].count, "\(steps): plane \(plane)")
      }
    }
  }

  @Test func grayscaleKeepsTheLumaOfY210() throws {
    for size in [(64, 48), (33, 7)] {
      let source = try noise(.y210, .init(width: size.0, height: size.1))
      let gray = try #require(try GrayscaleProcessor().process(SampleBuffer(pixelBuffer: source)))
      let (new, old) = (gray.formatDescription, source.formatDescription)
      #expect(new.pixelFormat == .y210 && new.size == old.size && new.colorimetry == old.colorimetry)
      let (before, after) = try (words(source)[0], words(gray.pixelBuffer)[0])
      #expect(after.indices.allSatisfy { after[$0] == ($0 % 2 == 0 ? before[$0] : 512 << 6) })
    }
  }

  // MARK: Frames

  private func ramp(_ format: PixelFormat) throws -> PixelBuffer {
    try frame(format, .init(width: Self.ramp.count * Self.side, height: Self.side)) { component, x, _ in
      component == 0 ? Self.ramp[x / Self.side] : 512
    }
  }

  /// Makes a frame.
  ///
  /// - Parameter value: the value of a component (0 for Y, 1 for U, 2 for V) with ten bits, at the first pixel that it
  ///   belongs to.
  private func frame(
    _ pixelFormat: PixelFormat, _ size: PictureSize, colorimetry: String = "bt709",
    _ value: (_ component: Int, _ x: Int, _ y: Int) -> Int
  ) throws -> PixelBuffer {
    try words(pixelFormat, size, colorimetry) { plane, word, row in
      let (component, x) =
        switch pixelFormat {
        case .y210: ([0, 1, 0, 2][word % 4], word % 2 == 0 ? word / 2 : word / 4 * 2)
        case .p010 where plane == 1: (1 + word % 2, word / 2 * 2)
        default: (plane, plane == 0 ? word : word << pixelFormat.chromaShift.x)
        }
      let y = plane == 0 ? row : row << pixelFormat.chromaShift.y
      return UInt16(value(component, x, y) << (pixelFormat.tenBitShift ?? 0))
    }
  }

  /// Makes a frame of random words, in which also the bits below the ten are set, as after scaling.
  private func noise(
    _ pixelFormat: PixelFormat, _ size: PictureSize, colorimetry: String = "bt709", isTenBits: Bool = false
  ) throws -> PixelBuffer {
    try PipSink.initialize()
    var random = SeededGenerator(seed: 1023)
    let shift = UInt64(pixelFormat.tenBitShift ?? 0)
    let mask: UInt64 = shift == 0 || isTenBits ? 0x03FF_03FF_03FF_03FF << shift : .max
    var frame = try converter.pool.makePixelBuffer(.make(pixelFormat, size: size, colorimetry: colorimetry))
    for plane in 0..<frame.planeCount {
      try frame.withMutablePlane(plane) { bytes, _ in
        bytes.withUnsafeMutableBytes { bytes in
          for offset in stride(from: 0, to: bytes.count - 1, by: 2) where offset % 8 == 0 || bytes.count - offset < 8 {
            let words = random.next() & mask
            withUnsafeBytes(of: words) { bytes[offset...].copyBytes(from: $0.prefix(bytes.count - offset)) }
          }
        }
      }
    }
    return frame.finish()
  }

  private func words(
    _ pixelFormat: PixelFormat, _ size: PictureSize, _ colorimetry: String,
    _ word: (_ plane: Int, _ index: Int, _ row: Int) -> UInt16
  ) throws -> PixelBuffer {
    try PipSink.initialize()
    let format = try VideoFormatDescription.make(pixelFormat, size: size, colorimetry: colorimetry)
    var frame = try converter.pool.makePixelBuffer(format)
    for plane in 0..<frame.planeCount {
      try frame.withMutablePlane(plane) { bytes, layout in
        let count = pixelFormat.rowByteCount(plane, width: layout.width) / 2
        bytes.withUnsafeMutableBytes { bytes in
          for row in 0..<layout.height {
            for index in 0..<count {
              bytes.storeBytes(
                of: word(plane, index, row), toByteOffset: row * layout.bytesPerRow + index * 2, as: UInt16.self)
            }
          }
        }
      }
    }
    return frame.finish()
  }

  /// The words of each plane.
  private func words(_ pixelBuffer: PixelBuffer) throws -> [[Int]] {
    try Oracle.planes(pixelBuffer).map { bytes in
      stride(from: 0, to: bytes.count, by: 2).map { Int(bytes[$0]) | Int(bytes[$0 + 1]) << 8 }
    }
  }

  /// The same samples in planes, made by videoconvert.
  private func planar(_ pixelBuffer: PixelBuffer) throws -> PixelBuffer {
    guard pixelBuffer.pixelFormat != .i422Ten else { return pixelBuffer }
    let size = pixelBuffer.size
    let format = try VideoFormatDescription.make(.i422Ten, size: size, frameRate: (30, 1), colorimetry: "bt709")
    return try Oracle.converted(pixelBuffer, to: format.capsDescription)
  }

  /// The format with eight bits and the same chroma, in planes.
  private func planes(of format: PixelFormat) -> PixelFormat { format == .y210 ? .i422 : format.withEightBits }

  private func copied(_ source: PixelBuffer, _ rect: PictureRect) throws -> PixelBuffer {
    var copy = try converter.pool.makePixelBuffer(
      .make(source.pixelFormat, size: rect.size, colorimetry: "bt709"))
    try source.withMappedFrame { source throws(PipSinkError) in
      try copy.withMappedFrame { target throws(PipSinkError) in
        Picture(source, crop: rect).copy(into: Picture(target))
      }
    }
    return copy.finish()
  }

  private func bgra(_ picture: (MappedFrame) -> Picture, of source: PixelBuffer) throws -> [UInt8] {
    var converter = PictureConverter(bands: .none)
    return try source.withMappedFrame { frame throws(PipSinkError) in
      let picture = picture(frame)
      let size = picture.size
      var bytes = [UInt8](repeating: 7, count: size.width * size.height * 4)
      try bytes.withUnsafeMutableBufferPointer { bytes throws(PipSinkError) in
        guard let base = bytes.baseAddress else { return }
        try converter.convert(
          picture, into: Picture(packed: .bgra, size: size, data: base, stride: Int32(size.width * 4)))
      }
      return bytes
    }
  }

  private func converted(
    _ source: PixelBuffer, to format: PixelFormat, _ orientation: VideoOrientation, by bands: RowBands
  ) throws -> PixelBuffer {
    var converter = PictureConverter(bands: bands)
    var target = try self.converter.pool.makePixelBuffer(.make(format, size: orientation.applied(to: source.size)))
    try source.withMappedFrame { source throws(PipSinkError) in
      try target.withMappedFrame { target throws(PipSinkError) in
        try converter.convert(Picture(source), into: Picture(target), orientation: orientation)
      }
    }
    return target.finish()
  }

  /// The sum of the first bytes of the pixels in a square as large as the pattern.
  private func sum(_ bytes: [UInt8], _ width: Int, _ x: Int, _ y: Int, unit: Int = 1) -> Int {
    var sum = 0
    for row in y..<y + Self.side {
      for column in x..<x + Self.side { sum += Int(bytes[(row * width + column) * unit]) }
    }
    return sum
  }
}
