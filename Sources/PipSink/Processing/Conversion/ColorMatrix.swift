import CLibYUV
import Glibc
import Logging

/// The matrices with which libyuv converts YUV to RGB: libyuv's own, and copies of three of them with a better weight
/// of U in blue.
///
/// libyuv limits that weight to 128/64, but BT.601 needs 2.0172, BT.709 2.1124 and BT.2020 2.1418. With the latter two,
/// saturated blue is 9 of 255 too dark. On x86 the weight is an unsigned byte, so a larger one works. libyuv does not
/// document where the weight is in the matrix, so a copy is used only after a trial: for a small picture in each
/// format, it has to give the same result as libyuv's matrix except for blue, and blue as the standard defines it.
/// Otherwise libyuv's matrix is used, and the log says so.
///
/// `@unchecked Sendable`: the fields are constant after `init`.
final class ColorMatrix: @unchecked Sendable {
  /// The matrix for libyuv's functions, which is never freed.
  let pointer: OpaquePointer
  /// Whether the matrix is a copy with a corrected weight of blue.
  let isCorrected: Bool

  /// libyuv's weight of U in blue, in units of 1/64.
  fileprivate static let originalBlueWeight: UInt8 = 128

  // Of the two weights nearest to BT.709's, the larger one is between the standard and GStreamer's result, which is 2
  // too bright.
  private static let bt601 = ColorMatrix(pipsink_kYuvI601Constants()!, .bt601, blueWeight: 129)
  private static let bt709 = ColorMatrix(pipsink_kYuvH709Constants()!, .bt709, blueWeight: 136)
  private static let bt2020 = ColorMatrix(pipsink_kYuv2020Constants()!, .bt2020, blueWeight: 137)

  /// The matrix for a colorimetry.
  static func of(_ colorimetry: Colorimetry) -> OpaquePointer {
    switch (colorimetry.matrix, colorimetry.isFullRange) {
    case (.bt601, false): bt601.pointer
    case (.bt601, true): pipsink_kYuvJPEGConstants()!
    case (.bt709, false): bt709.pointer
    case (.bt709, true): pipsink_kYuvF709Constants()!
    case (.bt2020, false): bt2020.pointer
    case (.bt2020, true): pipsink_kYuvV2020Constants()!
    }
  }

  /// Makes a corrected copy of one of libyuv's matrices, if the trial succeeds.
  ///
  /// - Parameters:
  ///   - original: one of libyuv's matrices for the limited range.
  ///   - matrix: the standard that it implements.
  ///   - blueWeight: the weight of U in blue, in units of 1/64.
  ///   - logger: gets a notice if libyuv's matrix has to be used.
  ///   - setBlueWeight: writes the weight into a copy of the matrix; returns false if it does not know where.
  init(
    _ original: OpaquePointer, _ matrix: Colorimetry.Matrix, blueWeight: UInt8,
    logger: Logger = Logger(visible: "pipsink.processing"),
    setBlueWeight: (UnsafeMutableRawBufferPointer, UInt8) -> Bool = ColorMatrix.setBlueWeight
  ) {
    let trial = BlueTrial(matrix: matrix, weight: Int(blueWeight))
    if let copy = Self.copy(original, trial, { setBlueWeight($0, blueWeight) }) {
      (pointer, isCorrected) = (copy, true)
    } else {
      (pointer, isCorrected) = (original, false)
      logger.notice(
        "saturated blue is shown up to 12 of 255 too dark, since this libyuv accepts no other weight of blue")
    }
  }

  /// Writes the weight in libyuv's layout on x86: sixteen times the weight as an unsigned byte, followed by a zero
  /// byte.
  static func setBlueWeight(_ matrix: UnsafeMutableRawBufferPointer, _ weight: UInt8) -> Bool {
    #if arch(x86_64) || arch(i386)
      guard matrix.count >= 32 else { return false }
      let isAsExpected = (0..<32).allSatisfy { matrix[$0] == ($0 % 2 == 0 ? originalBlueWeight : 0) }
      guard isAsExpected else { return false }
      for index in stride(from: 0, to: 32, by: 2) { matrix[index] = weight }
      return true
    #else
      return false
    #endif
  }

  /// Makes a changed copy of a matrix and tries it.
  ///
  /// - Returns: the copy, which is never freed; nil if it failed the trial.
  private static func copy(
    _ original: OpaquePointer, _ trial: BlueTrial, _ change: (UnsafeMutableRawBufferPointer) -> Bool
  ) -> OpaquePointer? {
    let byteCount = pipsink_yuv_matrix_size(original)
    guard byteCount > 0 else { return nil }
    // Vector instructions load the matrix, so it is aligned to their registers and padded to a whole number of them.
    let capacity = (byteCount + 63) / 64 * 64
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    memory.copyMemory(from: UnsafeRawBufferPointer(start: UnsafeRawPointer(original), count: byteCount))
    let copy = OpaquePointer(memory.baseAddress!)
    guard change(UnsafeMutableRawBufferPointer(rebasing: memory[..<byteCount])),
      trial.isPassed(by: copy, beside: original)
    else {
      memory.deallocate()
      return nil
    }
    return copy
  }
}

