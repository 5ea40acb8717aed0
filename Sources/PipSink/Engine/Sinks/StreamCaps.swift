import CGStreamer

/// The caps that a stream's appsink accepts: the kind of pixels that its consumer prefers, if upstream can deliver it;
/// otherwise any format that PipSink supports; and frames in a GPU's memory only if upstream has no others.
///
/// The answer is computed for each query, since what upstream can deliver changes while the pipeline is being linked: a
/// decoder's pad is linked only when the decoder knows the stream.
///
/// `@unchecked Sendable`: the fields are constant after `init`, and shared caps are immutable.
final class StreamCaps: @unchecked Sendable {
  /// The alternatives, from the most to the least preferred.
  private let choices: [UnsafeMutablePointer<GstCaps>]

  /// - Parameters:
  ///   - appsink: its `caps` property restricts the choices.
  ///   - series: the kind of pixels that the consumer prefers.
  init(of appsink: UnsafeMutablePointer<GstElement>, series: FrameFormatSeries) {
    let allowed = appsink.withMemoryRebound(to: GstAppSink.self, capacity: 1) { gst_app_sink_get_caps($0) }
    defer { if let allowed { gst_caps_unref(allowed) } }
    choices = [series.capsString, PixelFormat.capsString(), DeviceMemory.capsString].compactMap { text in
      guard let caps = gst_caps_from_string(text) else { return nil }
      guard let allowed else { return caps }
      defer { gst_caps_unref(caps) }
      return gst_caps_intersect_full(allowed, caps, GST_CAPS_INTERSECT_FIRST)
    }
  }

  deinit {
    for caps in choices { gst_caps_unref(caps) }
  }

  /// All caps that a stream can have. The caller owns them.
  static var supported: UnsafeMutablePointer<GstCaps> {
    gst_caps_from_string("\(PixelFormat.capsString()); \(DeviceMemory.capsString)")
  }

  /// Answers a caps query on the appsink's pad.
  func answer(_ query: UnsafeMutablePointer<GstQuery>, on pad: UnsafeMutablePointer<GstPad>) {
    let offered = gst_pad_is_linked(pad) != 0 ? gst_pad_peer_query_caps(pad, nil) : nil
    defer { if let offered { gst_caps_unref(offered) } }
    var result = gst_caps_new_empty()
    for choice in choices where gst_caps_is_empty(choice) == 0 {
      if let offered {
        guard gst_caps_can_intersect(choice, offered) != 0 else { continue }
        gst_caps_unref(result)
        result = gst_caps_ref(choice)
        break
      }
      // Nothing is linked yet, so all choices are offered, the most preferred first.
      result = gst_caps_merge(result, gst_caps_ref(choice))
    }
    var filter: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_caps(query, &filter)
    if let filter {
      let filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST)
      gst_caps_unref(result)
      result = filtered
    }
    gst_query_set_caps_result(query, result)
    gst_caps_unref(result)
  }
}
