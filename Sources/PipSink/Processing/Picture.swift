/// Pixels in memory as the converter sees them: a part of a mapped frame, or an intermediate picture in scratch memory.
struct Picture {
  struct Plane {
    let data: UnsafePointer<UInt8>
    /// Bytes from one row to the next.
    let stride: Int32
    /// Samples in a row (pairs of chroma in the semi-planar formats) and rows.
    let width: Int32
    let height: Int32

    static var none: Plane { Plane(data: UnsafePointer(bitPattern: 1)!, stride: 0, width: 0, height: 0) }

    /// To write through. Only for planes in scratch memory: a frame's are mapped for reading.
    var writable: UnsafeMutablePointer<UInt8> { UnsafeMutablePointer(mutating: data) }
  }

  /// YV12 is presented as I420, with its chroma planes in that order.
  let format: PixelFormat
  let size: PictureSize
  let colorimetry: Colorimetry
  let planeCount: Int
  private(set) var planes: InlineArray<3, Plane>

  /// The part `crop` of `frame`'s visible rectangle.
  ///
  /// - Parameter crop: cut to the frame; its origin goes to the chroma sample that it lies in.
  init(_ frame: MappedFrame, crop: PictureRect) {
    let source = frame.formatDescription.pixelFormat
    format = source == .yv12 ? .i420 : source
    colorimetry = frame.formatDescription.colorimetry
    planeCount = frame.formatDescription.planeCount
    let shift = source.chromaShift
    let x = min(max(crop.x, 0), frame.visible.width - 1) / (1 << shift.x) * (1 << shift.x)
    let y = min(max(crop.y, 0), frame.visible.height - 1) / (1 << shift.y) * (1 << shift.y)
    size = PictureSize(
      width: max(1, min(crop.width, frame.visible.width - x)),
      height: max(1, min(crop.height, frame.visible.height - y)))
    planes = .init(repeating: .none)
    for index in 0..<planeCount {
      let plane = frame.plane(source == .yv12 && index > 0 ? 3 - index : index)
      let isChroma = index > 0
      let offset =
        (isChroma ? y >> shift.y : y) * plane.layout.bytesPerRow
        + (isChroma ? x >> shift.x : x) * plane.layout.pixelStride
      let dimensions = format.planeSize(index, of: size)
      planes[index] = Plane(
        data: plane.data + offset, stride: Int32(plane.layout.bytesPerRow), width: dimensions.width,
        height: dimensions.height)
    }
  }

  /// A picture in scratch memory.
  ///
  /// - Returns: nil when the scratch memory was begun with too little.
  init?(_ format: PixelFormat, size: PictureSize, colorimetry: Colorimetry, in scratch: inout ScratchMemory) {
    self.format = format
    self.size = size
    self.colorimetry = colorimetry
    planeCount = format.planeCount
    planes = .init(repeating: .none)
    for index in 0..<planeCount {
      let dimensions = format.planeSize(index, of: size)
      let stride = format.rowByteCount(index, width: Int(dimensions.width))
      guard let data = scratch.take(byteCount: stride * Int(dimensions.height)) else { return nil }
      planes[index] = Plane(
        data: UnsafePointer(data), stride: Int32(stride), width: dimensions.width, height: dimensions.height)
    }
  }

  /// What a picture in scratch memory takes, in bytes.
  static func scratchByteCount(_ format: PixelFormat, size: PictureSize) -> Int {
    (0..<format.planeCount).reduce(0) { sum, index in
      let dimensions = format.planeSize(index, of: size)
      let stride = format.rowByteCount(index, width: Int(dimensions.width))
      return sum + ScratchMemory.padded(stride * Int(dimensions.height))
    }
  }
}
