import CLibYUV

/// Shrinks planes to two thirds of their sides, as a 1080p stream is in a 720p window.
///
/// libyuv has fast kernels for a half, a quarter, three quarters and three eighths only; with any other ratio its
/// filter looks every pixel's neighbours up, which takes three times as long as making the whole rest of the picture.
/// At two thirds each three pixels become two always in the same way, a quarter of the way from the outer ones to the
/// middle one, so the kernels for taking pixels of three bytes apart, for blending rows, and for putting pairs together
/// do it. The pixels are those of libyuv's own filters.
struct TwoThirds {
  private let source: Picture.Plane
  private let target: Picture.Plane
  private let element: PlaneElement
  private let blendsRows: Bool

  /// Pairs of rows that are worked on together, so that what is between the steps stays in the nearest cache.
  private static let stripHeight: Int32 = 4
  /// Of 256: how much the middle one of three counts.
  private static let middle: Int32 = 64
  /// Pixels of three bytes are taken apart in multiples of so many: up to version 1955 libyuv writes beyond memory of
  /// its own on the stack where it has a rest to do, after steps of 32 (`SplitRGBPlane` with AVX2). Twice that leaves
  /// room for kernels of the next width.
  static let step: Int32 = 64

  /// - Returns: nil where it is another ratio, or another filter.
  init?(
    _ source: Picture.Plane, into target: Picture.Plane, element: PlaneElement, filter: FilterModeEnum
  ) {
    guard element == .byte || element == .bytePair, filter != kFilterNone,
      source.width * 2 == target.width * 3, source.height * 2 == target.height * 3
    else { return nil }
    (self.source, self.target, self.element) = (source, target, element)
    // With sides that are more than half as long, a box is these four pixels.
    blendsRows = filter != kFilterLinear
  }

  /// Samples of a third of a row, made up to whole steps. What the rest holds nobody looks at.
  private var third: Int32 { (source.width / 3 + Self.step - 1) / Self.step * Self.step }

  func scale() {
    let rowByteCount = third * 3 * element.byteCount
    // The rows themselves; of pairs both halves; the thirds of a half; the two halves made narrower.
    let memoryByteCount = Int(rowByteCount) * 2 + Int(third) * 5 + Int(third) * 4
    withUnsafeTemporaryAllocation(byteCount: memoryByteCount * Int(Self.stripHeight), alignment: 64) { memory in
      guard let rows = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
      var start: Int32 = 0
      while start < target.height / 2 {
        let count = min(Self.stripHeight, target.height / 2 - start)
        // Of each three rows the first and the last are the nearest, or what is blended with the second.
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

  /// Every second row of the target from rows that lie `stride` bytes apart.
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

  /// From rows of three thirds each, without anything between them.
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
