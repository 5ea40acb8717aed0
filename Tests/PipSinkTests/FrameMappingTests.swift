import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// Which part of a buffer's memory contains the pixels of a frame.
@Suite struct FrameMappingTests {
  /// Makes a frame. `change` modifies the frame's buffer before the frame is used.
  private func frame(
    _ format: PixelFormat, _ size: PictureSize, byteCount: Int? = nil,
    _ change: (UnsafeMutablePointer<GstBuffer>) throws -> Void
  ) throws -> PixelBuffer {
    let description = try VideoFormatDescription.make(format, size: size, frameRate: (30, 1))
    let buffer = try #require(gst_buffer_new_allocate(nil, gsize(byteCount ?? Int(description.info.size)), nil))
    defer { gst_buffer_unref(buffer) }
    gst_buffer_memset(buffer, 0, 0, gsize.max)
    try change(buffer)
    return try TestFrame.pixelBuffer(owning: #require(gst_sample_new(buffer, description.caps, nil, nil)))
  }

  private func addMeta(
    _ format: PixelFormat, _ size: PictureSize, offsets: [Int], strides: [Int],
    to buffer: UnsafeMutablePointer<GstBuffer>
  ) {
    var offsets = (offsets + [0, 0, 0, 0]).prefix(4).map { gsize($0) }
    var strides = (strides + [0, 0, 0, 0]).prefix(4).map { gint($0) }
    gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, format.gstFormat, guint(size.width), guint(size.height),
      guint(format.planeCount), &offsets, &strides)
  }

  private func visible(_ frame: PixelBuffer) throws -> PictureRect { try frame.withMappedFrame { $0.visible } }

  @Test(arguments: [
    (PixelFormat.i420, (7, 5, 20, 10), (6, 4, 20, 10)), (.i422, (7, 5, 20, 10), (6, 5, 20, 10)),
    (.y444, (7, 5, 20, 10), (7, 5, 20, 10)), (.bgra, (7, 5, 20, 10), (7, 5, 20, 10)),
    (.nv12, (60, 40, 100, 100), (60, 40, 4, 8)), (.i420, (100, 100, 5, 5), (62, 46, 2, 2)),
    (.gray8, (63, 47, 5, 5), (63, 47, 1, 1)), (.gray8, (10, 10, 0, 0), (10, 10, 1, 1)),
  ])
  func aCropIsCutToTheFrameAndBeginsAtAChromaSample(
    format: PixelFormat, crop: (Int, Int, Int, Int), expected: (Int, Int, Int, Int)
  ) throws {
    let frame = try frame(format, PictureSize(width: 64, height: 48)) { buffer in
      let meta = try #require(gst_buffer_add_meta(buffer, gst_video_crop_meta_get_info(), nil))
      let cropMeta = UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self)
      (cropMeta.pointee.x, cropMeta.pointee.y) = (guint(crop.0), guint(crop.1))
      (cropMeta.pointee.width, cropMeta.pointee.height) = (guint(crop.2), guint(crop.3))
    }
    let rect = PictureRect(x: expected.0, y: expected.1, width: expected.2, height: expected.3)
    #expect(try visible(frame) == rect)
  }

  @Test func theVisiblePartDecidesTheShape() throws {
    let shared = try frame(.bgrx, PictureSize(width: 640, height: 240)) { buffer in
      let meta = try #require(gst_buffer_add_meta(buffer, gst_video_crop_meta_get_info(), nil))
      let crop = UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self)
      (crop.pointee.x, crop.pointee.y, crop.pointee.width, crop.pointee.height) = (100, 0, 240, 120)
    }
    var sample = SampleBuffer(pixelBuffer: shared)
    #expect(shared.visibleRect == (try visible(shared)))
    #expect(sample.displayAspectRatio == 2)
    sample.orientation = VideoOrientation(rotation: .quarter)
    #expect(sample.displaySize == (120, 240))
    let surface = PictureSize(width: 240, height: 120)
    let pixel = VideoGravity.resizeAspect.pixel(
      at: (10, 20), of: surface, in: shared.formatDescription, visible: shared.visibleRect, orientation: .upright)
    #expect(pixel == (110, 20))
  }

  @Test(arguments: PixelFormat.allCases)
  func rowsMayBeStoredFromTheLastToTheFirst(_ format: PixelFormat) throws {
    let source = TestFrame.testSource(format, 62, 46, pattern: "smpte75")
    let plain = try TestFrame.pixelBuffer(source)
    let reversed = try frame(format, plain.size, byteCount: 62 * 46 * 8) { buffer in
      var (offsets, strides, end): ([Int], [Int], Int) = ([], [], 0)
      try plain.withMappedFrame { frame in
        for index in 0..<format.planeCount {
          let plane = frame.plane(index)
          let rowByteCount = format.rowByteCount(index, width: plane.layout.width)
          offsets.append(end + rowByteCount * (plane.layout.height - 1))
          strides.append(-rowByteCount)
          for row in (0..<plane.layout.height).reversed() {
            gst_buffer_fill(buffer, gsize(end), plane.data + row * plane.stride, gsize(rowByteCount))
            end += rowByteCount
          }
        }
      }
      addMeta(format, plain.size, offsets: offsets, strides: strides, to: buffer)
    }
    for index in 0..<format.planeCount {
      let rows = try [plain, reversed].map { frame in
        try frame.withPlane(index) { bytes, layout in
          let count = format.rowByteCount(index, width: layout.width)
          return (0..<layout.height).flatMap { row in
            (0..<count).map { bytes.unsafeLoad(fromByteOffset: row * layout.bytesPerRow + $0, as: UInt8.self) }
          }
        }
      }
      #expect(rows[0] == rows[1])
    }
    let shown = try [plain, reversed].map { try rendered(SampleBuffer(pixelBuffer: $0), size: plain.size).bytes }
    #expect(shown[0] == shown[1])
    let gray = try [plain, reversed].map { frame in
      let result = try #require(try GrayscaleProcessor().process(SampleBuffer(pixelBuffer: frame)))
      return try rendered(result, size: plain.size).bytes
    }
    #expect(gray[0] == gray[1])
  }

  @Test func whereTheMetasFrameIsLargerTheCapsSayWhatIsSeen() throws {
    let frame = try frame(.gray8, PictureSize(width: 60, height: 40), byteCount: 64 * 48) { buffer in
      addMeta(.gray8, PictureSize(width: 64, height: 48), offsets: [0], strides: [64], to: buffer)
    }
    #expect(try visible(frame) == PictureRect(x: 0, y: 0, width: 60, height: 40))
    #expect(try frame.withPlane(0) { ($1.width, $1.height) } == (60, 40))
  }

  /// The second plane starts within the memory and ends at its end, or one byte after it.
  @Test(arguments: [(0, true), (1, false)])
  func aPlaneMayEndWithTheMemoryAndNotBehindIt(missing: Int, isReadable: Bool) throws {
    let frame = try frame(.nv12, PictureSize(width: 16, height: 16), byteCount: 16 * 24 - missing) { buffer in
      addMeta(.nv12, PictureSize(width: 16, height: 16), offsets: [0, 256], strides: [16, 16], to: buffer)
    }
    if isReadable {
      #expect(try frame.withPlane(1) { bytes, _ in bytes.byteCount } == 128)
    } else {
      #expect(throws: PipSinkError.self) { try frame.withPlane(1) { _, _ in } }
    }
  }
}
