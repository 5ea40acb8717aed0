import CGStreamer

/// The appsinks of a pipeline that take text: what they get is shown, at its time, as captions over the stream that they
/// belong to.
enum CaptionSink {
  private static let caps = "text/x-raw"
  private static let note = "pipsink-caption"
  /// What follows in a longer text is not shown.
  private static let longestText = 4096

  /// Whether an element is an appsink whose property `caps` has formats of text, and no others.
  static func isOne(_ element: GstElementPointer) -> Bool {
    guard element.isA(gst_app_sink_get_type()), let caps = gst_app_sink_get_caps(appsink(element)) else { return false }
    defer { gst_caps_unref(caps) }
    let count = gst_caps_get_size(caps)
    return gst_caps_is_any(caps) == 0 && count > 0
      && (0..<count).allSatisfy { gst_structure_has_name(gst_caps_get_structure(caps, $0), Self.caps) != 0 }
  }

  /// Has an appsink post its texts on the bus of its pipeline. The pipeline has not been started.
  static func prepare(_ element: GstElementPointer) {
    // The first text may come long after the first picture, which does not wait for it.
    let object = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
    gst_util_set_object_arg(object, "async", "false")
    var callbacks = GstAppSinkCallbacks()
    callbacks.new_sample = { sink, _ in
      guard let sink, let sample = gst_app_sink_pull_sample(sink) else { return GST_FLOW_OK }
      defer { gst_sample_unref(sample) }
      CaptionSink.post(sample, from: UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstElement.self))
      return GST_FLOW_OK
    }
    gst_app_sink_set_callbacks(appsink(element), &callbacks, nil, nil)
  }

  /// The text of a message of such an appsink, and for how long it is shown; nil for every other message.
  static func caption(
    in message: UnsafeMutablePointer<GstMessage>
  ) -> (element: GstElementPointer, text: String, duration: Duration?)? {
    guard gst_message_has_name(message, note) != 0, let source = message.pointee.src,
      let structure = gst_message_get_structure(message), let text = gst_structure_get_string(structure, "text")
    else { return nil }
    var duration = guint64.max
    gst_structure_get_uint64(structure, "duration", &duration)
    return (
      UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstElement.self), String(cString: text),
      duration == .max ? nil : .nanoseconds(Int64(clamping: duration))
    )
  }

  private static func appsink(_ element: GstElementPointer) -> UnsafeMutablePointer<GstAppSink> {
    UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstAppSink.self)
  }

  private static func post(_ sample: OpaquePointer, from element: GstElementPointer) {
    guard let buffer = gst_sample_get_buffer(sample) else { return }
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return }
    let bytes = UnsafeRawBufferPointer(start: map.data, count: min(Int(map.size), longestText))
    let raw = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    gst_buffer_unmap(buffer, &map)
    let format = gst_sample_get_caps(sample).flatMap {
      gst_structure_get_string(gst_caps_get_structure($0, 0), "format").map { String(cString: $0) }
    }
    let text = (format == "pango-markup" ? plainText(ofMarkup: raw) : raw).trimmingLineEnds
    let structure = gst_structure_new_empty(note)
    var (textValue, durationValue) = (GValue(), GValue())
    g_value_init(&textValue, PIPSINK_TYPE_STRING)
    g_value_set_string(&textValue, text)
    gst_structure_set_value(structure, "text", &textValue)
    g_value_unset(&textValue)
    g_value_init(&durationValue, PIPSINK_TYPE_UINT64)
    g_value_set_uint64(&durationValue, buffer.pointee.duration)
    gst_structure_set_value(structure, "duration", &durationValue)
    gst_element_post_message(element, gst_message_new_application(element.asObject, structure))
  }

  /// The text of Pango's markup without its tags: `<i>a &amp; b</i>` is `a & b`.
  static func plainText(ofMarkup markup: String) -> String {
    let entities = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
    var (result, rest) = ("", markup[...])
    while let start = rest.firstIndex(where: { $0 == "<" || $0 == "&" }) {
      result += rest[..<start]
      rest = rest[start...]
      if rest.first == "<" {
        guard let end = rest.firstIndex(of: ">") else { break }
        rest = rest[rest.index(after: end)...]
        continue
      }
      // No reference is longer. An ampersand without one stands for itself.
      let end = rest.prefix(10).firstIndex(of: ";")
      let word = end.map { rest[rest.index(after: start)..<$0] } ?? ""
      let character = entities[String(word)] ?? Unicode.Scalar(ofReference: word).map { String($0) }
      result += character ?? "&"
      rest = end.flatMap { character == nil ? nil : rest[rest.index(after: $0)...] } ?? rest.dropFirst()
    }
    return result + rest
  }
}

extension Unicode.Scalar {
  /// - Parameter reference: what stands between `&` and `;`, such as `#39` or `#x27`.
  fileprivate init?(ofReference reference: Substring) {
    guard reference.first == "#" else { return nil }
    let digits = reference.dropFirst()
    let value = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
    guard let value, value > 0, let scalar = Self(value) else { return nil }
    self = scalar
  }
}

extension String {
  /// The text without line ends at its beginning and its end.
  fileprivate var trimmingLineEnds: String {
    let rest = drop { $0.isNewline }
    return String(rest.reversed().drop { $0.isNewline }.reversed())
  }
}
