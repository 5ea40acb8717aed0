import CLibYUV
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

/// Tries every operation on pixels at every width up to about a hundred. The memory ends or starts at a page that may
/// not be accessed. libyuv has different kernels for whole vectors and for the rest of a row, so each width counts. If
/// a kernel writes beyond its own memory on the stack, the program ends.
@Suite struct KernelSweepTests {
  /// All remainders of the widest vectors, and the sides of a few real streams and windows.
  private static let widths: [Int] = {
    let limit = getenv("PIPSINK_SWEEP_WIDTH").flatMap { Int(String(cString: $0)) } ?? 136
    return Array(1...limit) + [255, 256, 257, 428, 642, 852, 1278, 1284, 1926]
  }()

  @Test func conversionsOfColoursStayInTheirMemory() {
    let (from, to) = (GuardedPlanes(), GuardedPlanes())
    for (step, format) in Self.colorSteps {
      for width in Self.widths {
        for height in [1, 2, 5] {
          let size = PictureSize(width: width, height: height)
          for placement in GuardedPlanes.placements(format, step.format) {
            let source = from.picture(format, size, placement)
            let target = to.picture(step.format, size, placement)
            ColorConversion.perform(step.operation, from: source, into: target)
            to.expectUntouchedOutside(target, "\(step.operation) of \(format) to \(step.format), \(size)")
          }
        }
      }
    }
  }

  /// The conversion steps that work by rows, each listed once with the format of its input. They come from the
  /// conversions between all formats at one size.
  private static var colorSteps: [(ConversionStep, PixelFormat)] {
    var result: [(ConversionStep, PixelFormat)] = []
    let size = PictureSize(width: 64, height: 64)
    for source in PixelFormat.allCases {
      for target in PixelFormat.allCases {
        let kind = ConversionPlan.Kind(
          sourceFormat: source, sourceSize: size, targetFormat: target, targetSize: size, orientation: .upright,
          filter: .automatic, isSourceAligned: true, isTargetAligned: true)
        var format = source.withChromaInOrder
        for step in ConversionPlan(kind)?.steps ?? [] {
          if step.isByRows, !result.contains(where: { $0.0 == step && $0.1 == format }) {
            result.append((step, format))
          }
          format = step.format
        }
      }
    }
    return result
  }

  @Test(arguments: [PlaneElement.byte, .bytePair, .word, .wordPair, .pixel])
  func scalingStaysInItsMemory(element: PlaneElement) {
    let (from, to, spare) = (GuardedPlanes(), GuardedPlanes(), GuardedMemory(byteCount: 8 << 20))
    for width in Self.widths {
      for (height, ratio) in Self.ratios(of: width).flatMap({ ratio in [(24, ratio), (1, ratio)] }) {
        let targetSize = PictureSize(width: ratio.0, height: max(1, height * ratio.1 / 24))
        for filter in [kFilterNone, kFilterLinear, kFilterBilinear, kFilterBox] {
          for placement in GuardedPlanes.placements(evenly: element == .word || element == .wordPair) {
            let source = from.plane(0, width, height, Int(element.byteCount), placement)
            let target = to.plane(0, targetSize.width, targetSize.height, Int(element.byteCount), placement)
            let memory = spare.place(
              byteCount: Picture.Plane.spareByteCount(
                from: (source.width, source.height), into: (target.width, target.height)))
            let isDone = source.scale(
              into: target, element: element, filter: filter, spare: memory.assumingMemoryBound(to: UInt8.self))
            func what() -> String {
              "\(element) \(width)x\(height) to \(targetSize), filter \(filter.rawValue)"
            }
            if !isDone { Issue.record("\(what())") }
            to.expectUntouchedOutside(target, 0, Int(element.byteCount), what())
          }
        }
      }
    }
  }