/// A trial of a changed matrix with a small picture, whose rows have one colour each.
private struct BlueTrial {
  /// A colour in YUV, with the limited range.
  private struct Color {
    let y: Int
    let u: Int
    let v: Int
  }

  private static let colors = [
    Color(y: 16, u: 128, v: 128), Color(y: 235, u: 128, v: 128), Color(y: 16, u: 240, v: 128),
    Color(y: 235, u: 16, v: 128), Color(y: 41, u: 240, v: 110), Color(y: 210, u: 16, v: 146),
    Color(y: 81, u: 90, v: 240), Color(y: 145, u: 54, v: 34), Color(y: 120, u: 200, v: 60),
  ]
  /// The width makes vector kernels do both whole steps and a rest. Each colour has two rows, which share their chroma.
  private static let size = PictureSize(width: 134, height: colors.count * 2)
  private static let formats: [PixelFormat] = [.i420, .nv12, .nv21, .i422, .y444, .gray8]

  let matrix: Colorimetry.Matrix
  /// The weight of U in blue, in units of 1/64.
  let weight: Int

  /// Whether all kernels give the same result with `changed` as with `original` except for blue, and blue as the weight
  /// and the standard define it.
  func isPassed(by changed: OpaquePointer, beside original: OpaquePointer) -> Bool {
    Self.formats.allSatisfy { format in
      let (new, old) = (converted(format, by: changed), converted(format, by: original))
      return (0..<Self.size.width * Self.size.height).allSatisfy { pixel in
        let bytes = pixel * 4..<pixel * 4 + 4
        guard new[bytes].dropFirst().elementsEqual(old[bytes].dropFirst()) else { return false }
        let color = color(ofRow: pixel / Self.size.width, format)
        let (newBlue, oldBlue) = (Int(new[bytes.lowerBound]), Int(old[bytes.lowerBound]))
        guard abs(Double(newBlue) - standardBlue(color)) <= 3 else { return false }
        let isClamped = [newBlue, oldBlue].contains { $0 == 0 || $0 == 255 }
        let difference = Double((weight - Int(ColorMatrix.originalBlueWeight)) * (color.u - 128)) / 64
        return isClamped || abs(Double(newBlue - oldBlue) - difference) <= 1
      }
    }
  }

  private func color(ofRow row: Int, _ format: PixelFormat) -> Color {
    let color = Self.colors[row / 2]
    return format == .gray8 ? Color(y: color.y, u: 128, v: 128) : color
  }

  private func standardBlue(_ color: Color) -> Double {
    let share = matrix.lumaWeights.blue
    let value = Double(color.y - 16) * 255 / 219 + 2 * (1 - share) * Double(color.u - 128) * 255 / 224
    return min(255, max(0, value))
  }

  private func converted(_ format: PixelFormat, by pointer: OpaquePointer) -> [UInt8] {
    let colorimetry = Colorimetry(matrix: matrix, isFullRange: false)
    let sourceByteCount = Picture.scratchByteCount(format, size: Self.size)
    return withUnsafeTemporaryAllocation(byteCount: sourceByteCount, alignment: 64) { memory in
      let source = Picture(
        format, size: Self.size, colorimetry: colorimetry, in: memory.baseAddress!.assumingMemoryBound(to: UInt8.self))
      for index in 0..<source.planeCount { fill(source.planes[index], index, format) }
      return [UInt8](unsafeUninitializedCapacity: Self.size.width * Self.size.height * 4) { bytes, count in
        count = bytes.count
        let target = Picture(
          packed: .bgra, size: Self.size, data: bytes.baseAddress!, stride: Int32(Self.size.width * 4))
        ColorConversion.toRGB(source, into: target.planes[0], by: pointer)
      }
    }
  }

  private func fill(_ plane: Picture.Plane, _ index: Int, _ format: PixelFormat) {
    for row in 0..<plane.height {
      let color = color(ofRow: Int(row) << (index > 0 ? format.chromaShift.y : 0), format)
      let (first, second) =
        switch (index, format) {
        case (0, _): (color.y, color.y)
        case (_, .nv12): (color.u, color.v)
        case (_, .nv21): (color.v, color.u)
        default: index == 1 ? (color.u, color.u) : (color.v, color.v)
        }
      let sampleCount = format.isSemiPlanar && index == 1 ? plane.width * 2 : plane.width
      for sample in 0..<Int(sampleCount) {
        plane.row(row)[sample] = UInt8(sample % 2 == 0 ? first : second)
      }
    }
  }
}
