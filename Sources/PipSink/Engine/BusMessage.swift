import CGStreamer

/// What the engine reads from a bus message. The message is borrowed.
enum BusMessage {
  /// The error, as ours, of an error message.
  static func error(in message: UnsafeMutablePointer<GstMessage>) -> PipSinkError {
    let parts = parts(of: message, gst_message_parse_error)
    return .elementFailed(element: parts.element, message: parts.text, detail: parts.detail)
  }

  static func warning(in message: UnsafeMutablePointer<GstMessage>) -> EngineEvent {
    let parts = parts(of: message, gst_message_parse_warning)
    return .warning(element: parts.element, message: parts.text, detail: parts.detail)
  }

  /// Whether a source says that it has added all its pads, while a link of the description waits for another.
  static func isDelayedLinkFailure(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    warningCode(of: message, domain: gst_parse_error_quark()) == GST_PARSE_ERROR_DELAYED_LINK.rawValue
  }

  /// Whether a warning is about something outside of the program, such as a device or a server.
  static func isAboutResource(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    warningCode(of: message, domain: gst_resource_error_quark()) != nil
  }

  private static func warningCode(of message: UnsafeMutablePointer<GstMessage>, domain: GQuark) -> UInt32? {
    var error: UnsafeMutablePointer<GError>?
    gst_message_parse_warning(message, &error, nil)
    defer { g_clear_error(&error) }
    return error.flatMap { $0.pointee.domain == domain ? UInt32(bitPattern: $0.pointee.code) : nil }
  }

  /// What a decodebin says it needs and has not got, "H.264 (High Profile) decoder" for instance.
  static func missingPlugin(in message: UnsafeMutablePointer<GstMessage>) -> String? {
    guard gst_is_missing_plugin_message(message) != 0,
      let text = gst_missing_plugin_message_get_description(message)
    else { return nil }
    defer { g_free(text) }
    return String(cString: text)
  }

  private static let streamEndedName = "pipsink-stream-ended"

  /// What a stream's sink posts at its end: by way of the bus, so that an error that was posted before is heard before.
  /// GStreamer itself posts an end for the pipeline only, after the last stream's.
  static func postStreamEnd(of sink: GstElementPointer) {
    gst_element_post_message(
      sink, gst_message_new_application(sink.asObject, gst_structure_new_empty(streamEndedName)))
  }

  static func isStreamEnd(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    gst_message_has_name(message, streamEndedName) != 0
  }

  private static let refusalName = "pipsink-stream-refused"

  /// What a stream's sink posts when it cannot take what it gets.
  static func postRefusal(of sink: GstElementPointer) {
    gst_element_post_message(
      sink, gst_message_new_application(sink.asObject, gst_structure_new_empty(refusalName)))
  }

  static func isRefusal(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    gst_message_has_name(message, refusalName) != 0
  }

  private typealias Parser = (
    UnsafeMutablePointer<GstMessage>?, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?,
    UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
  ) -> Void

  private static func parts(
    of message: UnsafeMutablePointer<GstMessage>, _ parse: Parser
  ) -> (element: String, text: String, detail: String?) {
    var error: UnsafeMutablePointer<GError>?
    var debug: UnsafeMutablePointer<gchar>?
    parse(message, &error, &debug)
    defer {
      g_clear_error(&error)
      g_free(debug)
    }
    return (
      message.pointee.src?.objectName ?? "pipeline",
      error.map { String(cString: $0.pointee.message) } ?? "no message",
      debug.flatMap { shortDebug(String(cString: $0)) }
    )
  }

  /// GStreamer's debug text is "file(line): function (): /path/of/element:", then often a line for people, which is
  /// what counts.
  private static func shortDebug(_ debug: String) -> String? {
    let lines = debug.split(separator: "\n").dropFirst()
    return lines.isEmpty ? nil : lines.joined(separator: " ")
  }
}