  /// Returns sizes to which planes of the given width and 24 rows are scaled. They have the ratios for which libyuv has
  /// kernels, and other ratios.
  private static func ratios(of width: Int) -> [(Int, Int)] {
    var result = [(1, 1), (width, 24), (width + 1, 25), (width * 3 / 2, 36), (width * 2, 48)]
    result += [(4, 1), (2, 1), (3, 2), (4, 3), (8, 3), (3, 1)].compactMap { of, parts in
      width % of == 0 ? (width / of * parts, 24 / of * parts) : nil
    }
    if width > 1 { result.append((width - 1, 23)) }
    return result.filter { $0.0 > 0 }
  }

  @Test(arguments: [kFilterLinear, kFilterBilinear, kFilterBox], [PlaneElement.byte, .bytePair])
  func twoThirdsStayInTheirMemory(filter: FilterModeEnum, element: PlaneElement) throws {
    let (from, to) = (GuardedPlanes(), GuardedPlanes())
    for width in Array(stride(from: 3, through: 1500, by: 3)) + [1926, 3840] {
      for placement in GuardedPlanes.placements() {
        // The rows are also read from the last one to the first one.
        for isUpsideDown in [false, true] {
          let source = from.plane(0, width, 9, Int(element.byteCount), placement)
          let target = to.plane(0, width / 3 * 2, 6, Int(element.byteCount), placement)
          let kernel = try #require(
            TwoThirds(isUpsideDown ? source.upsideDown : source, into: target, element: element, filter: filter))
          kernel.scale()
          to.expectUntouchedOutside(target, 0, Int(element.byteCount), "\(element) \(width)")
        }
      }
    }
  }

  @Test(arguments: [PixelFormat.i420, .nv12, .nv21, .i422, .y444, .gray8])
  func otherLayoutsStayInTheirMemory(format: PixelFormat) {
    let (from, to, spare) = (GuardedPlanes(), GuardedPlanes(), GuardedMemory(byteCount: 1 << 20))
    for targetFormat in [PixelFormat.i420, .nv12, .nv21, .i422, .y444, .gray8] {
      for width in Self.widths {
        for (height, targetSize) in [
          (1, (width, 1)), (2, (width, 2)), (5, (width, 5)), (6, ((width * 2 + 2) / 3, 4)), (4, (width + 3, 7)),
        ] {
          let (size, target) = (
            PictureSize(width: width, height: height), PictureSize(width: targetSize.0, height: targetSize.1)
          )
          for placement in GuardedPlanes.placements() {
            let source = from.picture(format, size, placement)
            let result = to.picture(targetFormat, target, placement)
            let memory = spare.place(
              byteCount: Picture.spareByteCount(
                from: (format, size),
                to: ConversionStep(operation: .resample(kFilterBox), format: targetFormat, size: target)))
            let isDone = source.resample(
              into: result, filter: kFilterBox, spare: memory.assumingMemoryBound(to: UInt8.self))
            func what() -> String { "\(format) \(size) to \(targetFormat) \(target)" }
            if !isDone { Issue.record("\(what())") }
            to.expectUntouchedOutside(result, what())
          }
        }
      }
    }
  }

  @Test(arguments: VideoOrientation.allCases)
  func turningStaysInItsMemory(orientation: VideoOrientation) {
    let (from, to) = (GuardedPlanes(), GuardedPlanes())
    let pass = OrientationPass(orientation)
    for format in [PixelFormat.gray8, .nv12, .bgra, .p010] {
      for width in Self.widths {
        for height in [1, 2, 9, 24] {
          let size = PictureSize(width: width, height: height)
          for placement in GuardedPlanes.placements(evenly: format.isSemiPlanar || format.isTenBit) {
            let source = from.picture(format, size, placement)
            let target = to.picture(format, orientation.applied(to: size), placement)
            pass.perform(
              from: pass.startsUpsideDown ? source.upsideDown : source,
              into: pass.endsUpsideDown ? target.upsideDown : target)
            to.expectUntouchedOutside(target, "\(format) \(size), \(orientation)")
          }
        }
      }
    }
  }
}

/// The planes of pictures. Each plane has its own memory between pages that may not be accessed.
private final class GuardedPlanes {
  struct Placement {
    /// If true, the last row ends at the page after the memory. If false, the first row starts at the page in front of
    /// the memory.
    let isAtEnd: Bool
    /// The number of bytes between two rows.
    let padding: Int
  }

