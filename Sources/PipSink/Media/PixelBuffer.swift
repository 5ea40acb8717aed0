import CGStreamer

/// One video frame in memory: a reference to a GstSample's frame, not a copy of it. Read-only and immutable.
///
/// It keeps the GstSample, and with it the buffer, alive; it may outlive the pipeline. Its memory is mapped for the
/// time of an access only. Any thread may read, several at once.
///
/// `@unchecked Sendable`: the fields are constant, and a GstSample that nobody writes to may be read from every thread
/// (GstMiniObject's reference count is atomic).
public final class PixelBuffer: @unchecked Sendable {
  /// Format, size and colours; the same object for all frames with equal caps.
  public let formatDescription: VideoFormatDescription

  private let sample: OpaquePointer

  /// - Parameter sample: a GstSample with a buffer; ownership of one reference passes to the new object, which gives it
  ///   back also when this throws.
  /// - Throws: ``PipSinkError/unreadableFrame(reason:)`` for a sample without a buffer.
  init(owning sample: OpaquePointer, formatDescription: VideoFormatDescription) throws(PipSinkError) {
    guard gst_sample_get_buffer(sample) != nil else {
      gst_sample_unref(sample)
      throw .unreadableFrame(reason: "the sample has no buffer")
    }
    self.sample = sample
    self.formatDescription = formatDescription
  }

  deinit {
    gst_sample_unref(sample)
  }

  public var pixelFormat: PixelFormat { formatDescription.pixelFormat }
  /// The picture's size from the caps, in pixels. A crop meta on the buffer may make the visible part smaller.
  public var size: PictureSize { formatDescription.size }
  public var planeCount: Int { formatDescription.planeCount }

  var buffer: UnsafeMutablePointer<GstBuffer> { gst_sample_get_buffer(sample) }

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
  /// - Throws: ``PipSinkError/noSuchPlane(index:count:)``, ``PipSinkError/unreadableFrame(reason:)``.
  public func withPlane<Result>(
    _ index: Int, _ body: (RawSpan, PlaneLayout) -> Result
  ) throws(PipSinkError) -> Result {
    try withMappedFrame { frame throws(PipSinkError) in
      guard (0..<planeCount).contains(index) else { throw .noSuchPlane(index: index, count: planeCount) }
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

  /// The one way to the GStreamer object behind the frame, for code that hands it to a C library. The sample is
  /// borrowed for the time of `body`, which takes a reference of its own (`gst_sample_ref`) if it wants to keep it, and
  /// must not write to it.
  public func withUnsafeGstSample<Result, Failure: Error>(
    _ body: (OpaquePointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(sample)
  }
}
