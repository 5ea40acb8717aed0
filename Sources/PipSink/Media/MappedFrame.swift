import CGStreamer

/// A mapped frame, with the visible rectangle worked out and every plane checked to lie in its memory. Valid in the
/// closure that ``withMapped(_:formatDescription:access:_:)`` calls, and nowhere else.
struct MappedFrame {
  enum Access {
    case read
    /// For a buffer that nobody else has.
    case write
  }

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
  /// - Throws: ``PipSinkError/unreadableFrame(reason:)`` when the memory cannot be mapped or is too small; and what
  ///   `body` throws.
  static func withMapped<Result: ~Copyable>(
    _ buffer: UnsafeMutablePointer<GstBuffer>, formatDescription: VideoFormatDescription, access: Access = .read,
    _ body: (MappedFrame) throws(PipSinkError) -> Result
  ) throws(PipSinkError) -> Result {
    var info = formatDescription.info
    var frame = GstVideoFrame()
    // The buffer is kept by its owner, so the map need not reference it again.
    let mode = access == .read ? GST_MAP_READ.rawValue : GST_MAP_READ.rawValue | GST_MAP_WRITE.rawValue
    let flags = GstMapFlags(mode | UInt32(GST_VIDEO_FRAME_MAP_FLAG_NO_REF.rawValue))
    guard gst_video_frame_map(&frame, &info, buffer, flags) != 0 else {
      let size = gst_buffer_get_size(buffer)
      throw .unreadableFrame(reason: "a \(formatDescription) buffer of \(size) bytes cannot be mapped")
    }
    defer { gst_video_frame_unmap(&frame) }
    guard frame.info.finfo == info.finfo else {
      throw .unreadableFrame(reason: "the buffer's video meta has another format than its caps (\(formatDescription))")
    }
    return try withUnsafePointer(to: frame) { pointer throws(PipSinkError) in
      let mapped = MappedFrame(
        visible: visibleRect(of: pointer, buffer: buffer, capsSize: formatDescription.size),
        formatDescription: formatDescription, frame: pointer)
      guard mapped.planesFitTheirMemory else {
        throw .unreadableFrame(reason: "a plane of the \(formatDescription) frame reaches beyond its memory")
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
    let finfo = frame.pointee.info.finfo.pointee
    // The first component that lies in this plane says how the plane is subsampled.
    let component = Self.firstIndex(of: index, in: finfo.plane)
    let shiftX = Int(Self.element(component, of: finfo.w_sub))
    let shiftY = Int(Self.element(component, of: finfo.h_sub))
    let stride = Int(Self.element(index, of: frame.pointee.info.stride))
    let pixelStride = Int(Self.element(component, of: finfo.pixel_stride))
    let width = (visible.width + (1 << shiftX) - 1) >> shiftX
    let height = (visible.height + (1 << shiftY) - 1) >> shiftY
    let offset = (visible.y >> shiftY) * stride + (visible.x >> shiftX) * pixelStride
    let base = UnsafeRawPointer(Self.element(index, of: frame.pointee.data)!)  // checked by planesFitTheirMemory
    return Plane(
      data: base.assumingMemoryBound(to: UInt8.self) + offset,
      byteCount: stride * (height - 1) + formatDescription.pixelFormat.rowByteCount(index, width: width),
      layout: PixelBuffer.PlaneLayout(width: width, height: height, bytesPerRow: stride, pixelStride: pixelStride))
  }

  /// Where the whole planes lie in the buffer, crop or no crop.
  struct BufferLayout {
    struct Plane {
      let offset: Int
      let stride: Int
      let byteCount: Int
    }

    let size: PictureSize
    let planes: [Plane]
  }

  var bufferLayout: BufferLayout {
    let info = frame.pointee.info
    let size = PictureSize(width: Int(info.width), height: Int(info.height))
    let format = formatDescription.pixelFormat
    let meta = frame.pointee.meta?.assumingMemoryBound(to: GstVideoMeta.self)
    let planes = (0..<formatDescription.planeCount).map { index in
      let offset = meta.map { Self.element(index, of: $0.pointee.offset) }
      let dimensions = format.planeSize(index, of: size)
      let stride = Int(Self.element(index, of: info.stride))
      return BufferLayout.Plane(
        offset: Int(clamping: offset ?? Self.element(index, of: info.offset)), stride: stride,
        byteCount: stride * Int(dimensions.height - 1) + format.rowByteCount(index, width: Int(dimensions.width)))
    }
    return BufferLayout(size: size, planes: planes)
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
    of frame: UnsafePointer<GstVideoFrame>, buffer: UnsafeMutablePointer<GstBuffer>, capsSize: PictureSize
  ) -> PictureRect {
    let width = Int(frame.pointee.info.width)
    let height = Int(frame.pointee.info.height)
    guard let meta = gst_buffer_get_meta(buffer, gst_video_crop_meta_api_get_type()) else {
      // A padded frame's meta may be larger than the picture; the caps then say what is to be seen.
      return PictureRect(x: 0, y: 0, width: min(capsSize.width, width), height: min(capsSize.height, height))
    }
    let crop = UnsafeRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self).pointee
    let finfo = frame.pointee.info.finfo.pointee
    let stepX = 1 << Int(finfo.w_sub.1)
    let stepY = 1 << Int(finfo.h_sub.1)
    let x = min(Int(crop.x), width - 1) / stepX * stepX
    let y = min(Int(crop.y), height - 1) / stepY * stepY
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

  private static func firstIndex(of value: Int, in tuple: (guint, guint, guint, guint)) -> Int {
    (0..<4).first { element($0, of: tuple) == value } ?? 0
  }
}
