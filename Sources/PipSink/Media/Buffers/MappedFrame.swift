import CGStreamer

/// A mapped frame, whose visible rectangle is known and whose planes were checked against the size of their memory. It
/// is valid only in the closure that ``withMapped(_:formatDescription:isWritable:_:)`` calls.
struct MappedFrame {
  /// The visible part of one plane.
  struct Plane {
    /// The first byte of the first row, valid while the frame is mapped.
    let data: UnsafePointer<UInt8>
    /// The number of bytes from one row to the next; negative if rows are stored from the last to the first.
    let stride: Int
    /// The number of bytes from the beginning of the row that is first in memory to the end of the one that is last.
    let byteCount: Int
    /// The layout with the rows in order.
    let layout: PixelBuffer.PlaneLayout

    /// The row that is first in memory.
    var start: UnsafePointer<UInt8> { stride < 0 ? data + stride * (layout.height - 1) : data }

    /// Calls `body` with the bytes, in which the rows are in order. Rows that are stored from the last to the first are
    /// copied.
    func withBytes<Result>(_ body: (RawSpan, PixelBuffer.PlaneLayout) -> Result) -> Result {
      guard stride < 0 else { return body(UnsafeRawBufferPointer(start: data, count: byteCount).bytes, layout) }
      return withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16) { ordered in
        let rowByteCount = byteCount + stride * (layout.height - 1)
        ordered.initializeMemory(as: UInt8.self, repeating: 0)
        for row in 0..<layout.height {
          let bytes = UnsafeRawBufferPointer(start: data + row * stride, count: rowByteCount)
          UnsafeMutableRawBufferPointer(rebasing: ordered[(-row * stride)...]).copyMemory(from: bytes)
        }
        return body(UnsafeRawBufferPointer(ordered).bytes, layout)
      }
    }
  }

  /// The visible part, in pixels of the full picture. It comes from the buffer's GstVideoCropMeta, or else from the
  /// size in the caps. In formats with subsampled chroma, the origin is moved to the edge of its chroma sample.
  let visible: PictureRect
  let formatDescription: VideoFormatDescription
  private let frame: UnsafePointer<GstVideoFrame>

  /// Maps the buffer's frame, calls `body` with it, and unmaps it.
  ///
  /// - Parameters:
  ///   - buffer: is borrowed.
  ///   - formatDescription: the buffer's format.
  ///   - isWritable: whether to map it also for writing, which requires that nobody else has the buffer.
  ///   - body: is called with the mapped frame.
  /// - Throws: ``PipSinkError/Frame/unreadable(reason:)`` when the memory cannot be mapped or is too small, and what
  ///   `body` throws.
  static func withMapped<Result: ~Copyable>(
    _ buffer: UnsafeMutablePointer<GstBuffer>, formatDescription: VideoFormatDescription, isWritable: Bool = false,
    _ body: (MappedFrame) throws(PipSinkError) -> Result
  ) throws(PipSinkError) -> Result {
    var info = formatDescription.info
    var frame = GstVideoFrame()
    // The caller owns the buffer, so the map needs no reference of its own.
    let mode = GST_MAP_READ.rawValue | (isWritable ? GST_MAP_WRITE.rawValue : 0)
    let flags = GstMapFlags(mode | UInt32(GST_VIDEO_FRAME_MAP_FLAG_NO_REF.rawValue))
    guard gst_video_frame_map(&frame, &info, buffer, flags) != 0 else {
      let size = gst_buffer_get_size(buffer)
      throw .frame(.unreadable(reason: "a \(formatDescription) buffer of \(size) bytes cannot be mapped"))
    }
    defer { gst_video_frame_unmap(&frame) }
    guard frame.info.finfo == info.finfo else {
      throw .frame(
        .unreadable(reason: "the buffer's video meta has another format than its caps (\(formatDescription))"))
    }
    return try withUnsafePointer(to: frame) { pointer throws(PipSinkError) in
      let mapped = MappedFrame(
        visible: formatDescription.visibleRect(
          of: buffer, stored: (pointer.pointee.info.width, pointer.pointee.info.height)),
        formatDescription: formatDescription, frame: pointer)
      guard mapped.planesFitTheirMemory else {
        throw .frame(.unreadable(reason: "a plane of the \(formatDescription) frame reaches beyond its memory"))
      }
      return try body(mapped)
    }
  }

  /// Whether the frame's even and odd rows are two fields of different times.
  var isInterlaced: Bool { flags & GST_VIDEO_FRAME_FLAG_INTERLACED.rawValue != 0 }

  /// Whether the field with the even rows is the earlier one.
  var isTopFieldFirst: Bool { flags & GST_VIDEO_FRAME_FLAG_TFF.rawValue != 0 }

  private var flags: UInt32 { UInt32(frame.pointee.flags.rawValue) }

  /// The visible part of a plane.
  ///
  /// - Parameter index: the plane's index, below the format's number of planes.
  func plane(_ index: Int) -> Plane {
    let format = formatDescription.pixelFormat
    let (width, height) = format.planeSize(index, of: visible.size)
    let shift = index > 0 ? format.chromaShift : (x: 0, y: 0)
    let stride = Int(Self.element(index, of: frame.pointee.info.stride))
    let offset = (visible.y >> shift.y) * stride + format.byteOffset(index, column: visible.x >> shift.x)
    let base = UnsafeRawPointer(Self.element(index, of: frame.pointee.data)!)  // checked by planesFitTheirMemory
    return Plane(
      data: base.assumingMemoryBound(to: UInt8.self) + offset, stride: stride,
      byteCount: abs(stride) * Int(height - 1) + format.rowByteCount(index, width: Int(width)),
      layout: PixelBuffer.PlaneLayout(
        width: Int(width), height: Int(height), bytesPerRow: abs(stride),
        pixelStride: format.byteOffset(index, column: 1)))
  }

  /// Whether rows of a plane are stored from the last to the first.
  var isUpsideDown: Bool {
    (0..<formatDescription.planeCount).contains { Self.element($0, of: frame.pointee.info.stride) < 0 }
  }

  /// The size of the whole picture, ignoring a crop.
  var fullSize: PictureSize {
    PictureSize(width: Int(frame.pointee.info.width), height: Int(frame.pointee.info.height))
  }

  /// The place of a whole plane in the buffer, in bytes, ignoring a crop.
  func extent(ofPlane index: Int) -> (offset: Int, stride: Int, byteCount: Int) {
    let info = frame.pointee.info
    let format = formatDescription.pixelFormat
    let meta = frame.pointee.meta?.assumingMemoryBound(to: GstVideoMeta.self)
    let offset = Self.element(index, of: meta?.pointee.offset ?? info.offset)
    let stride = Int(Self.element(index, of: info.stride))
    let (width, height) = format.planeSize(index, of: fullSize)
    return (Int(clamping: offset), stride, stride * Int(height - 1) + format.rowByteCount(index, width: Int(width)))
  }

  private var planesFitTheirMemory: Bool {
    // Without a video meta the whole buffer is mapped once, as map 0.
    let isMappedByPlane = frame.pointee.meta != nil
    return (0..<formatDescription.planeCount).allSatisfy { index in
      let map = Self.element(isMappedByPlane ? index : 0, of: frame.pointee.map)
      guard let memory = map.data, Self.element(index, of: frame.pointee.data) != nil,
        Self.element(index, of: frame.pointee.info.stride) != 0
      else { return false }
      let plane = plane(index)
      let start = plane.start - UnsafePointer(memory)
      return start >= 0 && start + plane.byteCount <= Int(map.size)
    }
  }

  /// An element of a C array of four elements, which Swift imports as a tuple.
  private static func element<Element>(_ index: Int, of tuple: (Element, Element, Element, Element)) -> Element {
    switch index {
    case 0: tuple.0
    case 1: tuple.1
    case 2: tuple.2
    default: tuple.3
    }
  }
}
