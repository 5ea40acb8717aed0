import CGStreamer

/// A frame that is being made, in memory that nobody else uses. ``finish()`` turns it into an immutable
/// ``PixelBuffer``.
///
/// It comes from a ``PixelBufferPool``. The memory returns to the pool when this buffer, or the pixel buffer made from
/// it, is released. One thread at a time may use it.
public struct MutablePixelBuffer: ~Copyable, @unchecked Sendable {
  // `@unchecked Sendable`: it has only one owner, and holds the only reference to the buffer.

  /// The format, size and colorimetry of the frame.
  public let formatDescription: VideoFormatDescription
  private let buffer: UnsafeMutablePointer<GstBuffer>

  /// Wraps a buffer.
  ///
  /// - Parameters:
  ///   - buffer: is writable and has the format and size of the description. Ownership of one reference passes to the
  ///     new value.
  ///   - formatDescription: the buffer's format.
  init(owning buffer: UnsafeMutablePointer<GstBuffer>, formatDescription: VideoFormatDescription) {
    self.buffer = buffer
    self.formatDescription = formatDescription
  }

  deinit {
    gst_buffer_unref(buffer)
  }

  /// The pixel format.
  package var pixelFormat: PixelFormat { formatDescription.pixelFormat }
  /// The size in pixels.
  package var size: PictureSize { formatDescription.size }
  /// The number of planes.
  package var planeCount: Int { formatDescription.planeCount }

  /// Calls `body` with the bytes of one plane, for reading and writing. The initial contents are undefined.
  ///
  /// - Parameters:
  ///   - index: the plane's index, from 0.
  ///   - body: gets the bytes and their layout. The span cannot leave the closure.
  /// - Returns: the result of `body`.
  /// - Throws: ``PipSinkError/Frame/noSuchPlane(index:count:)``, ``PipSinkError/Frame/unreadable(reason:)``.
  public mutating func withMutablePlane<Result>(
    _ index: Int, _ body: (inout MutableRawSpan, PixelBuffer.PlaneLayout) -> Result
  ) throws(PipSinkError) -> Result {
    let planeCount = planeCount
    return try withMappedFrame { frame throws(PipSinkError) in
      guard (0..<planeCount).contains(index) else { throw .frame(.noSuchPlane(index: index, count: planeCount)) }
      let plane = frame.plane(index)
      let bytes = UnsafeMutableRawBufferPointer(
        start: UnsafeMutableRawPointer(mutating: plane.data), count: plane.byteCount)
      var span = bytes.mutableBytes
      return body(&span, plane.layout)
    }
  }

  /// Copies what belongs to a picture beside its pixels and format: its times, the order of its fields, and the
  /// pictures over it, such as subtitles.
  ///
  /// - Parameter source: a frame whose visible part is the same picture, at the same size and as upright.
  mutating func copyMetadata(of source: PixelBuffer) {
    let flags = GST_BUFFER_COPY_FLAGS.rawValue | GST_BUFFER_COPY_TIMESTAMPS.rawValue
    gst_buffer_copy_into(buffer, source.buffer, GstBufferCopyFlags(flags), 0, gsize.max)
    if let overlays = source.overlayComposition { gst_buffer_add_video_overlay_composition_meta(buffer, overlays) }
  }

  /// Maps the frame for reading and writing, calls `body`, and unmaps it.
  mutating func withMappedFrame<Result>(
    _ body: (MappedFrame) throws(PipSinkError) -> Result
  ) throws(PipSinkError) -> Result {
    try MappedFrame.withMapped(buffer, formatDescription: formatDescription, isWritable: true, body)
  }

  /// Finishes the frame, which cannot be changed any more.
  ///
  /// - Returns: the frame as an immutable pixel buffer with the same memory.
  public consuming func finish() -> PixelBuffer {
    PixelBuffer(owning: gst_buffer_ref(buffer), formatDescription: formatDescription)
  }
}
