import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct PixelBufferTests {
  @Test(arguments: PixelFormat.allCases)
  func aFormatsNumberIsTheOneThatGStreamerHasForItsName(format: PixelFormat) throws {
    let name = try #require(gst_video_format_to_string(format.gstFormat))
    #expect(String(cString: name) == format.rawValue)
    #expect(PixelFormat(format.gstFormat) == format)
  }

  @Test func formatsThatAreNotTakenHaveNoName() {
    for format in [
      GST_VIDEO_FORMAT_UNKNOWN, GST_VIDEO_FORMAT_ENCODED, GST_VIDEO_FORMAT_AYUV, GST_VIDEO_FORMAT_GRAY16_LE,
    ] {
      #expect(PixelFormat(format) == nil)
    }
  }

  @Test func aFrameIsWrappedWithoutCopying() throws {
    let sample = try TestFrame.sample(TestFrame.testSource(.i420, 64, 48))
    var map = GstMapInfo()
    let buffer = gst_sample_get_buffer(sample)
    #expect(gst_buffer_map(buffer, &map, GST_MAP_READ) != 0)
    let address = UnsafeRawPointer(map.data)
    gst_buffer_unmap(buffer, &map)

    let pixelBuffer = try TestFrame.pixelBuffer(owning: sample)
    let planeAddress = try pixelBuffer.withPlane(0) { bytes, _ in
      bytes.withUnsafeBytes { UnsafeRawPointer($0.baseAddress) }
    }
    #expect(planeAddress == address)
  }

  @Test func theFrameOutlivesItsPipelineAndIsGivenBackOnce() async throws {
    let sample = try TestFrame.sample(TestFrame.testSource(.i420, 64, 48))
    let buffer = try #require(gst_sample_get_buffer(sample))
    gst_buffer_ref(buffer)
    defer { gst_buffer_unref(buffer) }
    var pixelBuffer: PixelBuffer? = try TestFrame.pixelBuffer(owning: sample)
    #expect(try pixelBuffer?.withPlane(0) { bytes, _ in bytes.byteCount } == 64 * 48)
    // The threads of the pipeline may keep its last buffer a moment longer than the pipeline exists.
    #expect(await eventually { buffer.pointee.mini_object.refcount == 2 })
    pixelBuffer = nil
    #expect(await eventually { buffer.pointee.mini_object.refcount == 1 })
  }

  @Test func equalCapsShareOneFormatDescription() throws {
    let first = try TestFrame.pixelBuffer(TestFrame.testSource(.nv12, 64, 48))
    let second = try TestFrame.pixelBuffer(TestFrame.testSource(.nv12, 64, 48))
    let other = try TestFrame.pixelBuffer(TestFrame.testSource(.nv12, 66, 48))
    #expect(first.formatDescription === second.formatDescription)
    #expect(first.formatDescription !== other.formatDescription)
  }

  @Test(arguments: PixelFormat.allCases, [(641, 361), (3, 5), (1, 1)])
  func planesCoverTheWholePictureOfEveryFormat(format: PixelFormat, size: (Int, Int)) throws {
    let pixelBuffer = try TestFrame.pixelBuffer(TestFrame.testSource(format, size.0, size.1))
    #expect(pixelBuffer.planeCount == format.planeCount)
    for index in 0..<pixelBuffer.planeCount {
      let expected = format.planeSize(index, of: pixelBuffer.size)
      try pixelBuffer.withPlane(index) { bytes, layout in
        #expect(layout.width == Int(expected.width))
        #expect(layout.height == Int(expected.height))
        let rowBytes = format.rowByteCount(index, width: layout.width)
        #expect(bytes.byteCount == layout.bytesPerRow * (layout.height - 1) + rowBytes)
      }
    }
  }

  @Test func stridesAndOffsetsComeFromTheVideoMeta() throws {
    let tight = try TestFrame.sample(TestFrame.testSource(.i420, 64, 48))
    let padded = try TestFrame.pixelBuffer(owning: TestFrame.padded(tight, padding: 24))
    let original = try TestFrame.pixelBuffer(owning: tight)
    for index in 0..<3 {
      let rows = { (bytes: RawSpan, layout: PixelBuffer.PlaneLayout) in
        (0..<layout.height).map { row in
          (0..<layout.width).map { bytes.unsafeLoad(fromByteOffset: row * layout.bytesPerRow + $0, as: UInt8.self) }
        }
      }
      #expect(try padded.withPlane(index) { $1.bytesPerRow } == original.withPlane(index) { $1.bytesPerRow } + 24)
      #expect(try padded.withPlane(index, rows) == original.withPlane(index, rows))
    }
  }

  @Test func aPlaneThatTheFormatDoesNotHaveIsATypedError() throws {
    let pixelBuffer = try TestFrame.pixelBuffer(TestFrame.testSource(.nv12, 64, 48))
    #expect(throws: PipSinkError.frame(.noSuchPlane(index: 2, count: 2))) { try pixelBuffer.withPlane(2) { _, _ in } }
    #expect(throws: PipSinkError.frame(.noSuchPlane(index: -1, count: 2))) { try pixelBuffer.withPlane(-1) { _, _ in } }
  }

  @Test func aBufferThatIsTooSmallForItsCapsIsATypedError() throws {
    try PipSink.initialize()
    let caps = try #require(gst_caps_from_string("video/x-raw,format=I420,width=640,height=480"))
    let buffer = gst_buffer_new_allocate(nil, 1000, nil)
    let sample = try #require(gst_sample_new(buffer, caps, nil, nil))
    gst_buffer_unref(buffer)
    gst_caps_unref(caps)
    let pixelBuffer = try TestFrame.pixelBuffer(owning: sample)
    #expect {
      try pixelBuffer.withPlane(0) { _, _ in }
    } throws: { error in
      guard case PipSinkError.frame(.unreadable) = error else { return false }
      return true
    }
  }

  @Test func aVideoMetaThatPointsBeyondTheMemoryIsATypedError() throws {
    let tight = try TestFrame.sample(TestFrame.testSource(.gray8, 64, 48))
    let caps = gst_sample_get_caps(tight)
    let buffer = try #require(gst_buffer_new_allocate(nil, 64 * 48, nil))
    var offsets: [gsize] = [0, 0, 0, 0]
    var strides: [gint] = [128, 0, 0, 0]
    gst_buffer_add_video_meta_full(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 64, 48, 1, &offsets, &strides)
    let lying = try #require(gst_sample_new(buffer, caps, nil, nil))
    gst_buffer_unref(buffer)
    gst_sample_unref(tight)
    let pixelBuffer = try TestFrame.pixelBuffer(owning: lying)
    #expect(throws: PipSinkError.self) { try pixelBuffer.withPlane(0) { _, _ in } }
  }

  @Test(arguments: [
    "audio/x-raw,format=S16LE,rate=48000,channels=2", "video/x-raw,format=NV12_64Z32,width=64,height=48",
    "video/x-raw(memory:DMABuf),format=DMA_DRM,width=64,height=48", "video/x-raw,format=I420,width=32768,height=2",
    "video/x-raw,format=I420,width=2,height=32768",
    "video/x-raw(format:Interlaced),format=I420,width=64,height=48,interlace-mode=alternate",
    "video/x-h264",
  ])
  func capsThatCannotBeShownAreATypedError(text: String) throws {
    try PipSink.initialize()
    let caps = try #require(gst_caps_from_string(text))
    defer { gst_caps_unref(caps) }
    #expect {
      try VideoFormatDescription.shared(for: caps)
    } throws: { error in
      guard case PipSinkError.frame(.invalidCaps) = error else { return false }
      return true
    }
  }

  @Test func aSampleWithoutTimesIsForImmediateDisplay() throws {
    let pixelBuffer = try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 16, 16))
    #expect(SampleBuffer(pixelBuffer: pixelBuffer).attachments.displayImmediately)
    #expect(!SampleBuffer(pixelBuffer: pixelBuffer).timing.presentationTimeStamp.isValid)
    let timed = SampleBuffer(
      pixelBuffer: pixelBuffer, timing: SampleTiming(presentationTimeStamp: MediaTime(value: 1, timescale: 30)))
    #expect(!timed.attachments.displayImmediately)
  }
}
