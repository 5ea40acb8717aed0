import CGStreamer

/// What a stream's appsink says it takes: the kind of pixels that its consumer would like, if upstream can deliver
/// that; else any that PipSink knows; and frames in a GPU's memory only where upstream has no others.
///
/// The answer is worked out anew for each query, since what upstream can deliver changes while a pipeline is put
/// together: a decoder's pad is linked when the stream is known.
///
/// `@unchecked Sendable`: constant after `init`; caps that are shared are immutable.
final class StreamCaps: @unchecked Sendable {
  /// From the most to the least wanted.
  private let choices: [UnsafeMutablePointer<GstCaps>]

  /// - Parameter appsink: its `caps` property bounds the choices.
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

  /// Everything that a stream can have. The caller owns it.
  static var supported: UnsafeMutablePointer<GstCaps> {
    gst_caps_from_string("\(PixelFormat.capsString()); \(DeviceMemory.capsString)")
  }

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
      // Nobody is there yet: all is possible, the most wanted first.
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
