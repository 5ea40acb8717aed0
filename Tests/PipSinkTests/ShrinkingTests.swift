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
  @Test(arguments: [(PlaneElement.byte, 2), (.byte, 4), (.bytePair, 2), (.bytePair, 4), (.pixel, 2)])
  func halvesAndQuartersAreTheAveragesOfTheirBoxes(element: PlaneElement, factor: Int) {
    let (bytes, height) = (Int(element.byteCount), 3)
    for width in Array(1...40) + [480] {
      let stride = width * factor * bytes + 24
      var generator = SystemRandomNumberGenerator()
      var source = (0..<stride * height * factor).map { _ in UInt8.random(in: 0...255, using: &generator) }
      var target = [UInt8](repeating: 0, count: width * bytes * height)
      var spare = [UInt8](repeating: 0, count: 8 * source.count)
      for isUpsideDown in [false, true] {
        source.withUnsafeMutableBufferPointer { source in
          target.withUnsafeMutableBufferPointer { target in
            spare.withUnsafeMutableBufferPointer { spare in
              let plane = Picture.Plane(
                data: source.baseAddress!, stride: Int32(stride), width: Int32(width * factor),
                height: Int32(height * factor))
              let result = Picture.Plane(
                data: target.baseAddress!, stride: Int32(width * bytes), width: Int32(width), height: Int32(height))
              #expect(
                (isUpsideDown ? plane.upsideDown : plane).scale(
                  into: result, element: element, filter: kFilterBox, spare: spare.baseAddress!))
            }
          }
        }
        func average(_ byte: Int, _ y: Int) -> Int {
          let sum = (0..<factor * factor).reduce(0) { sum, index in
            let line = y * factor + index / factor
            let row = isUpsideDown ? height * factor - 1 - line : line
            let column = (byte / bytes * factor + index % factor) * bytes + byte % bytes
            return sum + Int(source[row * stride + column])
          }
          return (sum + factor * factor / 2) / (factor * factor)
        }
        let wrong = target.indices.filter { Int(target[$0]) != average($0 % (width * bytes), $0 / (width * bytes)) }
        #expect(wrong.isEmpty, "\(width) \(isUpsideDown ? "upside down" : "upright")")
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
