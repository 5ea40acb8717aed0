import CGStreamer

/// A frame whose memory is in DMABufs, which the display server and devices can read without a copy: the layout of its
/// planes.
package struct DMABufFrame: Equatable, Sendable {
  /// Where a plane is.
  package struct Plane: Hashable, Sendable {
    /// The descriptor of the DMABuf, which is valid as long as the frame's memory exists.
    package let descriptor: Int32
    /// The first byte of the plane in the DMABuf.
    package let offset: Int
    /// The number of bytes from one row to the next.
    package let stride: Int
  }

  /// The planes, up to four.
  package let planes: [Plane]
  /// The size of the full picture, of which a crop may show a part, in pixels.
  package let size: PictureSize

  /// Looks up the layout of a frame.
  ///
  /// - Returns: nil when a plane is not in a DMABuf, or has its rows from the last to the first.
  package init?(_ pixelBuffer: PixelBuffer) {
    let buffer = pixelBuffer.buffer
    let meta = gst_buffer_get_video_meta(buffer)?.pointee
    let info = pixelBuffer.formatDescription.info
    let offsets = withUnsafeBytes(of: meta?.offset ?? info.offset) { [gsize]($0.bindMemory(to: gsize.self)) }
    let strides = withUnsafeBytes(of: meta?.stride ?? info.stride) { [gint]($0.bindMemory(to: gint.self)) }
    var planes: [Plane] = []
    for index in 0..<pixelBuffer.planeCount {
      var (first, count, skipped): (guint, guint, gsize) = (0, 0, 0)
      guard strides[index] > 0, gst_buffer_find_memory(buffer, offsets[index], 1, &first, &count, &skipped) != 0,
        let memory = gst_buffer_peek_memory(buffer, first), gst_is_dmabuf_memory(memory) != 0
      else { return nil }
      planes.append(
        Plane(
          descriptor: gst_dmabuf_memory_get_fd(memory), offset: Int(memory.pointee.offset + skipped),
          stride: Int(strides[index])))
    }
    self.planes = planes
    size = PictureSize(width: Int(meta?.width ?? guint(info.width)), height: Int(meta?.height ?? guint(info.height)))
  }
}

extension PixelBuffer {
  /// The memory with the first plane, if it is a DMABuf; nil otherwise. A pool of buffers has the same few memories again
  /// and again.
  package var dmabufMemory: DMABufMemory? {
    guard gst_buffer_n_memory(buffer) > 0, let memory = gst_buffer_peek_memory(buffer, 0),
      gst_is_dmabuf_memory(memory) != 0
    else { return nil }
    return DMABufMemory(pointer: memory)
  }
}

/// A GstMemory in a DMABuf. It is valid as long as its owner has a frame with it.
///
/// `@unchecked Sendable`: it is only an address, and reference counts are atomic.
package struct DMABufMemory: Hashable, @unchecked Sendable {
  let pointer: UnsafeMutablePointer<GstMemory>

  /// Has a closure called when the memory is freed, on the thread that frees it.
  package func whenFreed(_ handler: @escaping @Sendable () -> Void) {
    let notify: GstMiniObjectNotify = { handler, _ in
      guard let handler else { return }
      Unmanaged<FreeHandler>.fromOpaque(handler).takeRetainedValue().call()
    }
    pointer.withMemoryRebound(to: GstMiniObject.self, capacity: 1) {
      gst_mini_object_weak_ref($0, notify, Unmanaged.passRetained(FreeHandler(call: handler)).toOpaque())
    }
  }

  private final class FreeHandler: Sendable {
    let call: @Sendable () -> Void
    init(call: @escaping @Sendable () -> Void) { self.call = call }
  }
}
