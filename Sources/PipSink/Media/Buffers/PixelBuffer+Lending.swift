import CGStreamer

/// One plane of a frame in memory of the app (``PixelBuffer/init(unsafeLending:_:release:)``).
public struct UnsafeLentPlane {
  /// The address of the first sample in the first row.
  public var address: UnsafeRawPointer
  /// The number of bytes from one row to the next.
  public var bytesPerRow: Int

  /// Makes a plane from the address of its first sample and the number of bytes from one row to the next.
  public init(address: UnsafeRawPointer, bytesPerRow: Int) {
    self.address = address
    self.bytesPerRow = bytesPerRow
  }
}

extension PixelBuffer {
  /// Makes a frame in memory that the app lends, without copying it.
  ///
  /// - Parameters:
  ///   - planes: the planes of the format, in its order. Their memory must stay valid and unchanged until `release` is
  ///     called.
  ///   - format: the frame's format.
  ///   - release: is called once, on any thread, when the frame is no longer used. It is also called when this
  ///     initialiser throws.
  /// - Throws: ``PipSinkError/Frame/noSuchPlane(index:count:)`` for a wrong number of planes,
  ///   ``PipSinkError/Frame/unreadable(reason:)`` for rows that are too short, and
  ///   ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  public convenience init(
    unsafeLending planes: [UnsafeLentPlane], _ format: VideoFormatDescription, release: @escaping @Sendable () -> Void
  ) throws(PipSinkError) {
    let loan = Loan(release)
    guard planes.count == format.planeCount else {
      throw .frame(.noSuchPlane(index: planes.count, count: format.planeCount))
    }
    guard let buffer = gst_buffer_new() else { throw .frame(.outOfMemory(byteCount: 0)) }
    self.init(owning: buffer, formatDescription: format)
    var (offsets, strides): ([gsize], [gint]) = ([], [])
    var end = 0
    for (index, plane) in planes.enumerated() {
      let (width, height) = format.pixelFormat.planeSize(index, of: format.size)
      let rowByteCount = format.pixelFormat.rowByteCount(index, width: Int(width))
      guard plane.bytesPerRow >= rowByteCount, let stride = gint(exactly: plane.bytesPerRow) else {
        throw .frame(
          .unreadable(
            reason: "plane \(index) has rows of \(plane.bytesPerRow) bytes, but needs \(rowByteCount)"))
      }
      // GStreamer counts whole rows, but the padding of the last row may not be accessible.
      let byteCount = (Int(height) - 1) * plane.bytesPerRow + rowByteCount
      let memory = gst_memory_new_wrapped(
        GST_MEMORY_FLAG_READONLY, UnsafeMutableRawPointer(mutating: plane.address), gsize(byteCount), 0,
        gsize(byteCount), Unmanaged.passRetained(loan).toOpaque(),
        { loan in if let loan { Unmanaged<Loan>.fromOpaque(loan).release() } })
      gst_buffer_append_memory(buffer, memory)
      offsets.append(gsize(end))
      strides.append(stride)
      end += byteCount
    }
    gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, format.pixelFormat.gstFormat, guint(format.size.width),
      guint(format.size.height), guint(planes.count), &offsets, &strides)
  }

  /// Makes a frame from a sample of the app's own GStreamer pipeline, without copying it.
  ///
  /// - Parameter sample: a GstSample with raw video. It is borrowed; the frame holds a reference to its buffer.
  /// - Throws: ``PipSinkError/Frame/invalidCaps(_:)`` for caps that PipSink does not support, and
  ///   ``PipSinkError/Frame/unreadable(reason:)`` for a sample without a buffer.
  public convenience init(unsafeGstSample sample: OpaquePointer) throws(PipSinkError) {
    guard let caps = gst_sample_get_caps(sample) else { throw .frame(.invalidCaps("none")) }
    guard let buffer = gst_sample_get_buffer(sample) else {
      throw .frame(.unreadable(reason: "the sample has no buffer"))
    }
    let format = try VideoFormatDescription.shared(for: caps)
    self.init(owning: gst_buffer_ref(buffer), formatDescription: format)
  }

  /// Calls `release` when the last plane is no longer used.
  private final class Loan: Sendable {
    private let release: @Sendable () -> Void

    init(_ release: @escaping @Sendable () -> Void) {
      self.release = release
    }

    deinit {
      release()
    }
  }
}
