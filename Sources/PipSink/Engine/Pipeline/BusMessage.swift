import CGStreamer

/// Reads what the engine needs from messages on a bus. All messages are borrowed.
package enum BusMessage {
  /// The error in an error message.
  ///
  /// - Parameters:
  ///   - message: an error message.
  ///   - readsFiles: whether the pipeline reads only files, whose contents are the same at the next start.
  package static func error(in message: UnsafeMutablePointer<GstMessage>, readsFiles: Bool) -> PipSinkError {
    let parts = parts(of: message, gst_message_parse_error)
    return .pipeline(
      .elementFailed(
        element: parts.element, message: parts.text, detail: detail(of: parts, message.pointee.src),
        kind: failureKind(parts, ofFilePipeline: readsFiles, source: message.pointee.src)))
  }

  /// The details of an error, with the address of the source unless the message contains that.
  private static func detail(of parts: Parts, _ source: UnsafeMutablePointer<GstObject>?) -> String? {
    guard let source, gobjectIsA(source, gst_uri_handler_get_type()),
      let uri = String(taking: gst_uri_handler_get_uri(OpaquePointer(source))), let address = Address(uri),
      !parts.text.contains(address.host), parts.detail?.contains(address.host) != true
    else { return parts.detail }
    return parts.detail.map { "\(address.text): \($0)" } ?? address.text
  }

  /// The address of a source that is not a local file, without user names, passwords and tokens, so that it may be
  /// printed.
  package struct Address: Equatable {
    package let text: String
    let host: String

    package init?(_ uri: String) {
      guard let parsed = gst_uri_from_string(uri) else { return nil }
      defer { gst_mini_object_unref(UnsafeMutablePointer(parsed)) }
      guard let host = gst_uri_get_host(parsed).map({ String(cString: $0) }), !host.isEmpty else { return nil }
      gst_uri_set_userinfo(parsed, nil)
      gst_uri_set_query_string(parsed, nil)
      gst_uri_set_fragment(parsed, nil)
      guard let text = String(taking: gst_uri_to_string(parsed)) else { return nil }
      (self.text, self.host) = (text, host)
    }
  }

  private static func failureKind(
    _ parts: Parts, ofFilePipeline readsFiles: Bool, source: UnsafeMutablePointer<GstObject>?
  ) -> ElementFailureKind {
    switch parts.domain {
    case gst_resource_error_quark():
      switch GstResourceError(UInt32(bitPattern: parts.code)) {
      // It is posted by a file source, or by a bin that finds no source for a URI.
      case GST_RESOURCE_ERROR_NOT_FOUND:
        return kinds(source).isDisjoint(with: ["File", "Bin"]) ? .unavailable : .notFound
      case GST_RESOURCE_ERROR_OPEN_READ, GST_RESOURCE_ERROR_OPEN_READ_WRITE:
        return kinds(source).contains("File") ? .notReadable : .unavailable
      case GST_RESOURCE_ERROR_NOT_AUTHORIZED: return .notAuthorized
      default: return .unavailable
      }
    case gst_core_error_quark():
      switch GstCoreError(UInt32(bitPattern: parts.code)) {
      case GST_CORE_ERROR_MISSING_PLUGIN: return .unsupported
      case GST_CORE_ERROR_NEGOTIATION, GST_CORE_ERROR_CAPS: return .notNegotiated
      default: return .other
      }
    case gst_stream_error_quark():
      switch GstStreamError(UInt32(bitPattern: parts.code)) {
      case GST_STREAM_ERROR_CODEC_NOT_FOUND: return .unsupported
      // A source whose data flow has stopped gives the reason only in its debug text.
      case _ where isNotNegotiated(parts.detail) || parts.detail?.contains("not-linked") == true:
        return .notNegotiated
      default: return readsFiles ? .badData : .other
      }
    default: return .other
    }
  }

  /// Whether the debug text of an error says that elements have no caps in common.
  static func isNotNegotiated(_ detail: String?) -> Bool { detail?.contains("not-negotiated") ?? false }

  private static func kinds(_ object: UnsafeMutablePointer<GstObject>?) -> Set<Substring> {
    guard let object, gobjectIsA(object, gst_element_get_type()) else { return [] }
    return UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstElement.self).kinds
  }

  static func warning(in message: UnsafeMutablePointer<GstMessage>) -> EngineEvent {
    let parts = parts(of: message, gst_message_parse_warning)
    return .warning(element: parts.element, message: parts.text, detail: parts.detail)
  }

  /// Whether a message says that a source has added all its pads, but a delayed link of the description waits for
  /// another.
  static func isDelayedLinkFailure(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    let parts = parts(of: message, gst_message_parse_warning)
    return parts.domain == gst_parse_error_quark() && parts.code == gint(GST_PARSE_ERROR_DELAYED_LINK.rawValue)
  }

  /// Whether a warning concerns something outside of the program, such as a device or a server.
  static func isAboutResource(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    parts(of: message, gst_message_parse_warning).domain == gst_resource_error_quark()
  }

  /// The description of a plugin that a decodebin misses, for instance "H.264 (High Profile) decoder".
  static func missingPlugin(in message: UnsafeMutablePointer<GstMessage>) -> String? {
    guard gst_is_missing_plugin_message(message) != 0 else { return nil }
    return String(taking: gst_missing_plugin_message_get_description(message))
  }

  private typealias Parser = (
    UnsafeMutablePointer<GstMessage>?, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?,
    UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
  ) -> Void

  /// The contents of an error or a warning.
  private struct Parts {
    let element: String
    let text: String
    let detail: String?
    let domain: GQuark
    let code: gint
  }

  private static func parts(of message: UnsafeMutablePointer<GstMessage>, _ parse: Parser) -> Parts {
    var error: UnsafeMutablePointer<GError>?
    var debug: UnsafeMutablePointer<gchar>?
    parse(message, &error, &debug)
    defer { g_clear_error(&error) }
    return Parts(
      element: message.pointee.src?.objectName ?? "pipeline",
      text: error.map { String(cString: $0.pointee.message) } ?? "no message",
      detail: String(taking: debug).flatMap(shortDebug),
      domain: error?.pointee.domain ?? 0, code: error?.pointee.code ?? 0)
  }

  /// The useful part of GStreamer's debug text. Its first line is "file(line): function (): /path/of/element:"; the
  /// lines after it, if any, are meant for users.
  static func shortDebug(_ debug: String) -> String? {
    // Servers end lines with "\r\n", which is one Character in Swift.
    let lines = debug.unicodeScalars.split { $0 == "\n" || $0 == "\r" }.dropFirst().map { String($0) }
    return lines.isEmpty ? nil : lines.joined(separator: " ")
  }
}