  private static let untouched: UInt8 = 0xA5
  private let memories: [GuardedMemory]

  init() {
    var random = SeededGenerator(seed: 1904)
    memories = (0..<3).map { _ in
      let memory = GuardedMemory(byteCount: 2 << 20)
      let start = memory.place(byteCount: 2 << 20)
      for offset in stride(from: 0, to: 2 << 20, by: 8) {
        start.storeBytes(of: random.next(), toByteOffset: offset, as: UInt64.self)
      }
      return memory
    }
  }

  /// - Parameter evenly: whether every row must start at an even address.
  static func placements(evenly: Bool = false) -> [Placement] {
    [
      Placement(isAtEnd: true, padding: 0), Placement(isAtEnd: true, padding: evenly ? 6 : 7),
      Placement(isAtEnd: false, padding: 0),
    ]
  }

  static func placements(_ first: PixelFormat, _ second: PixelFormat) -> [Placement] {
    placements(evenly: first.isTenBit || second.isTenBit)
  }

  func plane(_ index: Int, _ width: Int, _ height: Int, _ sampleByteCount: Int, _ placement: Placement)
    -> Picture.Plane
  {
    plane(index, width, height, rowByteCount: width * sampleByteCount, placement)
  }

  private func plane(
    _ index: Int, _ width: Int, _ height: Int, rowByteCount row: Int, _ placement: Placement
  ) -> Picture.Plane {
    let byteCount = (row + placement.padding) * (height - 1) + row
    let memory = memories[index]
    let start =
      placement.isAtEnd ? memory.place(byteCount: byteCount) : memory.placeAtStart(byteCount: byteCount)
    if placement.padding > 0, height > 1 {
      SetPlane(
        start.assumingMemoryBound(to: UInt8.self) + row, Int32(row + placement.padding), Int32(placement.padding),
        Int32(height - 1), UInt32(Self.untouched))
    }
    // There is no such page at the other side of the rows. These bytes are filled with a value that is checked later.
    memset(placement.isAtEnd ? start - 64 : start + byteCount, Int32(Self.untouched), 64)
    return Picture.Plane(
      data: start.assumingMemoryBound(to: UInt8.self), stride: Int32(row + placement.padding), width: Int32(width),
      height: Int32(height))
  }

  func picture(_ format: PixelFormat, _ size: PictureSize, _ placement: Placement) -> Picture {
    var planes: [Picture.Plane] = []
    for index in 0..<format.planeCount {
      let (width, height) = format.planeSize(index, of: size)
      planes.append(
        plane(
          index, Int(width), Int(height), rowByteCount: format.rowByteCount(index, width: Int(width)), placement))
    }
    return Picture(format, size: size, colorimetry: Colorimetry(matrix: .bt709, isFullRange: false), planes: planes)
  }

  func expectUntouchedOutside(_ picture: Picture, _ what: @autoclosure () -> String) {
    for index in 0..<picture.planeCount {
      let plane = picture.planes[index]
      check(plane, index, picture.format.rowByteCount(index, width: Int(plane.width)), what)
    }
  }

  func expectUntouchedOutside(
    _ plane: Picture.Plane, _ index: Int, _ sampleByteCount: Int, _ what: @autoclosure () -> String
  ) {
    check(plane, index, Int(plane.width) * sampleByteCount, what)
  }

  private func check(_ plane: Picture.Plane, _ index: Int, _ row: Int, _ what: () -> String) {
    let stride = Int(plane.stride)
    if !PixelComparison.isFilled(
      plane.data + row, stride: stride, width: stride - row, height: Int(plane.height) - 1, with: Self.untouched)
    {
      Issue.record("\(what()): wrote beyond the end of a row of plane \(index)")
    }
    let byteCount = stride * (Int(plane.height) - 1) + row
    let isAtStart = memories[index].isAtStart
    if !PixelComparison.isFilled(isAtStart ? plane.data + byteCount : plane.data - 64, count: 64, with: Self.untouched)
    {
      Issue.record("\(what()): wrote \(isAtStart ? "after" : "before") plane \(index)")
    }
  }
}
