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
    // libyuv names the bytes from the highest of the word: its ABGR is RGBA in memory, its BGRA is ARGB, its RAW is RGB.
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
    switch source.format {
    case .bgrx, .rgbx, .xrgb: return fillAlpha(destination, width: width, height: height)
    default: return true
    }
  }

  /// The padding byte of an "x" format holds anything; a picture's alpha is opaque.
  private static func fillAlpha(_ destination: PixelConverter.Destination, width: Int32, height: Int32) -> Bool {
    for row in 0..<Int(height) {
      let start = destination.data + row * Int(destination.stride)
      for column in 0..<Int(width) { start[column * 4 + 3] = 255 }
    }
    return true
  }

  private static func matrix(for colorimetry: Colorimetry) -> OpaquePointer? {
    switch (colorimetry.matrix, colorimetry.isFullRange) {
    case (.bt601, false): pipsink_kYuvI601Constants()
    case (.bt601, true): pipsink_kYuvJPEGConstants()
    case (.bt709, false): pipsink_kYuvH709Constants()
    case (.bt709, true): pipsink_kYuvF709Constants()
    case (.bt2020, false): pipsink_kYuv2020Constants()
    case (.bt2020, true): pipsink_kYuvV2020Constants()
    }
  }
}
