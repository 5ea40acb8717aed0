/// Pixels in memory as the converter sees them: a part of a mapped frame, a surface's memory, or an intermediate
/// picture in scratch memory.
///
/// `@unchecked Sendable`: it only says where pixels are. Whoever hands it to another thread sees to it that the memory
/// stays, and that no two threads write to the same rows.
struct Picture: @unchecked Sendable {
  struct Plane {
    /// The first row. Of a frame that was mapped for reading it may not be written through.
    var data: UnsafeMutablePointer<UInt8>
    /// Bytes from one row to the next; negative where the rows go upwards in memory.
    var stride: Int32
    /// Samples in a row (pairs of chroma in the semi-planar formats) and rows.
    var width: Int32
    var height: Int32

    static var none: Plane { Plane(data: UnsafeMutablePointer(bitPattern: 1)!, stride: 0, width: 0, height: 0) }

    func row(_ index: Int32) -> UnsafeMutablePointer<UInt8> { data + Int(index) * Int(stride) }

    /// The same rows from the last to the first.
    var upsideDown: Plane {
      guard height > 0 else { return self }
      return Plane(data: row(height - 1), stride: -stride, width: width, height: height)
    }

    func rows(_ start: Int32, _ count: Int32) -> Plane {
      Plane(data: row(start), stride: stride, width: width, height: count)
    }
  }

  /// YV12 is presented as I420, with its chroma planes in that order.
  private(set) var format: PixelFormat
  private(set) var size: PictureSize
  private(set) var colorimetry: Colorimetry
  private(set) var planes: InlineArray<3, Plane>

  var planeCount: Int { format.planeCount }

  /// A frame's visible part, or the part `crop` of that.
  ///
  /// - Parameter crop: cut to the frame; its origin goes to the chroma sample that it lies in.
  init(_ frame: MappedFrame, crop: PictureRect? = nil) {
    let source = frame.formatDescription.pixelFormat
    format = source.withChromaInOrder
    colorimetry = frame.formatDescription.colorimetry
    size = frame.visible.size
    planes = .init(repeating: .none)
    for index in 0..<source.planeCount {
      let plane = frame.plane(source == .yv12 && index > 0 ? 3 - index : index)
      planes[index] = Plane(
        data: UnsafeMutablePointer(mutating: plane.data), stride: Int32(plane.layout.bytesPerRow),
        width: Int32(plane.layout.width), height: Int32(plane.layout.height))
    }
    if let crop { self = cropped(to: crop) }
  }

  /// A surface's pixels, in a format of one plane.
  init(
    packed format: PixelFormat, size: PictureSize, data: UnsafeMutablePointer<UInt8>, stride: Int32,
    colorimetry: Colorimetry = .rgb
  ) {
    self.init(format, size: size, colorimetry: colorimetry)
    planes[0] = Plane(data: data, stride: stride, width: Int32(size.width), height: Int32(size.height))
  }

  /// Planes that lie anywhere, in the format's order and of its sizes.
  init(_ format: PixelFormat, size: PictureSize, colorimetry: Colorimetry, planes: [Plane] = []) {
    self.format = format
    self.size = size
    self.colorimetry = colorimetry
    self.planes = .init(repeating: .none)
    for (index, plane) in planes.enumerated() { self.planes[index] = plane }
  }

  /// A picture in scratch memory.
  init(
    _ format: PixelFormat, size: PictureSize, colorimetry: Colorimetry, in scratch: UnsafeMutablePointer<UInt8>
  ) {
    self.init(format, size: size, colorimetry: colorimetry)
    var offset = 0
    for index in 0..<format.planeCount {
      let dimensions = format.planeSize(index, of: size)
      let stride = Self.scratchStride(format, plane: index, size: size)
      planes[index] = Plane(
        data: scratch + offset, stride: Int32(stride), width: dimensions.width, height: dimensions.height)
      offset += stride * Int(dimensions.height)
    }
  }

  /// What a picture in scratch memory takes, in bytes.
  static func scratchByteCount(_ format: PixelFormat, size: PictureSize) -> Int {
    (0..<format.planeCount).reduce(0) { sum, index in
      sum + scratchStride(format, plane: index, size: size) * Int(format.planeSize(index, of: size).height)
    }
  }

  private static func scratchStride(_ format: PixelFormat, plane: Int, size: PictureSize) -> Int {
    let byteCount = format.rowByteCount(plane, width: Int(format.planeSize(plane, of: size).width))
    return (byteCount + 63) / 64 * 64
  }
}

// MARK: - Other views of the same memory

extension Picture {
  /// - Parameter rect: cut to the picture; its origin goes to the chroma sample that it lies in.
  func cropped(to rect: PictureRect) -> Picture {
    let shift = format.chromaShift
    let x = min(max(rect.x, 0), size.width - 1).roundedDown(toPower: shift.x)
    let y = min(max(rect.y, 0), size.height - 1).roundedDown(toPower: shift.y)
    var result = self
    result.size = PictureSize(
      width: max(1, min(rect.width, size.width - x)), height: max(1, min(rect.height, size.height - y)))
    for index in 0..<planeCount {
      let (column, row) = index > 0 ? (x >> shift.x, y >> shift.y) : (x, y)
      let dimensions = format.planeSize(index, of: result.size)
      result.planes[index].data = planes[index].row(Int32(row)) + format.byteOffset(index, column: column)
      result.planes[index].width = dimensions.width
      result.planes[index].height = dimensions.height
    }
    return result
  }

  /// The rows from `start` on; `start` is even.
  func rows(_ start: Int, _ count: Int) -> Picture {
    cropped(to: PictureRect(x: 0, y: start, width: size.width, height: count))
  }

  /// The same picture with its rows from the last to the first.
  var upsideDown: Picture {
    var result = self
    for index in 0..<planeCount { result.planes[index] = planes[index].upsideDown }
    return result
  }

  /// One field of a picture whose height is a multiple of 4: every other row of every plane.
  func field(isTop: Bool) -> Picture {
    var result = self
    result.size.height /= 2
    for index in 0..<planeCount {
      result.planes[index].data = planes[index].row(isTop ? 0 : 1)
      result.planes[index].stride *= 2
      result.planes[index].height = format.planeSize(index, of: result.size).height
    }
    return result
  }

  /// The luma alone; of a picture of any YUV format with a luma plane.
  var luma: Picture {
    var result = self
    result.format = .gray8
    return result
  }

  /// Whether every row begins at an even address, or need not: it has to for the kernels for 16-bit samples, and for
  /// pairs of bytes when they are turned.
  func isAligned(for orientation: VideoOrientation) -> Bool {
    guard format.isTenBit || (format.isSemiPlanar && orientation.swapsSides) else { return true }
    return (0..<planeCount).allSatisfy { planes[$0].stride % 2 == 0 && Int(bitPattern: planes[$0].data) % 2 == 0 }
  }
}

extension Colorimetry {
  /// What RGB has; nothing is converted by it.
  static let rgb = Colorimetry(matrix: .bt601, isFullRange: true)
}
