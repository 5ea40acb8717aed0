import CLibYUV

/// Colours to BGRA at the same size, by libyuv, which calls BGRA in memory "ARGB" (a little-endian word).
enum ColorConversion {
  /// - Returns: false when libyuv refuses or the format is not one that ``PixelConverter`` leaves at this step.
  static func convert(_ source: Picture, into destination: PixelConverter.Destination) -> Bool {
    switch source.format {
    case .i420, .yv12, .i422, .y444, .nv12, .nv21, .gray8: convertYUV(source, into: destination)
    default: convertRGB(source, into: destination)
    }
  }

  private static func convertYUV(_ source: Picture, into destination: PixelConverter.Destination) -> Bool {
    let matrix = matrix(for: source.colorimetry)
    let width = Int32(source.size.width)
    let height = Int32(source.size.height)
    let (y, u, v) = (source.planes[0], source.planes[1], source.planes[2])
    let (to, stride) = (destination.data, destination.stride)
    let failure: Int32 =
      switch source.format {
      case .nv12:
        NV12ToARGBMatrix(y.data, y.stride, u.data, u.stride, to, stride, matrix, width, height)
      case .nv21:
        NV21ToARGBMatrix(y.data, y.stride, u.data, u.stride, to, stride, matrix, width, height)
      case .gray8:
        I400ToARGBMatrix(y.data, y.stride, to, stride, matrix, width, height)
      case .i422:
        I422ToARGBMatrix(y.data, y.stride, u.data, u.stride, v.data, v.stride, to, stride, matrix, width, height)
      case .y444:
        I444ToARGBMatrix(y.data, y.stride, u.data, u.stride, v.data, v.stride, to, stride, matrix, width, height)
      default:
        I420ToARGBMatrix(y.data, y.stride, u.data, u.stride, v.data, v.stride, to, stride, matrix, width, height)
      }
    return failure == 0
  }

  private static func convertRGB(_ source: Picture, into destination: PixelConverter.Destination) -> Bool {
    let from = source.planes[0]
    let width = Int32(source.size.width)
    let height = Int32(source.size.height)
    // libyuv names the bytes from the highest of the word: its ABGR is RGBA in memory, its BGRA is ARGB, its RAW is
    // RGB.
    let convert: (UnsafePointer<UInt8>?, Int32, UnsafeMutablePointer<UInt8>?, Int32, Int32, Int32) -> Int32
    switch source.format {
    case .bgra, .bgrx: convert = ARGBCopy
    case .rgba, .rgbx: convert = ABGRToARGB
    case .argb, .xrgb: convert = BGRAToARGB
    case .rgb: convert = RAWToARGB
    case .bgr: convert = RGB24ToARGB
    default: return false
    }
    guard convert(from.data, from.stride, destination.data, destination.stride, width, height) == 0 else {
      return false
    }
    if [.bgrx, .rgbx, .xrgb].contains(source.format) { makeOpaque(destination) }
    return true
  }

  /// Sets alpha to 255: the padding byte of an "x" format holds anything.
  static func makeOpaque(_ destination: PixelConverter.Destination) {
    for row in 0..<destination.size.height {
      let start = destination.data + row * Int(destination.stride)
      for column in 0..<destination.size.width { start[column * 4 + 3] = 255 }
    }
  }

  private static func matrix(for colorimetry: Colorimetry) -> UnsafePointer<YuvConstants>? {
    switch (colorimetry.matrix, colorimetry.isFullRange) {
    case (.bt601, false): pipsink_kYuvI601Constants()
    case (.bt601, true): pipsink_kYuvJPEGConstants()
    case (.bt709, false): correctedBT709.pointer
    case (.bt709, true): pipsink_kYuvF709Constants()
    case (.bt2020, false): correctedBT2020.pointer
    case (.bt2020, true): pipsink_kYuvV2020Constants()
    }
  }

  // libyuv caps the weight of U in blue at 128/64, where BT.709 needs 2.1124 and BT.2020 2.1418: saturated blue comes
  // out 9 of 255 too dark. On x86 the byte is unsigned and the larger weight works (measured against the standards'
  // formulas).
  private static let correctedBT709 = Matrix(pipsink_kYuvH709Constants(), blueWeight: 135)
  private static let correctedBT2020 = Matrix(pipsink_kYuv2020Constants(), blueWeight: 137)

  /// A matrix of our own, at an address that never changes.
  ///
  /// `@unchecked Sendable`: constant after `init`; it lives as long as the process.
  private final class Matrix: @unchecked Sendable {
    let pointer: UnsafePointer<YuvConstants>?

    init(_ original: UnsafePointer<YuvConstants>?, blueWeight: UInt8) {
      // Vector instructions load it, so it is aligned to their registers.
      let memory = UnsafeMutableRawPointer.allocate(byteCount: MemoryLayout<YuvConstants>.size, alignment: 64)
      let matrix = memory.bindMemory(to: YuvConstants.self, capacity: 1)
      if let original { matrix.initialize(to: original.pointee) }
      pipsink_set_blue_weight(matrix, blueWeight)
      pointer = UnsafePointer(matrix)
    }
  }
}
