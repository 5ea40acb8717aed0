import CLibYUV
import Glibc

@testable import PipSink

/// Comparisons that use the C library and libyuv. In a test that is built without optimization, a loop over the bytes
/// of a large frame takes seconds.
enum PixelComparison {
  /// Whether all planes have the same bytes, apart from the padding of their rows.
  static func areEqual(_ left: PixelBuffer, _ right: PixelBuffer) throws(PipSinkError) -> Bool {
    guard left.pixelFormat == right.pixelFormat, left.size == right.size else { return false }
    return try left.withMappedFrame { left throws(PipSinkError) in
      try right.withMappedFrame { right throws(PipSinkError) in
        guard left.visible.size == right.visible.size else { return false }
        let format = left.formatDescription.pixelFormat
        return (0..<format.planeCount).allSatisfy { index in
          let (ours, theirs) = (left.plane(index), right.plane(index))
          let byteCount = format.rowByteCount(index, width: ours.layout.width)
          for row in 0..<ours.layout.height {
            let (a, b) = (ours.data + row * ours.layout.bytesPerRow, theirs.data + row * theirs.layout.bytesPerRow)
            if memcmp(a, b, byteCount) != 0 { return false }
          }
          return true
        }
      }
    }
  }

  static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && memcmp(left, right, left.count) == 0
  }

  /// Whether no byte differs by more than `limit` from the byte at the same place.
  static func differ(
    atMost limit: UInt8, _ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int
  ) -> Bool {
    // libyuv subtracts whole pixels and saturates at 0.
    let whole = count / 4 * 4
    let (differences, bound) = (allocate(whole, filledWith: 0), allocate(whole, filledWith: limit))
    defer {
      free(differences)
      free(bound)
    }
    for (a, b) in [(left, right), (right, left)] {
      let (stride, width) = (Int32(whole), Int32(whole / 4))
      guard whole > 0 else { break }
      ARGBSubtract(a, stride, b, stride, differences, stride, width, 1)
      ARGBSubtract(differences, stride, bound, stride, differences, stride, width, 1)
      guard isFilled(differences, count: whole, with: 0) else { return false }
    }
    return (whole..<count).allSatisfy { abs(Int(left[$0]) - Int(right[$0])) <= Int(limit) }
  }

  static func differ(atMost limit: UInt8, _ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && differ(atMost: limit, left, right, count: left.count)
  }

  /// Whether all bytes are `value`.
  static func isFilled(_ bytes: UnsafePointer<UInt8>, count: Int, with value: UInt8) -> Bool {
    count == 0 || (bytes[0] == value && memcmp(bytes, bytes + 1, count - 1) == 0)
  }

  /// Whether all bytes are `value` in `height` parts of `width` bytes, which start `stride` bytes apart.
  static func isFilled(
    _ bytes: UnsafePointer<UInt8>, stride: Int, width: Int, height: Int, with value: UInt8
  ) -> Bool {
    guard width > 0, height > 0, isFilled(bytes, count: width, with: value) else { return width <= 0 || height <= 0 }
    // Each part is compared with the first one.
    return ComputeSumSquareErrorPlane(bytes, Int32(stride), bytes, 0, Int32(width), Int32(height)) == 0
  }

  private static func allocate(_ count: Int, filledWith value: UInt8) -> UnsafeMutablePointer<UInt8> {
    let memory = malloc(max(1, count))!
    memset(memory, Int32(value), count)
    return memory.assumingMemoryBound(to: UInt8.self)
  }
}
