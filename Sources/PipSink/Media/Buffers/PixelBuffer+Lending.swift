import CGStreamer

/// One plane of a frame in an app's own memory.
public struct UnsafeLentPlane {
  /// Of the first row's first sample.
  public var address: UnsafeRawPointer
  public var bytesPerRow: Int

  public init(address: UnsafeRawPointer, bytesPerRow: Int) {
    self.address = address
    self.bytesPerRow = bytesPerRow
  }
}

extension PixelBuffer {
  /// A frame in memory that the app lends: nothing is copied.
  ///
  /// - Parameters:
  ///   - planes: as many as the format has, without padding before the first sample. The memory must stay as it is
  ///     until `release` is called.
  ///   - release: called once, on any thread, when nobody uses the frame any more; also when this throws.
  /// - Throws: ``PipSinkError/Frame/noSuchPlane(index:count:)`` for a wrong number of planes,
  ///   ``PipSinkError/Frame/unreadable(reason:)`` for rows that are too short,
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
            reason: "plane \(index) has rows of \(plane.bytesPerRow) bytes, and needs \(rowByteCount)"))
      }
      // Whole rows, as GStreamer counts them; of the last one the padding is not touched.
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

  /// A frame of an app's own GStreamer pipeline.
  ///
  /// - Parameter sample: a GstSample with raw video; it is borrowed, and a reference taken.
  /// - Throws: ``PipSinkError/Frame/invalidCaps(_:)``, ``PipSinkError/Frame/unreadable(reason:)``.
  public convenience init(unsafeGstSample sample: OpaquePointer) throws(PipSinkError) {
    guard let caps = gst_sample_get_caps(sample) else { throw .frame(.invalidCaps("none")) }
    guard let buffer = gst_sample_get_buffer(sample) else {
      throw .frame(.unreadable(reason: "the sample has no buffer"))
    }
    let format = try VideoFormatDescription.shared(for: caps)
    self.init(owning: gst_buffer_ref(buffer), formatDescription: format)
  }

  /// Lives as long as a plane is used.
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
