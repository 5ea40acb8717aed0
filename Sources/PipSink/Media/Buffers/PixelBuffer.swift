import CGStreamer

/// The pixels of one video frame. It refers to a GstBuffer, which is not copied, and it is immutable.
///
/// It retains the GstBuffer, and may exist longer than the pipeline. The memory is mapped only during an access.
/// Several threads may read at the same time.
///
/// `@unchecked Sendable`: the fields are constant, and a GstBuffer that is not written to may be read from every thread
/// (the reference count of GstMiniObject is atomic).
public final class PixelBuffer: @unchecked Sendable {
  /// The format, size and colorimetry; the same object for all frames with equal caps.
  public let formatDescription: VideoFormatDescription

  package let buffer: UnsafeMutablePointer<GstBuffer>

  /// Wraps a buffer.
  ///
  /// - Parameters:
  ///   - buffer: ownership of one reference passes to the new object.
  ///   - formatDescription: the buffer's format.
  package init(
    owning buffer: UnsafeMutablePointer<GstBuffer>, formatDescription: consuming VideoFormatDescription
  ) {
    self.buffer = buffer
    self.formatDescription = formatDescription
  }

  deinit {
    gst_buffer_unref(buffer)
  }

  /// The pixel format.
  public var pixelFormat: PixelFormat { formatDescription.pixelFormat }
  /// The size of the picture in the caps, in pixels. The visible part is smaller if the buffer has a crop meta.
  public var size: PictureSize { formatDescription.size }
  /// The part of the picture that is shown, in pixels of the full picture.
  package var visibleRect: PictureRect {
    let meta = gst_buffer_get_video_meta(buffer)?.pointee
    let stored = (gint(clamping: meta?.width ?? guint(size.width)), gint(clamping: meta?.height ?? guint(size.height)))
    return formatDescription.visibleRect(of: buffer, stored: stored)
  }
  /// Whether there are pictures that belong over the frame without being drawn into it, such as subtitles.
  package var hasOverlays: Bool { overlayComposition != nil }

  /// The pictures that belong over the frame without being drawn into it, a GstVideoOverlayComposition, which is valid
  /// while the pixel buffer lives; nil where there are none.
  var overlayComposition: OpaquePointer? {
    gst_buffer_get_meta(buffer, gst_video_overlay_composition_meta_api_get_type()).flatMap {
      UnsafeRawPointer($0).assumingMemoryBound(to: GstVideoOverlayCompositionMeta.self).pointee.overlay
    }
  }
  /// The number of planes.
  public var planeCount: Int { formatDescription.planeCount }

  /// Where the samples of a plane are in its bytes.
  public struct PlaneLayout: Hashable, Sendable {
    /// The number of samples in a row, after chroma subsampling and crop.
    public let width: Int
    /// The number of rows, after chroma subsampling and crop.
    public let height: Int
    /// The number of bytes from the first sample of a row to that of the next row.
    public let bytesPerRow: Int
    /// The number of bytes from one sample to the next in a row, for instance 2 for NV12's interleaved chroma and 4 for
    /// BGRA.
    package let pixelStride: Int
  }

  /// Calls `body` with the bytes of one plane, from the first visible sample to the end of the last visible row.
  /// Strides and offsets are those of the buffer's GstVideoMeta. Rows that are stored from the last to the first are
  /// copied into their order.
  ///
  /// - Parameters:
  ///   - index: the plane's index, from 0.
  ///   - body: gets the bytes and their layout, on the caller's thread. The span cannot leave the closure.
  /// - Returns: the result of `body`.
  /// - Throws: ``PipSinkError/Frame/noSuchPlane(index:count:)``, and ``PipSinkError/Frame/unreadable(reason:)`` when
  ///   the memory cannot be mapped.
  public func withPlane<Result>(
    _ index: Int, _ body: (RawSpan, PlaneLayout) -> Result
  ) throws(PipSinkError) -> Result {
    try withMappedFrame { frame throws(PipSinkError) in
      guard (0..<planeCount).contains(index) else { throw .frame(.noSuchPlane(index: index, count: planeCount)) }
      return frame.plane(index).withBytes(body)
    }
  }

  /// Maps the frame, calls `body`, and unmaps it.
  func withMappedFrame<Result: ~Copyable>(
    _ body: (MappedFrame) throws(PipSinkError) -> Result
  ) throws(PipSinkError) -> Result {
    try MappedFrame.withMapped(buffer, formatDescription: formatDescription, body)
  }

  /// Calls `body` with a GstSample that has the frame's buffer and caps, for code that passes the frame to a C library.
  ///
  /// - Parameter body: gets the sample, which is borrowed for the time of the call. To keep it, `body` must take a
  ///   reference (`gst_sample_ref`). It must not change the sample or its buffer.
  /// - Returns: the result of `body`.
  /// - Throws: what `body` throws.
  package func withUnsafeGstSample<Result, Failure: Error>(
    _ body: (OpaquePointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // Like all of GLib, gst_sample_new ends the program when there is no memory.
    let sample = gst_sample_new(buffer, formatDescription.caps, nil, nil)!
    defer { gst_sample_unref(sample) }
    return try body(sample)
  }
}
