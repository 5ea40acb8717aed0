import CGStreamer

/// Reading pictures, for instance of a participant or a poster.
extension BGRAImage {
  /// Reads the picture in a file, or the first one of several, in any format for which GStreamer has a decoder: PNG and
  /// JPEG in all of its installations, and usually WebP and SVG. It is turned upright as the file says. The call returns
  /// when the picture is decoded, or fails after 5 seconds; on the main thread it delays what is drawn there.
  ///
  /// - Parameters:
  ///   - path: the path of a file of at most 16 MiB.
  ///   - limit: the largest size, in pixels. A larger picture is made smaller, with its shape kept.
  /// - Throws: ``PipSinkError/Frame/notRead(name:reason:)``, or
  ///   ``PipSinkError/System/gstreamerUnavailable(reason:)``.
  public init(
    contentsOf path: String, within limit: PictureSize = PictureSize(width: 1024, height: 1024)
  ) throws(PipSinkError) {
    guard let bytes = smallFile(at: path, limit: Self.longestFile) else {
      let reason = "it is not a file that can be read, or has more than \(Self.longestFile >> 20) MiB"
      throw .frame(.notRead(name: path, reason: reason))
    }
    self = try Self.decode(bytes, name: path, within: limit)
  }

  /// Reads the picture in the bytes of a file, as ``init(contentsOf:within:)`` does.
  ///
  /// - Parameters:
  ///   - file: the file's bytes, for instance of a PNG or JPEG file.
  ///   - limit: the largest size, in pixels. A larger picture is made smaller, with its shape kept.
  /// - Throws: ``PipSinkError/Frame/notRead(name:reason:)``, or
  ///   ``PipSinkError/System/gstreamerUnavailable(reason:)``.
  public init(
    file: [UInt8], within limit: PictureSize = PictureSize(width: 1024, height: 1024)
  ) throws(PipSinkError) {
    self = try Self.decode(file, name: "in memory", within: limit)
  }

  private static let longestFile = 16 << 20
  /// Pictures that are larger than this are not decoded, since their pixels need more than 256 MiB.
  private static let longestSide = 8192

  private static func decode(
    _ file: [UInt8], name: String, within limit: PictureSize
  ) throws(PipSinkError) -> BGRAImage {
    let refusal = { (reason: String) in PipSinkError.frame(.notRead(name: name, reason: reason)) }
    try PipSink.initialize()
    // Only pictures are decoded: playlists and films may name other files and servers.
    guard let type = gst_type_find_helper_for_data(nil, file, gsize(file.count), nil) else {
      throw refusal("its format is not known")
    }
    defer { gst_caps_unref(type) }
    guard let kind = gst_structure_get_name(gst_caps_get_structure(type, 0)).map({ String(cString: $0) }),
      kind.hasPrefix("image/")
    else { throw refusal("it is of another kind (\(String(taking: gst_caps_to_string(type)) ?? "unknown"))") }
    // It knows how the picture has to be turned. Not every version of decodebin uses it.
    let parser = kind == "image/jpeg" && ElementInspection.exists("jpegparse") ? "jpegparse !" : ""
    let side = "[ 1, \(longestSide) ]"
    let pipeline = try PipelineParser.parse(
      .text(
        """
        appsrc name=file ! \(parser) decodebin force-sw-decoders=true ! video/x-raw,width=\(side),height=\(side) \
        ! videoflip video-direction=auto ! videoconvert ! videoscale ! appsink name=picture sync=false \
        caps="video/x-raw, format=BGRA, pixel-aspect-ratio=1/1, \
        width=[ 1, \(max(1, limit.width)) ], height=[ 1, \(max(1, limit.height)) ]"
        """))
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(pipeline)
    }
    guard let source = gst_bin_get_by_name(pipeline.asBin, "file"),
      let sink = gst_bin_get_by_name(pipeline.asBin, "picture")
    else { throw refusal("no pipeline can be made") }
    defer {
      gst_object_unref(source)
      gst_object_unref(sink)
    }
    gst_element_set_state(pipeline, GST_STATE_PAUSED)
    source.withMemoryRebound(to: GstAppSrc.self, capacity: 1) { source in
      gst_app_src_set_caps(source, type)
      let bytes = file.withUnsafeBytes { gst_buffer_new_memdup($0.baseAddress, gsize($0.count)) }
      _ = gst_app_src_push_buffer(source, bytes)
      _ = gst_app_src_end_of_stream(source)
    }
    if let reason = failure(of: pipeline, within: .seconds(5)) { throw refusal(reason) }
    let sample = sink.withMemoryRebound(to: GstAppSink.self, capacity: 1) { gst_app_sink_try_pull_preroll($0, 0) }
    guard let sample else { throw refusal("it has no picture") }
    defer { gst_sample_unref(sample) }
    guard let buffer = gst_sample_get_buffer(sample), let caps = gst_sample_get_caps(sample) else {
      throw refusal("the decoder gave no picture")
    }
    let format = try VideoFormatDescription.shared(for: caps)
    return try MappedFrame.withMapped(buffer, formatDescription: format) { frame in
      let plane = frame.plane(0)
      return BGRAImage(size: frame.visible.size, copying: plane.data, stride: plane.stride)
    }
  }

  /// Waits until a pipeline has its first picture.
  ///
  /// - Returns: why it has none; nil when it has one, or its stream has ended without.
  private static func failure(of pipeline: GstElementPointer, within time: Duration) -> String? {
    guard let bus = gst_element_get_bus(pipeline) else { return "no pipeline can be made" }
    defer { gst_object_unref(bus) }
    let deadline = MonotonicTime.now.advanced(by: time)
    let types = GstMessageType(
      rawValue: GST_MESSAGE_ERROR.rawValue | GST_MESSAGE_ASYNC_DONE.rawValue | GST_MESSAGE_ELEMENT.rawValue)
    var missing: String?
    while true {
      let left = GstClockTime(clamping: deadline.nanoseconds(since: .now))
      guard let message = gst_bus_timed_pop_filtered(bus, left, types) else { return "no picture came within \(time)" }
      defer { gst_message_unref(message) }
      switch message.pointee.type {
      case GST_MESSAGE_ASYNC_DONE: return nil
      case GST_MESSAGE_ERROR:
        if let missing { return "GStreamer has no decoder for it (\(missing))" }
        let error = BusMessage.error(in: message, readsFiles: true)
        guard case .pipeline(.elementFailed(_, let text, let detail, _)) = error else { return "it cannot be decoded" }
        return detail.map { "\(text) (\($0))" } ?? text
      default: missing = BusMessage.missingPlugin(in: message) ?? missing
      }
    }
  }
}
