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
