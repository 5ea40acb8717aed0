import CGStreamer

/// Makes pictures black and white: luma stays the same, chroma becomes neutral, and the format is kept.
///
/// Planar and semi-planar YUV is not copied: the new frame shares the luma memory of the old one, and its chroma planes
/// are a constant block that all frames of the same size share. GRAY8 passes unchanged. Packed YUV and RGB frames are
/// copied; RGB is converted with the luma of BT.601, and becomes opaque.
public final class GrayscaleProcessor: PoolingProcessor {
  private let neutral = Locked(NeutralChroma())
  private let converter = PixelConverter()

  /// Makes a processor.
  public init() {}

  package var pool: PixelBufferPool { converter.pool }

  /// Returns the frame without its colours.
  ///
  /// - Throws: ``PipSinkError/Frame/unreadable(reason:)``, and the errors of ``PixelBufferPool/makePixelBuffer(_:)``.
  public func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
    let format = sampleBuffer.pixelBuffer.pixelFormat
    if format == .gray8 { return sampleBuffer }
    if format == .y210 {
      var copy = try pool.mutableCopy(of: sampleBuffer.pixelBuffer)
      try copy.withMappedFrame { Picture($0).removeChromaOfY210() }
      return sampleBuffer.replacing(copy.finish())
    }
    guard format.planeCount > 1 else {
      let luma = try converter.convert(sampleBuffer.pixelBuffer, to: .init(pixelFormat: .gray8))
      let described = sampleBuffer.formatDescription
      let isCropped = luma.size != described.size
      return sampleBuffer.replacing(
        try converter.redraw(luma, as: isCropped ? described.with(size: luma.size) : described))
    }
    let source = sampleBuffer.pixelBuffer
    // Memory is shared only where the rows are in order.
    let isUpsideDown = try source.withMappedFrame(\.isUpsideDown)
    return sampleBuffer.replacing(try gray(isUpsideDown ? pool.mutableCopy(of: source).finish() : source))
  }

  private func gray(_ source: PixelBuffer) throws(PipSinkError) -> PixelBuffer {
    // Mapping the frame checks that its planes are inside of its memory.
    let (size, lumaPlane, chromaPlane) = try source.withMappedFrame { frame in
      (frame.fullSize, frame.extent(ofPlane: 0), frame.extent(ofPlane: 1))
    }
    // The new buffer shares the memory of the luma plane.
    guard
      let luma = gst_buffer_copy_region(
        source.buffer, GST_BUFFER_COPY_MEMORY, gsize(lumaPlane.offset), gsize(lumaPlane.byteCount))
    else { throw .frame(.unreadable(reason: "the memory of its luma plane cannot be shared")) }
    let memory = neutral.withLock { $0.memory(byteCount: chromaPlane.byteCount, format: source.pixelFormat) }
    let lumaSize = gst_buffer_get_size(luma)
    gst_buffer_append_memory(luma, memory)
    gst_buffer_copy_into(
      luma, source.buffer, GstBufferCopyFlags(GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue), 0,
      gsize.max)
    var offsets: [gsize] = [0, lumaSize, lumaSize, 0]
    var strides: [gint] = [gint(lumaPlane.stride), gint(chromaPlane.stride), gint(chromaPlane.stride), 0]
    gst_buffer_add_video_meta_full(
      luma, GST_VIDEO_FRAME_FLAG_NONE, source.pixelFormat.gstFormat, guint(size.width),
      guint(size.height), guint(source.planeCount), &offsets, &strides)
    copyCrop(from: source.buffer, to: luma)
    return PixelBuffer(owning: luma, formatDescription: source.formatDescription)
  }

  private func copyCrop(from source: UnsafeMutablePointer<GstBuffer>, to target: UnsafeMutablePointer<GstBuffer>) {
    guard let meta = gst_buffer_get_meta(source, gst_video_crop_meta_api_get_type()),
      let copy = gst_buffer_add_meta(target, gst_video_crop_meta_get_info(), nil)
    else { return }
    let from = UnsafeRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self)
    let to = UnsafeMutableRawPointer(copy).assumingMemoryBound(to: GstVideoCropMeta.self)
    (to.pointee.x, to.pointee.y) = (from.pointee.x, from.pointee.y)
    (to.pointee.width, to.pointee.height) = (from.pointee.width, from.pointee.height)
  }
}

extension Picture {
  /// Makes the chroma neutral in a picture with the format Y210, in which every other word is chroma.
  fileprivate func removeChromaOfY210() {
    let plane = planes[0]
    for row in 0..<plane.height {
      let words = UnsafeMutableRawPointer(plane.row(row))
      for column in 0..<(Int(plane.width) + 1) / 2 * 2 {
        words.storeBytes(of: UInt16(512 << 6).littleEndian, toByteOffset: column * 4 + 2, as: UInt16.self)
      }
    }
  }
}

/// A block of neutral chroma, which is made once for each size.
private struct NeutralChroma: ~Copyable {
  private var memory: UnsafeMutablePointer<GstMemory>?
  private var byteCount = 0
  private var format: PixelFormat?

  deinit {
    if let memory { gst_memory_unref(memory) }
  }

  /// - Returns: the block, with a reference for the caller.
  mutating func memory(byteCount: Int, format: PixelFormat) -> UnsafeMutablePointer<GstMemory>? {
    if self.byteCount != byteCount || self.format != format {
      if let memory { gst_memory_unref(memory) }
      memory = Self.make(byteCount: byteCount, format: format)
      self.byteCount = byteCount
      self.format = format
    }
    return memory.map { gst_memory_ref($0) }
  }

  private static func make(byteCount: Int, format: PixelFormat) -> UnsafeMutablePointer<GstMemory>? {
    guard let block = g_malloc(gsize(byteCount)) else { return nil }
    // The middle of the range: 128 in eight bits, and 512 in ten, at the top or at the bottom of sixteen.
    let high: UInt8 = format.tenBitShift == 0 ? 0x02 : 0x80
    let isTenBit = format.isTenBit
    let bytes = UnsafeMutableRawBufferPointer(start: block, count: byteCount)
    for index in bytes.indices { bytes[index] = isTenBit && index % 2 == 0 ? 0 : high }
    return gst_memory_new_wrapped(
      GST_MEMORY_FLAG_READONLY, block, gsize(byteCount), 0, gsize(byteCount), block, { g_free($0) })
  }
}
