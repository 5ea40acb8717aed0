import CLibYUV
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

/// The kernel that scales both sides to two thirds, compared with libyuv's filter for any ratio.
@Suite struct TwoThirdsTests {
  private static let sizes = [(3, 3), (6, 6), (9, 21), (48, 30), (51, 3), (1920, 1080)]

  @Test(arguments: [kFilterLinear, kFilterBilinear, kFilterBox], [PlaneElement.byte, .bytePair])
  func theyAreThePixelsOfLibYUVsFilter(filter: FilterModeEnum, element: PlaneElement) throws {
    for (width, height) in Self.sizes {
      for isUpsideDown in [false, true] {
        let source = plane(width, height, element, padding: 5)
        fillWithNoise(source)
        let result = plane(width * 2 / 3, height * 2 / 3, element, padding: 3)
        let expected = plane(width * 2 / 3, height * 2 / 3, element, padding: 3)
        defer { for plane in [source, result, expected] { plane.data.deallocate() } }
        let from = isUpsideDown ? source.upsideDown : source
        let kernel = try #require(TwoThirds(from, into: result, element: element, filter: filter))
        kernel.scale()
        scaleByLibYUV(from, into: expected, element: element, filter: filter)
        let count = Int(result.stride * result.height)
        #expect(
          PixelComparison.differ(atMost: 1, result.data, expected.data, count: count),
          "\(width)x\(height), and its padding")
      }
    }
  }

  @Test func otherRatiosAndNoFilterAreLeftToLibYUV() {
    let source = plane(48, 30, .byte, padding: 0)
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

  /// Makes a plane whose bytes all have the same value.
  private func plane(_ width: Int, _ height: Int, _ element: PlaneElement, padding: Int) -> Picture.Plane {
    let stride = width * Int(element.byteCount) + padding
    let data = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * height)
    memset(data, 77, stride * height)
    return Picture.Plane(data: data, stride: Int32(stride), width: Int32(width), height: Int32(height))
  }

  /// The number of these bytes is neither the length of a row nor a multiple of it.
  private static let noise: [UInt8] = {
    var random = SeededGenerator(seed: 3)
    return (0..<65_521).map { _ in UInt8.random(in: 0...255, using: &random) }
  }()

  private func fillWithNoise(_ plane: Picture.Plane) {
    let count = Int(plane.stride * plane.height)
    for start in stride(from: 0, to: count, by: Self.noise.count) {
      memcpy(plane.data + start, Self.noise, min(Self.noise.count, count - start))
    }
  }

  private func scaleByLibYUV(
    _ source: Picture.Plane, into target: Picture.Plane, element: PlaneElement, filter: FilterModeEnum
  ) {
    let (width, height) = (source.width, source.height)
    if element == .byte {
      ScalePlane(
        source.data, source.stride, width, height, target.data, target.stride, target.width, target.height, filter)
      return
    }
    // The first bytes of the pairs and the second ones are scaled separately.
    let halves = (0..<2).map { _ in self.plane(Int(width), Int(height), .byte, padding: 0) }
    let scaled = (0..<2).map { _ in self.plane(Int(target.width), Int(target.height), .byte, padding: 0) }
    defer { for plane in halves + scaled { plane.data.deallocate() } }
    SplitUVPlane(
      source.data, source.stride, halves[0].data, width, halves[1].data, width, width, height)
    for (from, to) in zip(halves, scaled) {
      ScalePlane(from.data, width, width, height, to.data, to.width, to.width, to.height, filter)
    }
    MergeUVPlane(
      scaled[0].data, target.width, scaled[1].data, target.width, target.data, target.stride, target.width,
      target.height)
  }
}
