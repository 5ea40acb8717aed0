import CGStreamer
import Glibc

/// One plane of a frame in memory of the app, which lends it until it is released
/// (``PixelBuffer/init(unsafeLending:_:release:)``) or during a call
/// (``StreamInput/push(copying:format:size:timing:orientation:colorimetry:pixelAspectRatio:)``).
public struct UnsafeLentPlane {
  /// The address of the first sample in the top row.
  package var address: UnsafeRawPointer
  /// The number of bytes from one row to the next; negative if rows are stored from the last to the first, which is
  /// possible only for planes that are copied.
  package var bytesPerRow: Int

  /// Makes a plane from the address of its first sample and the number of bytes from one row to the next.
  public init(address: UnsafeRawPointer, bytesPerRow: Int) {
    self.address = address
    self.bytesPerRow = bytesPerRow
  }

  /// - Returns: the number of bytes in a row of the plane with this index, without padding, and the number of rows.
  /// - Throws: ``PipSinkError/Frame/unreadable(reason:)`` when `stride` is less than that.
  fileprivate func rows(
    _ index: Int, of format: VideoFormatDescription, stride: Int
  ) throws(PipSinkError) -> (byteCount: Int, count: Int) {
    let (width, height) = format.pixelFormat.planeSize(index, of: format.size)
    let byteCount = format.pixelFormat.rowByteCount(index, width: Int(width))
    guard stride >= byteCount, gint(exactly: bytesPerRow) != nil else {
      throw .frame(.unreadable(reason: "plane \(index) has rows of \(bytesPerRow) bytes, but needs \(byteCount)"))
    }
    return (byteCount, Int(height))
  }
}

extension MutablePixelBuffer {
  /// Copies the planes of a frame of the same format.
  mutating func copy(_ planes: Span<UnsafeLentPlane>) throws(PipSinkError) {
    let format = formatDescription
    guard planes.count == planeCount else { throw .frame(.noSuchPlane(index: planes.count, count: planeCount)) }
    try withMappedFrame { frame throws(PipSinkError) in
      for index in planes.indices {
        let (source, target) = (planes[index], frame.plane(index))
        let (from, to) = (source.bytesPerRow, target.layout.bytesPerRow)
        let rows = try source.rows(index, of: format, stride: Int(clamping: from.magnitude))
        let start = UnsafeMutableRawPointer(mutating: target.data)
        // Rows that are as far apart as those of the pool are copied together, with what is between them, at less cost.
        let isWhole = from == to
        for row in 0..<(isWhole ? 1 : rows.count) {
          memcpy(start + row * to, source.address + row * from, isWhole ? target.byteCount : rows.byteCount)
        }
      }
    }
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
    let count = format.planeCount
    guard planes.count == count else { throw .frame(.noSuchPlane(index: planes.count, count: count)) }
    guard let buffer = gst_buffer_new() else { throw .frame(.outOfMemory(byteCount: 0)) }
    self.init(owning: buffer, formatDescription: format)
    var (offsets, strides): ([gsize], [gint]) = ([], [])
    var end = 0
    for (index, plane) in planes.enumerated() {
      let rows = try plane.rows(index, of: format, stride: plane.bytesPerRow)
      // GStreamer counts whole rows, but the padding of the last row may not be accessible.
      let byteCount = (rows.count - 1) * plane.bytesPerRow + rows.byteCount
      let memory = gst_memory_new_wrapped(
        GST_MEMORY_FLAG_READONLY, UnsafeMutableRawPointer(mutating: plane.address), gsize(byteCount), 0,
        gsize(byteCount), Unmanaged.passRetained(loan).toOpaque(),
        { loan in if let loan { Unmanaged<Loan>.fromOpaque(loan).release() } })
      gst_buffer_append_memory(buffer, memory)
      offsets.append(gsize(end))
      strides.append(gint(plane.bytesPerRow))
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
