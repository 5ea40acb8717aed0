import CGStreamer
import Glibc

extension PixelBuffer {
  /// Whether the planes lie as the caps alone say, so that whoever reads no GstVideoMeta finds them.
  package var isLaidOutByCaps: Bool {
    guard gst_buffer_get_meta(buffer, gst_video_crop_meta_api_get_type()) == nil else { return false }
    var info = formatDescription.info
    guard let meta = gst_buffer_get_video_meta(buffer)?.pointee else { return true }
    guard meta.width == info.width, meta.height == info.height, gst_buffer_get_size(buffer) >= info.size else {
      return false
    }
    return withUnsafePointer(to: meta.offset) { offsets in
      withUnsafePointer(to: meta.stride) { strides in
        let count = planeCount
        let isEqual = memcmp(offsets, &info.offset, count * MemoryLayout<gsize>.size) == 0
        return isEqual && memcmp(strides, &info.stride, count * MemoryLayout<gint>.size) == 0
      }
    }
  }

  /// Copies the visible part into a frame that nobody else has, wherever its planes lie.
  ///
  /// - Parameter target: a writable buffer of the same format and size.
  /// - Throws: ``PipSinkError/Frame/unreadable(reason:)``.
  package func copy(into target: UnsafeMutablePointer<GstBuffer>) throws(PipSinkError) {
    try withMappedFrame { source throws(PipSinkError) in
      try MappedFrame.withMapped(target, formatDescription: formatDescription, isWritable: true) {
        target throws(PipSinkError) in
        guard source.visible.size == target.visible.size else {
          throw .frame(
            .unreadable(reason: "a frame cropped to \(source.visible.size) cannot fill \(target.visible.size)"))
        }
        Picture(source).copy(into: Picture(target))
      }
    }
  }
}

extension PixelBufferPool {
  /// A copy of a frame's visible part that may be written to.
  ///
  /// - Throws: ``PipSinkError/Frame/poolExhausted(limit:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``,
  ///   ``PipSinkError/Frame/unreadable(reason:)``.
  public func mutableCopy(of pixelBuffer: PixelBuffer) throws(PipSinkError) -> MutablePixelBuffer {
    try pixelBuffer.withMappedFrame { source throws(PipSinkError) in
      let format = try pixelBuffer.formatDescription.with(size: source.visible.size)
      var copy = try makePixelBuffer(format)
      try copy.withMappedFrame { target throws(PipSinkError) in
        Picture(source).copy(into: Picture(target))
      }
      return copy
    }
  }
}
