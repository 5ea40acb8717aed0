import Testing

@testable import PipSinkWindows

@Suite struct X11PixelLayoutTests {
  /// The bytes of a pixel from the lowest: blue, green, red, unused.
  private static let pixels: [UInt32] = [0, 0xFFFF_FFFF, 0x00FF_0000, 0x0000_FF00, 0x0000_00FF, 0x0080_4001]

  private func converted(_ layout: X11PixelLayout) -> [UInt32] {
    var result = [UInt32](repeating: 0, count: Self.pixels.count)
    layout.convert(Self.pixels, to: &result, count: result.count)
    return result
  }

  @Test func blackStaysBlackWhiteStaysWhiteAndEveryColorKeepsItsPlace() {
    #expect(
      converted(.tenBits(isRedHigh: true)) == [
        0, 0x3FFF_FFFF, 0x3FF << 20, 0x3FF << 10, 0x3FF, 0x202 << 20 | 0x101 << 10 | 0x004,
      ])
    #expect(
      converted(.tenBits(isRedHigh: false)) == [
        0, 0x3FFF_FFFF, 0x3FF, 0x3FF << 10, 0x3FF << 20, 0x202 | 0x101 << 10 | 0x004 << 20,
      ])
    #expect(converted(.bgrx) == Self.pixels)
  }
}
