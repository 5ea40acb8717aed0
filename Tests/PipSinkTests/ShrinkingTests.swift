import CLibYUV
import Testing

@testable import PipSink
@testable import TestSupport

/// Pictures that are made smaller in one direction or in both. Every pixel must have an effect on the result.
@Suite struct ShrinkingTests {
  private let converter = PixelConverter()

  /// The direction of a plane's bright stripes.
  private enum Stripes: CaseIterable {
    case columns, rows
  }

  /// Makes a frame in which every fourth column or row of samples is bright and the others are dark. Their average is a
  /// quarter of the difference above the dark value.
  private func striped(_ format: PixelFormat, _ size: PictureSize, _ stripes: Stripes) throws -> PixelBuffer {
    try PipSink.initialize()
    var frame = try converter.pool.makePixelBuffer(.make(format, size: size))
    for plane in 0..<frame.planeCount {
      try frame.withMutablePlane(plane) { bytes, layout in
        let unit = format.rowByteCount(plane, width: 1)
        for row in 0..<layout.height {
          for byte in 0..<layout.width * unit {
            let place = stripes == .rows ? row : byte / unit
            bytes.storeBytes(
              of: place % 4 == 0 ? 240 : 40, toByteOffset: row * layout.bytesPerRow + byte, as: UInt8.self)
          }
        }
      }
    }
    return frame.finish()
  }

  private static let formats: [PixelFormat] = [.gray8, .i420, .nv12, .y444, .bgra, .rgb]

  @Test(arguments: formats, [(1, 4), (4, 1), (4, 4), (2, 4), (4, 2), (3, 4), (4, 3)])
  func allPixelsCountInWhicheverDirectionItShrinks(format: PixelFormat, factors: (Int, Int)) throws {
    let size = PictureSize(width: 48 * factors.0, height: 48 * factors.1)
    for stripes in Stripes.allCases where (stripes == .rows ? factors.1 : factors.0) == 4 {
      let source = try striped(format, size, stripes)
      for filter in [ScalingFilter.automatic, .box] {
        let result = try converter.convert(
          source, to: .init(size: .init(width: 48, height: 48), scalingFilter: filter))
        for plane in 0..<result.planeCount {
          let wrong = try Oracle.tightBytes(result, plane: plane).filter { abs(Int($0) - 90) > 4 }.count
          #expect(wrong == 0, "\(stripes), \(filter), plane \(plane)")
        }
      }
    }
  }

  /// The widths leave every remainder of a vector, and the source has padding behind its rows, or goes from its last
  /// row to its first.
  @Test(
    arguments: [
      (PlaneElement.byte, 2), (.byte, 4), (.bytePair, 2), (.bytePair, 4), (.pixel, 2), (.word, 2), (.word, 4),
      (.wordPair, 2), (.wordPair, 4),
    ])
  func halvesAndQuartersAreTheAveragesOfTheirBoxes(element: PlaneElement, factor: Int) {
    for width in Array(1...40) + [480] {
      for isUpsideDown in [false, true] {
        let source = Samples(element, width: width * factor, height: 3 * factor, padding: 24)
        let target = source.scaled(width, 3, isUpsideDown: isUpsideDown)
        let isRight = target.allSatisfy { component, x, y, value in
          let sum = (0..<factor * factor).reduce(0) { sum, index in
            sum + source.value(component, x * factor + index % factor, y * factor + index / factor, isUpsideDown)
          }
          return value == (sum + factor * factor / 2) / (factor * factor)
        }
        #expect(isRight, "\(width) \(isUpsideDown ? "upside down" : "upright")")
      }
    }
  }

  @Test(arguments: [PlaneElement.word, .wordPair], [kFilterBox, kFilterBilinear])
  func twoThirdsOfWordsAreBlendsOfFour(element: PlaneElement, filter: FilterModeEnum) {
    for width in Array(1...24) + [320] {
      for isUpsideDown in [false, true] {
        let source = Samples(element, width: width * 3, height: 6, padding: 24)
        let target = source.scaled(width * 2, 4, isUpsideDown: isUpsideDown, filter: filter)
        let isRight = target.allSatisfy { component, x, y, value in
          let (left, top) = (x / 2 * 3, y / 2 * 3)
          var sum = 0
          for (column, weight) in [(left + x % 2 * 2, 3), (left + 1, 1)] {
            for (row, other) in [(top + y % 2 * 2, 3), (top + 1, 1)] {
              sum += weight * other * source.value(component, column, row, isUpsideDown)
            }
          }
          return value == (sum + 8) / 16
        }
        #expect(isRight, "\(width) \(isUpsideDown ? "upside down" : "upright")")
      }
    }
  }

  @Test func theFilterByItselfIsTheBoxAsSoonAsOneSideGetsShorter() {
    let source = PictureSize(width: 100, height: 100)
    for (size, isBox) in [
      ((99, 200), true), ((200, 99), true), ((50, 50), true), ((100, 101), false), ((300, 200), false),
    ] {
      let target = PictureSize(width: size.0, height: size.1)
      #expect(
        ScalingFilter.automatic.mode(from: source, to: target) == (isBox ? kFilterBox : kFilterBilinear), "\(size)")
    }
  }
}

/// A plane of random samples.
private struct Samples {
  private let element: PlaneElement
  private let (width, height): (Int, Int)
  private let stride: Int
  private var bytes: [UInt8]

  init(_ element: PlaneElement, width: Int, height: Int, padding: Int) {
    (self.element, self.width, self.height) = (element, width, height)
    stride = width * Int(element.byteCount) + padding
    var generator = SystemRandomNumberGenerator()
    bytes = (0..<stride * height).map { _ in UInt8.random(in: 0...255, using: &generator) }
  }

  /// The number of bytes in a component.
  private var depth: Int { element == .word || element == .wordPair ? 2 : 1 }
  private var componentCount: Int { Int(element.byteCount) / depth }

  func value(_ component: Int, _ x: Int, _ y: Int, _ isUpsideDown: Bool = false) -> Int {
    let offset = (isUpsideDown ? height - 1 - y : y) * stride + x * Int(element.byteCount) + component * depth
    return depth == 2 ? Int(bytes[offset]) | Int(bytes[offset + 1]) << 8 : Int(bytes[offset])
  }

  /// Scales the plane, whose rows may be read from the last to the first.
  func scaled(_ width: Int, _ height: Int, isUpsideDown: Bool, filter: FilterModeEnum = kFilterBox) -> Samples {
    var result = Samples(element, width: width, height: height, padding: 0)
    var source = bytes
    var spare = [UInt8](repeating: 0, count: 8 * bytes.count)
    source.withUnsafeMutableBufferPointer { source in
      result.bytes.withUnsafeMutableBufferPointer { target in
        spare.withUnsafeMutableBufferPointer { spare in
          let plane = Picture.Plane(
            data: source.baseAddress!, stride: Int32(stride), width: Int32(self.width), height: Int32(self.height))
          let into = Picture.Plane(
            data: target.baseAddress!, stride: Int32(result.stride), width: Int32(width), height: Int32(height))
          #expect(
            (isUpsideDown ? plane.upsideDown : plane).scale(
              into: into, element: element, filter: filter, spare: spare.baseAddress!))
        }
      }
    }
    return result
  }

  func allSatisfy(_ isRight: (_ component: Int, _ x: Int, _ y: Int, _ value: Int) -> Bool) -> Bool {
    (0..<width * height * componentCount).allSatisfy { index in
      let (component, pixel) = (index % componentCount, index / componentCount)
      let (x, y) = (pixel % width, pixel / width)
      return isRight(component, x, y, value(component, x, y))
    }
  }
}
