import CGStreamer

/// One video frame in memory: a reference to a GstBuffer, not a copy of it. Read-only and immutable.
///
/// It keeps the GstBuffer alive, and may outlive the pipeline. Its memory is mapped for the time of an access only. Any
/// thread may read, several at once.
///
/// `@unchecked Sendable`: the fields are constant, and a GstBuffer that nobody writes to may be read from every thread
/// (GstMiniObject's reference count is atomic).
public final class PixelBuffer: @unchecked Sendable {
  /// Format, size and colours; the same object for all frames with equal caps.
  public let formatDescription: VideoFormatDescription

  package let buffer: UnsafeMutablePointer<GstBuffer>

  /// - Parameter buffer: ownership of one reference passes to the new object.
  package init(
    owning buffer: UnsafeMutablePointer<GstBuffer>, formatDescription: consuming VideoFormatDescription
  ) {
    self.buffer = buffer
    self.formatDescription = formatDescription
  }

  deinit {
    gst_buffer_unref(buffer)
  }

  public var pixelFormat: PixelFormat { formatDescription.pixelFormat }
  /// The picture's size from the caps, in pixels. A crop meta on the buffer may make the visible part smaller.
  public var size: PictureSize { formatDescription.size }
  public var planeCount: Int { formatDescription.planeCount }

  /// Where one plane's pixels lie in its bytes.
  public struct PlaneLayout: Hashable, Sendable {
    /// Samples in a row and rows, after chroma subsampling and crop.
    public let width: Int
    public let height: Int
    /// Bytes from one row's first sample to the next row's.
    public let bytesPerRow: Int
    /// Bytes from one sample to the next in a row: 2 for NV12's interleaved chroma, 4 for BGRA.
    public let pixelStride: Int
  }

  /// Calls `body` with the bytes of one plane, from the first visible row's first sample to the end of the last row,
  /// strides and offsets as the buffer's GstVideoMeta has them. The span cannot leave the closure.
  ///
  /// - Throws: ``PipSinkError/Frame/noSuchPlane(index:count:)``, ``PipSinkError/Frame/unreadable(reason:)``.
  public func withPlane<Result>(
    _ index: Int, _ body: (RawSpan, PlaneLayout) -> Result
  ) throws(PipSinkError) -> Result {
    try withMappedFrame { frame throws(PipSinkError) in
      guard (0..<planeCount).contains(index) else { throw .frame(.noSuchPlane(index: index, count: planeCount)) }
      let plane = frame.plane(index)
      let bytes = UnsafeRawBufferPointer(start: plane.data, count: plane.byteCount)
      return body(bytes.bytes, plane.layout)
    }
  }

  /// Maps the frame, calls `body`, unmaps it.
  func withMappedFrame<Result: ~Copyable>(
    _ body: (MappedFrame) throws(PipSinkError) -> Result
  ) throws(PipSinkError) -> Result {
    try MappedFrame.withMapped(buffer, formatDescription: formatDescription, body)
  }

  /// The one way to the GStreamer object behind the frame, for code that hands it to a C library: a GstSample with its
  /// buffer and its caps, made for the call. It is borrowed for the time of `body`, which takes a reference of its own
  /// (`gst_sample_ref`) if it wants to keep it, and must not write to it.
  public func withUnsafeGstSample<Result, Failure: Error>(
    _ body: (OpaquePointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Like all of GLib, gst_sample_new ends the program where there is no memory.
    let sample = gst_sample_new(buffer, formatDescription.caps, nil, nil)!
    defer { gst_sample_unref(sample) }
    return try body(sample)
  }
}
