import CLibYUV
import Testing

@testable import PipSink

/// The kernel for two thirds of the sides, beside libyuv's filter for any ratio.
@Suite struct TwoThirdsTests {
  private static let sizes = [(3, 3), (6, 6), (9, 21), (48, 30), (51, 3), (1920, 1080)]

  @Test(arguments: [kFilterLinear, kFilterBilinear, kFilterBox], [PlaneElement.byte, .bytePair])
  func theyAreThePixelsOfLibYUVsFilter(filter: FilterModeEnum, element: PlaneElement) throws {
    var random = SeededGenerator(seed: 3)
    for (width, height) in Self.sizes {
      for isUpsideDown in [false, true] {
        let source = plane(width, height, element, padding: 5) { UInt8.random(in: 0...255, using: &random) }
        let result = plane(width * 2 / 3, height * 2 / 3, element, padding: 3) { 77 }
        let expected = plane(width * 2 / 3, height * 2 / 3, element, padding: 3) { 77 }
        defer { for plane in [source, result, expected] { plane.data.deallocate() } }
        let from = isUpsideDown ? source.upsideDown : source
        let kernel = try #require(TwoThirds(from, into: result, element: element, filter: filter))
        kernel.scale()
        scaleByLibYUV(from, into: expected, element: element, filter: filter)
        var difference = 0
        for offset in 0..<Int(result.stride * result.height) {
          difference = max(difference, abs(Int(result.data[offset]) - Int(expected.data[offset])))
        }
        #expect(difference <= 1, "\(width)x\(height), its padding too")
      }
    }
  }

  @Test func otherRatiosAndNoFilterAreLeftToLibYUV() {
    let source = plane(48, 30, .byte, padding: 0) { 0 }
    defer { source.data.deallocate() }
    func target(_ width: Int32, _ height: Int32) -> Picture.Plane {
      Picture.Plane(data: source.data, stride: width, width: width, height: height)
    }
    #expect(TwoThirds(source, into: target(32, 20), element: .byte, filter: kFilterBox) != nil)
    #expect(TwoThirds(source, into: target(32, 20), element: .byte, filter: kFilterNone) == nil)
    #expect(TwoThirds(source, into: target(32, 20), element: .word, filter: kFilterBox) == nil)
    #expect(TwoThirds(source, into: target(32, 19), element: .byte, filter: kFilterBox) == nil)
    #expect(TwoThirds(source, into: target(31, 20), element: .byte, filter: kFilterBox) == nil)
  }

  private func plane(
    _ width: Int, _ height: Int, _ element: PlaneElement, padding: Int, _ byte: () -> UInt8
  ) -> Picture.Plane {
    let stride = width * Int(element.byteCount) + padding
    let data = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * height)
    for offset in 0..<stride * height { data[offset] = byte() }
    return Picture.Plane(data: data, stride: Int32(stride), width: Int32(width), height: Int32(height))
  }

  private func scaleByLibYUV(
    _ source: Picture.Plane, into target: Picture.Plane, element: PlaneElement, filter: FilterModeEnum
  ) {
    let (stride, width, height) = (source.stride, source.width, source.height)
    if element == .byte {
      ScalePlane(
        source.data, stride, width, height, target.data, target.stride, target.width, target.height, filter)
      return
    }
    // One byte of each pair after the other.
    for byte in 0..<2 {
      var half = [UInt8](repeating: 0, count: Int(width * height))
      for y in 0..<Int(height) {
        for x in 0..<Int(width) { half[y * Int(width) + x] = source.data[y * Int(stride) + x * 2 + byte] }
      }
      var scaled = [UInt8](repeating: 0, count: Int(target.width * target.height))
      ScalePlane(half, width, width, height, &scaled, target.width, target.width, target.height, filter)
      for y in 0..<Int(target.height) {
        for x in 0..<Int(target.width) {
          target.data[y * Int(target.stride) + x * 2 + byte] = scaled[y * Int(target.width) + x]
        }
      }
    }
  }
}
