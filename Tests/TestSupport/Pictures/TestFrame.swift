import CGStreamer
import Testing

@testable import PipSink

/// Makes frames with the format and padding that a test needs.
enum TestFrame {
  /// Makes a pipeline that exists while `body` runs.
  @discardableResult
  static func withPipeline<Result>(
    _ description: String, _ body: (UnsafeMutablePointer<GstElement>) throws -> Result
  ) throws -> Result {
    try PipSink.initialize()
    let pipeline = try #require(gst_parse_launch(description, nil))
    gst_object_ref_sink(pipeline)
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(pipeline)
    }
    return try body(pipeline)
  }

  /// Returns the first frame of a source, whose description must end in one buffer: "videotestsrc pattern=ball ! CAPS".
  static func sample(_ source: String) throws -> OpaquePointer {
    try withPipeline("\(source) ! appsink name=sink sync=false enable-last-sample=false") { pipeline in
      let sink = try #require(gst_bin_get_by_name(pipeline.asBin, "sink"))
      defer { gst_object_unref(sink) }
      gst_element_set_state(pipeline, GST_STATE_PLAYING)
      let appsink = UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstAppSink.self)
      return try #require(gst_app_sink_try_pull_sample(appsink, 20 * 1_000_000_000), "no frame from \(source)")
    }
  }

  /// Runs a pipeline to its end.
  static func run(_ description: String) throws {
    try withPipeline(description) { try run($0) }
  }

  /// - Returns: the types of the wanted messages. The last one is the type of the message that ended the run.
  @discardableResult
  static func run(
    _ pipeline: UnsafeMutablePointer<GstElement>, wanting wanted: GstMessageType = GST_MESSAGE_EOS
  ) throws -> [GstMessageType] {
    let bus = gst_element_get_bus(pipeline)
    defer { gst_object_unref(bus) }
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let types = GstMessageType(wanted.rawValue | GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    var seen: [GstMessageType] = []
    while seen.last != GST_MESSAGE_EOS, seen.last != GST_MESSAGE_ERROR {
      let message = try #require(gst_bus_timed_pop_filtered(bus, 60 * 1_000_000_000, types))
      seen.append(message.pointee.type)
      gst_message_unref(message)
    }
    #expect(seen.last == GST_MESSAGE_EOS)
    return seen
  }

  static func pixelBuffer(_ source: String) throws -> PixelBuffer {
    try pixelBuffer(owning: sample(source))
  }

  static func pixelBuffer(owning sample: OpaquePointer) throws -> PixelBuffer {
    defer { gst_sample_unref(sample) }
    return try PixelBuffer(unsafeGstSample: sample)
  }

  static func sampleBuffer(_ source: String) throws -> SampleBuffer {
    SampleBuffer(pixelBuffer: try pixelBuffer(source))
  }

  /// Describes a source of one of videotestsrc's test pictures.
  static func testSource(
    _ format: PixelFormat, _ width: Int, _ height: Int, pattern: String = "smpte", colorimetry: String? = nil,
    pixelAspectRatio: String = "1/1"
  ) -> String {
    let color = colorimetry.map { ",colorimetry=\($0)" } ?? ""
    return "videotestsrc num-buffers=1 pattern=\(pattern) ! video/x-raw,format=\(format.rawValue),width=\(width),"
      + "height=\(height),framerate=30/1,pixel-aspect-ratio=\(pixelAspectRatio)\(color)"
  }

  /// Describes a source of a picture without hard edges, like those of cameras. It shows enlarged colour bars.
  static func smoothSource(_ format: PixelFormat, _ width: Int, _ height: Int, colorimetry: String? = nil) -> String {
    let color = colorimetry.map { ",colorimetry=\($0)" } ?? ""
    return
      "videotestsrc num-buffers=1 pattern=smpte100 ! video/x-raw,format=AYUV,width=16,height=9,framerate=30/1\(color)"
      + " ! videoscale add-borders=false ! video/x-raw,width=\(width),height=\(height),pixel-aspect-ratio=1/1"
      + " ! videoconvert ! video/x-raw,format=\(format.rawValue)\(color)"
  }

  /// Describes a source of a picture that is as irregular as nature and has no hard edges. It shows enlarged noise.
  static func naturalSource(_ format: PixelFormat, _ width: Int, _ height: Int) -> String {
    "videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=GRAY8,width=\(max(2, width / 24)),"
      + "height=\(max(2, height / 24)),framerate=30/1 ! videoconvert"
      + " ! video/x-raw,format=AYUV ! videoscale method=lanczos add-borders=false"
      + " ! video/x-raw,width=\(width),height=\(height),pixel-aspect-ratio=1/1"
      + " ! videobalance hue=0.5 saturation=1.5 ! videoconvert ! video/x-raw,format=\(format.rawValue)"
  }

  private static let kept = Locked<[String: PixelBuffer]>([:])

  /// Returns the same frame as ``pixelBuffer(_:)``, but makes it only once per process. The frame is a copy, because
  /// the source's own frame keeps its pool, which has two open files.
  static func keptPixelBuffer(_ source: String) throws -> PixelBuffer {
    if let kept = kept.withLock({ $0[source] }) { return kept }
    let made = try sample(source)
    defer { gst_sample_unref(made) }
    let copy = try #require(gst_buffer_copy_deep(gst_sample_get_buffer(made)))
    defer { gst_buffer_unref(copy) }
    let new = try pixelBuffer(owning: #require(gst_sample_new(copy, gst_sample_get_caps(made), nil, nil)))
    kept.withLock { $0[source] = new }
    return new
  }

  /// Makes a rectangle that is shown over a frame, as subtitles are. It has bands of colour. It is half transparent at
  /// the left and becomes opaque in steps towards the right.
  static func overlay(_ size: PictureSize, at place: PictureRect) throws -> OpaquePointer {
    var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
    for y in 0..<size.height {
      for x in 0..<size.width {
        let alpha = 128 + (x / 8 * 8) * 127 / size.width
        let color = [30, 200 * (y / 8) % 256, 220, 255]
        for part in 0..<4 { pixels[(y * size.width + x) * 4 + part] = UInt8(color[part] * alpha / 255) }
      }
    }
    let buffer = try #require(gst_buffer_new_allocate(nil, gsize(pixels.count), nil))
    defer { gst_buffer_unref(buffer) }
    gst_buffer_fill(buffer, 0, pixels, gsize(pixels.count))
    gst_buffer_add_video_meta(
      buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_BGRA, guint(size.width), guint(size.height))
    return try #require(
      gst_video_overlay_rectangle_new_raw(
        buffer, gint(place.x), gint(place.y), guint(place.width), guint(place.height),
        GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA))
  }

  /// Returns the same picture with padded rows as a pixel buffer.
  static func padded(_ pixelBuffer: PixelBuffer, padding: Int) throws -> PixelBuffer {
    try pixelBuffer.withUnsafeGstSample { try TestFrame.pixelBuffer(owning: padded($0, padding: padding)) }
  }

  /// Returns the same picture with `padding` additional bytes in every row and before every plane. A GstVideoMeta
  /// describes the layout, and the padding has a value that would be visible.
  static func padded(_ sample: OpaquePointer, padding: Int) throws -> OpaquePointer {
    let caps = try #require(gst_sample_get_caps(sample))
    var info = GstVideoInfo()
    #expect(gst_video_info_from_caps(&info, caps) != 0)
    var paddedInfo = info
    var offset = padding
    let planes = Int(info.finfo.pointee.n_planes)
    withUnsafeMutableBytes(of: &paddedInfo.stride) { strides in
      withUnsafeMutableBytes(of: &paddedInfo.offset) { offsets in
        for plane in 0..<planes {
          let stride = strides.load(fromByteOffset: plane * 4, as: gint.self) + gint(padding)
          strides.storeBytes(of: stride, toByteOffset: plane * 4, as: gint.self)
          offsets.storeBytes(of: gsize(offset), toByteOffset: plane * 8, as: gsize.self)
          let rows = plane == 0 ? info.height : (info.height + 1) / gint(info.finfo.pointee.h_sub.1 == 1 ? 2 : 1)
          offset += Int(stride) * Int(rows + 1) + padding
        }
      }
    }
    paddedInfo.size = gsize(offset)
    let buffer = try #require(gst_buffer_new_allocate(nil, gsize(offset), nil))
    gst_buffer_memset(buffer, 0, 0xA5, gsize(offset))
    withUnsafeMutableBytes(of: &paddedInfo.offset) { offsets in
      withUnsafeMutableBytes(of: &paddedInfo.stride) { strides in
        _ = gst_buffer_add_video_meta_full(
          buffer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo.pointee.format, guint(info.width), guint(info.height),
          guint(planes), offsets.assumingMemoryBound(to: gsize.self).baseAddress,
          strides.assumingMemoryBound(to: gint.self).baseAddress)
      }
    }
    // gst_video_frame_copy is not used here, because it leaves out the end of an odd row of packed 4:2:2.
    let description = try VideoFormatDescription.shared(for: caps)
    try MappedFrame.withMapped(gst_sample_get_buffer(sample), formatDescription: description) {
      source throws(PipSinkError) in
      try MappedFrame.withMapped(buffer, formatDescription: description, isWritable: true) {
        target throws(PipSinkError) in
        Picture(source).copy(into: Picture(target))
      }
    }
    defer { gst_buffer_unref(buffer) }
    return try #require(gst_sample_new(buffer, caps, nil, nil))
  }
}
