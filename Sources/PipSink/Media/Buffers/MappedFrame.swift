import CGStreamer

/// A mapped frame, with the visible rectangle worked out and every plane checked to lie in its memory. Valid in the
/// closure that ``withMapped(_:formatDescription:isWritable:_:)`` calls, and nowhere else.
struct MappedFrame {
  /// One plane's visible part. `data` is valid while the frame is mapped.
  struct Plane {
    let data: UnsafePointer<UInt8>
    let byteCount: Int
    let layout: PixelBuffer.PlaneLayout
  }

  /// The visible part, in pixels of the full picture: from GstVideoCropMeta, else the caps' size. For subsampled
  /// formats the origin is moved to the chroma sample that it lies in.
  let visible: PictureRect
  let formatDescription: VideoFormatDescription
  private let frame: UnsafePointer<GstVideoFrame>

  /// Maps the buffer's frame, calls `body` with it, unmaps it.
  ///
  /// - Parameter isWritable: whether to map it for writing, too: of a buffer that nobody else has.
  /// - Throws: ``PipSinkError/Frame/unreadable(reason:)`` when the memory cannot be mapped or is too small; and what
  ///   `body` throws.
  static func withMapped<Result: ~Copyable>(
    _ buffer: UnsafeMutablePointer<GstBuffer>, formatDescription: VideoFormatDescription, isWritable: Bool = false,
    _ body: (MappedFrame) throws(PipSinkError) -> Result
  ) throws(PipSinkError) -> Result {
    var info = formatDescription.info
    var frame = GstVideoFrame()
    // The buffer is kept by its owner, so the map need not reference it again.
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
        visible: visibleRect(of: pointer, buffer: buffer, caps: formatDescription),
        formatDescription: formatDescription, frame: pointer)
      guard mapped.planesFitTheirMemory else {
        throw .frame(.unreadable(reason: "a plane of the \(formatDescription) frame reaches beyond its memory"))
      }
      return try body(mapped)
    }
  }

  /// Whether the frame's even and odd rows are two fields, taken at two times.
  var isInterlaced: Bool { flags & GST_VIDEO_FRAME_FLAG_INTERLACED.rawValue != 0 }

  /// Which field of an interlaced frame is the earlier one.
  var isTopFieldFirst: Bool { flags & GST_VIDEO_FRAME_FLAG_TFF.rawValue != 0 }

  private var flags: UInt32 { UInt32(frame.pointee.flags.rawValue) }

  /// - Parameter index: below the format's plane count.
  func plane(_ index: Int) -> Plane {
    let format = formatDescription.pixelFormat
    let (width, height) = format.planeSize(index, of: visible.size)
    let shift = index > 0 ? format.chromaShift : (x: 0, y: 0)
    let stride = Int(Self.element(index, of: frame.pointee.info.stride))
    let offset = (visible.y >> shift.y) * stride + format.byteOffset(index, column: visible.x >> shift.x)
    let base = UnsafeRawPointer(Self.element(index, of: frame.pointee.data)!)  // checked by planesFitTheirMemory
    return Plane(
      data: base.assumingMemoryBound(to: UInt8.self) + offset,
      byteCount: stride * Int(height - 1) + format.rowByteCount(index, width: Int(width)),
      layout: PixelBuffer.PlaneLayout(
        width: Int(width), height: Int(height), bytesPerRow: stride, pixelStride: format.byteOffset(index, column: 1)))
  }

  /// The whole picture's size, crop or no crop.
  var fullSize: PictureSize {
    PictureSize(width: Int(frame.pointee.info.width), height: Int(frame.pointee.info.height))
  }

  /// Where a whole plane lies in the buffer, crop or no crop.
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
        Self.element(index, of: frame.pointee.info.stride) > 0
      else { return false }
      let plane = plane(index)
      let start = plane.data - UnsafePointer(memory)
      return start >= 0 && start + plane.byteCount <= Int(map.size)
    }
  }

  private static func visibleRect(
    of frame: UnsafePointer<GstVideoFrame>, buffer: UnsafeMutablePointer<GstBuffer>, caps: VideoFormatDescription
  ) -> PictureRect {
    let width = Int(frame.pointee.info.width)
    let height = Int(frame.pointee.info.height)
    guard let meta = gst_buffer_get_meta(buffer, gst_video_crop_meta_api_get_type()) else {
      // A padded frame's meta may be larger than the picture; the caps then say what is to be seen.
      return PictureRect(x: 0, y: 0, width: min(caps.size.width, width), height: min(caps.size.height, height))
    }
    let crop = UnsafeRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self).pointee
    let shift = caps.pixelFormat.chromaShift
    let x = min(Int(crop.x), width - 1).roundedDown(toPower: shift.x)
    let y = min(Int(crop.y), height - 1).roundedDown(toPower: shift.y)
    return PictureRect(
      x: x, y: y,
      width: max(1, min(Int(crop.width), width - x)), height: max(1, min(Int(crop.height), height - y)))
  }

  /// C arrays of four are imported as tuples.
  private static func element<Element>(_ index: Int, of tuple: (Element, Element, Element, Element)) -> Element {
    switch index {
    case 0: tuple.0
    case 1: tuple.1
    case 2: tuple.2
    default: tuple.3
    }
  }
}
