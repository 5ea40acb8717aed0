import CGStreamer

/// A frame that is being made, in memory that nobody else has. It becomes a ``PixelBuffer`` by ``finish()``, and cannot
/// be written to from then on.
///
/// It comes from a ``PixelBufferPool``, and its memory goes back there when it, or the pixel buffer that it became, is
/// not used any more. One thread may use it at a time.
public struct MutablePixelBuffer: ~Copyable, @unchecked Sendable {
  // `@unchecked Sendable`: it can have only one owner, and has the buffer's only reference.

  public let formatDescription: VideoFormatDescription
  private let buffer: UnsafeMutablePointer<GstBuffer>

  /// - Parameter buffer: writable, with the description's format and size; one reference passes over.
  init(owning buffer: UnsafeMutablePointer<GstBuffer>, formatDescription: VideoFormatDescription) {
    self.buffer = buffer
    self.formatDescription = formatDescription
  }

  deinit {
    gst_buffer_unref(buffer)
  }

  public var pixelFormat: PixelFormat { formatDescription.pixelFormat }
  /// In pixels.
  public var size: PictureSize { formatDescription.size }
  public var planeCount: Int { formatDescription.planeCount }

  /// Calls `body` with the bytes of one plane, for reading and writing; what they hold at first is undefined. The span
  /// cannot leave the closure.
  ///
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

  /// Maps the frame for reading and writing, calls `body`, unmaps it.
  mutating func withMappedFrame<Result>(
    _ body: (MappedFrame) throws(PipSinkError) -> Result
  ) throws(PipSinkError) -> Result {
    try MappedFrame.withMapped(buffer, formatDescription: formatDescription, isWritable: true, body)
  }

  /// The finished frame.
  public consuming func finish() -> PixelBuffer {
    PixelBuffer(owning: gst_buffer_ref(buffer), formatDescription: formatDescription)
  }
}
