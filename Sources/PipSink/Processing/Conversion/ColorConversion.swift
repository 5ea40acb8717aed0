import CLibYUV

/// Conversions between formats at the same size, by libyuv, which calls BGRA in memory "ARGB" (as a little-endian
/// word). The formats of the pictures are those that the ``ConversionPlan`` has at this step.
enum ColorConversion {
  ///
  /// - Parameter firstRow: the row of the whole picture that is the first one here, where this is a strip of it. A
  ///   dither goes by it.
  static func perform(
    _ operation: ConversionStep.Operation, from source: Picture, into target: Picture, firstRow: Int = 0
  ) {
    switch operation {
    case .copy: source.copy(into: target)
    case .unpack: unpack(source, into: target)
    case .reduce: OrderedDither.reduce(source, into: target, firstRow: firstRow)
    case .toRGB: toRGB(source, into: target.planes[0], by: ColorMatrix.of(source.colorimetry))
    case .mapTones(let mapping): mapping.perform(from: source, into: target.planes[0], firstRow: firstRow)
    case .fromRGB: fromRGB(source, into: target)
    case .balance(let balancing): balancing.perform(from: source, into: target)
    case .shuffle: shuffle(source, into: target)
    case .pack: pack(source, into: target)
    case .resample, .orient, .dropChroma: break
    }
  }

  // MARK: - YUV to RGB

  /// Converts YUV to BGRA or BGRx.
  static func toRGB(_ source: Picture, into target: Picture.Plane, by matrix: OpaquePointer) {
    let (width, height) = (Int32(source.size.width), Int32(source.size.height))
    let (y, u, v) = (source.planes[0], source.planes[1], source.planes[2])
    let (to, stride) = (target.data, target.stride)
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
  }

  // MARK: - RGB to YUV

  private static func fromRGB(_ source: Picture, into target: Picture) {
    let (width, height) = (Int32(source.size.width), Int32(source.size.height))
    let from = source.planes[0]
    let (y, u, v) = (target.planes[0], target.planes[1], target.planes[2])
    switch target.format {
    case .nv12: ARGBToNV12(from.data, from.stride, y.data, y.stride, u.data, u.stride, width, height)
    case .nv21: ARGBToNV21(from.data, from.stride, y.data, y.stride, u.data, u.stride, width, height)
    case .gray8: ARGBToJ400(from.data, from.stride, y.data, y.stride, width, height)
    case .i422:
      ARGBToI422(from.data, from.stride, y.data, y.stride, u.data, u.stride, v.data, v.stride, width, height)
    case .y444:
      ARGBToI444(from.data, from.stride, y.data, y.stride, u.data, u.stride, v.data, v.stride, width, height)
    default:
      ARGBToI420(from.data, from.stride, y.data, y.stride, u.data, u.stride, v.data, v.stride, width, height)
    }
  }

  // MARK: - Packed formats

  private static func unpack(_ source: Picture, into target: Picture) {
    let (width, height) = (Int32(source.size.width), Int32(source.size.height))
    let from = source.planes[0]
    let (y, u, v) = (target.planes[0], target.planes[1], target.planes[2])
    switch source.format {
    case .yuy2:
      YUY2ToI422(from.data, from.stride, y.data, y.stride, u.data, u.stride, v.data, v.stride, width, height)
    case .uyvy:
      UYVYToI422(from.data, from.stride, y.data, y.stride, u.data, u.stride, v.data, v.stride, width, height)
    // libyuv names bytes from the highest of a word down: its RAW is RGB in memory, and its RGB24 is BGR.
    case .rgb: RAWToARGB(from.data, from.stride, y.data, y.stride, width, height)
    case .bgr: RGB24ToARGB(from.data, from.stride, y.data, y.stride, width, height)
    case .y210:
      for row in 0..<Int32(source.size.height) {
        pipsink_split_y210_row(from.row(row), y.row(row), u.row(row), v.row(row), width)
      }
    default: shuffle(source, into: target)
    }
  }

  private static func pack(_ source: Picture, into target: Picture) {
    let (width, height) = (Int32(source.size.width), Int32(source.size.height))
    let (y, u, v) = (source.planes[0], source.planes[1], source.planes[2])
    let to = target.planes[0]
    switch target.format {
    case .yuy2:
      I422ToYUY2(y.data, y.stride, u.data, u.stride, v.data, v.stride, to.data, to.stride, width, height)
    case .uyvy:
      I422ToUYVY(y.data, y.stride, u.data, u.stride, v.data, v.stride, to.data, to.stride, width, height)
    case .y210:
      for row in 0..<Int32(source.size.height) {
        pipsink_merge_y210_row(y.row(row), u.row(row), v.row(row), to.row(row), width)
      }
    case .rgb: ARGBToRAW(y.data, y.stride, to.data, to.stride, width, height)
    default: ARGBToRGB24(y.data, y.stride, to.data, to.stride, width, height)
    }
  }

  /// Reorders the four bytes of each pixel. The padding byte of an "x" format is undefined, so it is set to 255.
  private static func shuffle(_ source: Picture, into target: Picture) {
    let (width, height) = (Int32(source.size.width), Int32(source.size.height))
    let (from, to) = (source.planes[0], target.planes[0])
    let (sourceOrder, targetOrder) = (source.format.byteOrder, target.format.byteOrder)
    // For each byte of a target pixel, the index of the source pixel's byte.
    var order = InlineArray<4, UInt8>(repeating: 0)
    for color in 0..<4 { order[Int(targetOrder[color])] = sourceOrder[color] }
    if order[0] == 0, order[1] == 1, order[2] == 2 {
      from.copy(into: to, byteCount: Int(width) * 4)
    } else {
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { table in
        for index in 0..<16 { table[index] = order[index % 4] + UInt8(index / 4 * 4) }
        ARGBShuffle(from.data, from.stride, to.data, to.stride, table.baseAddress, width, height)
      }
    }
    if !source.format.hasAlpha { makeOpaque(target) }
  }

  /// Sets the alpha or padding byte of every pixel to 255.
  static func makeOpaque(_ target: Picture) {
    let plane = target.planes[0]
    let mask = UInt32(0xFF) << (UInt32(target.format.byteOrder[3]) * 8)
    for row in 0..<plane.height {
      let pixels = UnsafeMutableRawPointer(plane.row(row))
      for column in 0..<Int(plane.width) {
        let value = pixels.loadUnaligned(fromByteOffset: column * 4, as: UInt32.self)
        pixels.storeBytes(of: value | mask, toByteOffset: column * 4, as: UInt32.self)
      }
    }
  }
}

extension PixelFormat {
  /// The indices of red, green, blue, and alpha or padding in the bytes of a pixel.
  fileprivate var byteOrder: InlineArray<4, UInt8> {
    switch self {
    case .rgba, .rgbx: [0, 1, 2, 3]
    case .argb, .xrgb: [1, 2, 3, 0]
    default: [2, 1, 0, 3]
    }
  }
}
