import CGStreamer
import Glibc

/// Copying the visible part of frames.
extension PixelBuffer {
  /// Whether the planes are where the caps alone say, so that an element that ignores GstVideoMeta finds them.
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

  /// Copies the visible part into a buffer, whatever the layout of its planes.
  ///
  /// - Parameter target: a writable buffer with the same format and size, which is borrowed.
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
  /// Copies the visible part of a frame into memory of the pool, so that the copy can be changed.
  ///
  /// - Returns: the copy, in the same pixel format.
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
