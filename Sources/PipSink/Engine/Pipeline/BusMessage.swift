import CGStreamer

/// What the engine reads from a bus message. The message is borrowed.
enum BusMessage {
  /// The error, as ours, of an error message.
  ///
  /// - Parameter readsFiles: whether what the message's pipeline plays is a file's, and will be the same the next time.
  static func error(in message: UnsafeMutablePointer<GstMessage>, readsFiles: Bool) -> PipSinkError {
    let parts = parts(of: message, gst_message_parse_error)
    return .pipeline(
      .elementFailed(
        element: parts.element, message: parts.text, detail: detail(of: parts, message.pointee.src),
        kind: failureKind(parts, ofFilePipeline: readsFiles, source: message.pointee.src)))
  }

  /// With the address of a source whose message does not name it.
  private static func detail(of parts: Parts, _ source: UnsafeMutablePointer<GstObject>?) -> String? {
    guard let source, gobjectIsA(source, gst_uri_handler_get_type()),
      let uri = String(taking: gst_uri_handler_get_uri(OpaquePointer(source))), let address = Address(uri),
      !parts.text.contains(address.host), parts.detail?.contains(address.host) != true
    else { return parts.detail }
    return parts.detail.map { "\(address.text): \($0)" } ?? address.text
  }

  /// Where a source reads from, in another place than this machine's files, as it may be printed: without names,
  /// passwords and tokens.
  struct Address: Equatable {
    let text: String
    let host: String

    init?(_ uri: String) {
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
      // Of a file's source; of a bin that finds no source for a URI.
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
      // A source whose flow of data has stopped says in its debug text alone why.
      case _ where isNotNegotiated(parts.detail) || parts.detail?.contains("not-linked") == true:
        return .notNegotiated
      default: return readsFiles ? .badData : .other
      }
    default: return .other
    }
  }

  /// Whether an error's debug text says that elements have no caps in common.
  static func isNotNegotiated(_ detail: String?) -> Bool { detail?.contains("not-negotiated") ?? false }

  private static func kinds(_ object: UnsafeMutablePointer<GstObject>?) -> Set<Substring> {
    guard let object, gobjectIsA(object, gst_element_get_type()) else { return [] }
    return UnsafeMutableRawPointer(object).assumingMemoryBound(to: GstElement.self).kinds
  }

  static func warning(in message: UnsafeMutablePointer<GstMessage>) -> EngineEvent {
    let parts = parts(of: message, gst_message_parse_warning)
    return .warning(element: parts.element, message: parts.text, detail: parts.detail)
  }

  /// Whether a source says that it has added all its pads, while a link of the description waits for another.
  static func isDelayedLinkFailure(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    let parts = parts(of: message, gst_message_parse_warning)
    return parts.domain == gst_parse_error_quark() && parts.code == gint(GST_PARSE_ERROR_DELAYED_LINK.rawValue)
  }

  /// Whether a warning is about something outside of the program, such as a device or a server.
  static func isAboutResource(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    parts(of: message, gst_message_parse_warning).domain == gst_resource_error_quark()
  }

  /// What a decodebin says it needs and has not got, "H.264 (High Profile) decoder" for instance.
  static func missingPlugin(in message: UnsafeMutablePointer<GstMessage>) -> String? {
    guard gst_is_missing_plugin_message(message) != 0 else { return nil }
    return String(taking: gst_missing_plugin_message_get_description(message))
  }

  private typealias Parser = (
    UnsafeMutablePointer<GstMessage>?, UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?,
    UnsafeMutablePointer<UnsafeMutablePointer<gchar>?>?
  ) -> Void

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

  /// GStreamer's debug text is "file(line): function (): /path/of/element:", then often a line for people, which is
  /// what counts.
  static func shortDebug(_ debug: String) -> String? {
    // Servers end lines with "\r\n", which is one Character.
    let lines = debug.unicodeScalars.split { $0 == "\n" || $0 == "\r" }.dropFirst().map { String($0) }
    return lines.isEmpty ? nil : lines.joined(separator: " ")
  }
}
