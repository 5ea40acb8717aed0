import CLibYUV

/// Scales planes to two thirds of their sides, for instance from a 1080p stream to a 720p window.
///
/// libyuv has fast kernels only for a half, a quarter, three quarters and three eighths. For any other ratio its filter
/// looks up the neighbours of every pixel, which takes three times as long as the rest of the conversion. At two
/// thirds, every three pixels become two in the same way: each is at a quarter of the distance from an outer pixel to
/// the middle one. So the kernels that split three-byte pixels, blend rows and merge pairs can do it. The result has
/// the same pixels as libyuv's own filters.
struct TwoThirds {
  private let source: Picture.Plane
  private let target: Picture.Plane
  private let element: PlaneElement
  private let blendsRows: Bool

  /// The number of pairs of rows in a strip, so that intermediate rows stay in the nearest cache.
  private static let stripHeight: Int32 = 4
  /// The weight of the middle one of three pixels, in units of 1/256.
  private static let middle: Int32 = 64
  /// Three-byte pixels are split in multiples of this number. Up to version 1955, libyuv's `SplitRGBPlane` with AVX2
  /// writes beyond its own memory on the stack when pixels are left after steps of 32. Twice that number allows for
  /// wider kernels.
  static let step: Int32 = 64

  /// Makes the kernel for a change of size; nil if the ratio or the filter is another.
  init?(
    _ source: Picture.Plane, into target: Picture.Plane, element: PlaneElement, filter: FilterModeEnum
  ) {
    guard element == .byte || element == .bytePair, filter != kFilterNone,
      source.width * 2 == target.width * 3, source.height * 2 == target.height * 3
    else { return nil }
    (self.source, self.target, self.element) = (source, target, element)
    // If sides are longer than half, the box filter combines the same four pixels.
    blendsRows = filter != kFilterLinear
  }

  /// The number of samples in a third of a row, rounded up to whole steps. The additional samples are not used.
  private var third: Int32 { (source.width / 3 + Self.step - 1) / Self.step * Self.step }

  /// Scales the source into the target.
  func scale() {
    let rowByteCount = third * 3 * element.byteCount
    // This is for the rows, both halves of pairs, the thirds of a half, and the two halves after scaling.
    let memoryByteCount = Int(rowByteCount) * 2 + Int(third) * 5 + Int(third) * 4
    withUnsafeTemporaryAllocation(byteCount: memoryByteCount * Int(Self.stripHeight), alignment: 64) { memory in
      guard let rows = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
      var start: Int32 = 0
      while start < target.height / 2 {
        let count = min(Self.stripHeight, target.height / 2 - start)
        // The strip is read in the order in which it is in memory, since the processor fetches no other in advance.
        let (top, bottom) = (source.row(start * 3), source.row((start + count) * 3 - 1))
        pipsink_fetch(min(top, bottom), max(top, bottom) + Int(source.width * element.byteCount))
        // Of each three rows, the first and the last are copied, or blended with the second.
        for (parity, outer) in [(Int32(0), Int32(0)), (1, 2)] {
          let outerRow = source.row(start * 3 + outer)
          let into = target.row(start * 2 + parity)
          let byteCount = source.width * element.byteCount
          if blendsRows {
            InterpolatePlane(
              outerRow, source.stride * 3, source.row(start * 3 + 1), source.stride * 3, rows, rowByteCount, byteCount,
              count, Self.middle)
          } else {
            CopyPlane(outerRow, source.stride * 3, rows, rowByteCount, byteCount, count)
          }
          narrow(rows, rowByteCount, into, count, rows + Int(rowByteCount * count))
        }
        start += count
      }
    }
  }

  /// Scales rows horizontally into every second row of the target.
  private func narrow(
    _ rows: UnsafeMutablePointer<UInt8>, _ stride: Int32, _ into: UnsafeMutablePointer<UInt8>, _ count: Int32,
    _ memory: UnsafeMutablePointer<UInt8>
  ) {
    guard element == .bytePair else {
      narrowBytes(rows, into, target.stride * 2, count, memory)
      return
    }
    let (width, targetWidth) = (third * 3, third * 2)
    let u = memory
    let v = u + Int(width * count)
    let (toU, toV) = (v + Int(width * count), v + Int((width + targetWidth) * count))
    let rest = toV + Int(targetWidth * count)
    SplitUVPlane(rows, stride, u, width, v, width, width, count)
    narrowBytes(u, toU, targetWidth, count, rest)
    narrowBytes(v, toV, targetWidth, count, rest)
    MergeUVPlane(toU, targetWidth, toV, targetWidth, into, target.stride * 2, target.width, count)
  }

  /// Scales rows of bytes horizontally. The rows have three thirds each, without padding between rows.
  private func narrowBytes(
    _ rows: UnsafeMutablePointer<UInt8>, _ into: UnsafeMutablePointer<UInt8>, _ intoStride: Int32, _ count: Int32,
    _ memory: UnsafeMutablePointer<UInt8>
  ) {
    let size = Int(third * count)
    let (first, second, last) = (memory, memory + size, memory + 2 * size)
    let (left, right) = (memory + 3 * size, memory + 4 * size)
    SplitRGBPlane(rows, third * 3, first, third, second, third, last, third, third, count)
    InterpolatePlane(first, third, second, third, left, third, third, count, Self.middle)
    InterpolatePlane(last, third, second, third, right, third, third, count, Self.middle)
    MergeUVPlane(left, third, right, third, into, intoStride, source.width / 3, count)
  }
}
