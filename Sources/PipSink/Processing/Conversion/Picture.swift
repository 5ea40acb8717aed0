/// The place of a picture's pixels in memory, for the converter: a part of a mapped frame, a renderer's memory, or an
/// intermediate picture in scratch memory.
///
/// `@unchecked Sendable`: it only says where pixels are. Code that passes it to another thread must make sure that the
/// memory stays valid, and that two threads do not write to the same rows.
package struct Picture: @unchecked Sendable {
  /// The place of one plane in memory.
  package struct Plane {
    /// The first row. It must not be written to if the frame was mapped only for reading.
    package var data: UnsafeMutablePointer<UInt8>
    /// The number of bytes from one row to the next; negative if rows are stored from the last to the first.
    package var stride: Int32
    /// The number of samples in a row, or of pairs of chroma samples in semi-planar formats.
    package var width: Int32
    /// The number of rows.
    package var height: Int32

    static var none: Plane { Plane(data: UnsafeMutablePointer(bitPattern: 1)!, stride: 0, width: 0, height: 0) }

    package func row(_ index: Int32) -> UnsafeMutablePointer<UInt8> { data + Int(index) * Int(stride) }

    /// The plane with its rows from the last to the first.
    var upsideDown: Plane {
      guard height > 0 else { return self }
      return Plane(data: row(height - 1), stride: -stride, width: width, height: height)
    }

    func rows(_ start: Int32, _ count: Int32) -> Plane {
      Plane(data: row(start), stride: stride, width: width, height: count)
    }
  }

  /// The format. YV12 appears as I420, with its chroma planes exchanged.
  package private(set) var format: PixelFormat
  package private(set) var size: PictureSize
  package private(set) var colorimetry: Colorimetry
  package private(set) var planes: InlineArray<3, Plane>

  var planeCount: Int { format.planeCount }

  /// The visible part of a frame, or a part of that.
  ///
  /// - Parameters:
  ///   - frame: a mapped frame.
  ///   - crop: a part of the visible part. It is limited to the frame, and its origin is moved to the edge of its
  ///     chroma sample.
  init(_ frame: MappedFrame, crop: PictureRect? = nil) {
    let source = frame.formatDescription.pixelFormat
    format = source.withChromaInOrder
    colorimetry = frame.formatDescription.colorimetry
    size = frame.visible.size
    planes = .init(repeating: .none)
    for index in 0..<source.planeCount {
      let plane = frame.plane(source == .yv12 && index > 0 ? 3 - index : index)
      planes[index] = Plane(
        data: UnsafeMutablePointer(mutating: plane.data), stride: Int32(plane.stride),
        width: Int32(plane.layout.width), height: Int32(plane.layout.height))
    }
    if let crop { self = cropped(to: crop) }
  }

  /// The pixels of a renderer, in a format with one plane.
  init(
    packed format: PixelFormat, size: PictureSize, data: UnsafeMutablePointer<UInt8>, stride: Int32,
    colorimetry: Colorimetry = .rgb
  ) {
    self.init(format, size: size, colorimetry: colorimetry)
    planes[0] = Plane(data: data, stride: stride, width: Int32(size.width), height: Int32(size.height))
  }

  /// A picture with planes anywhere in memory, in the order and with the sizes of the format.
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

  /// The number of bytes of a picture in scratch memory.
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
  /// A part of the picture.
  ///
  /// - Parameter rect: is limited to the picture, and its origin is moved to the edge of its chroma sample.
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

  /// `count` rows from `start` on, which must be even.
  func rows(_ start: Int, _ count: Int) -> Picture {
    cropped(to: PictureRect(x: 0, y: start, width: size.width, height: count))
  }

  /// The picture with its rows from the last to the first.
  var upsideDown: Picture {
    var result = self
    for index in 0..<planeCount { result.planes[index] = planes[index].upsideDown }
    return result
  }

  /// One field of a picture whose height is a multiple of 4, which is every other row of each plane.
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

  /// The luma of a picture in a YUV format with a luma plane.
  var luma: Picture {
    var result = self
    result.format = .gray8
    return result
  }

  /// Whether every row begins at an even address if that is needed: by the kernels for 16-bit samples, and for rotating
  /// pairs of bytes.
  func isAligned(for orientation: VideoOrientation) -> Bool {
    guard format.isTenBit || (format.isSemiPlanar && orientation.swapsSides) else { return true }
    return (0..<planeCount).allSatisfy { planes[$0].stride % 2 == 0 && Int(bitPattern: planes[$0].data) % 2 == 0 }
  }
}

extension Colorimetry {
  /// A colorimetry for RGB pictures, which is not used for any conversion.
  static let rgb = Colorimetry(matrix: .bt601, isFullRange: true)
}
