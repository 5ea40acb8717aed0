import CGStreamer

/// Makes a GstPipeline from a description, or the error that says what is wrong with it.
package enum PipelineParser {
  /// Parses a description.
  ///
  /// - Returns: a GstPipeline in state NULL. The caller owns the only reference.
  static func parse(_ description: PipelineDescription) throws(PipSinkError) -> GstElementPointer {
    try PipSink.initialize()
    try description.check()
    let context = gst_parse_context_new()
    defer { gst_parse_context_free(context) }
    var error: UnsafeMutablePointer<GError>?
    let parsed = build(description, context, &error)
    if let error {
      defer { g_error_free(error) }
      if let parsed { gst_object_unref(parsed) }
      throw parseError(error.pointee, context: context, description: description)
    }
    guard let parsed else { throw .pipeline(.empty) }
    return try asPipeline(parsed)
  }

  /// Parses a part of a pipeline.
  ///
  /// - Parameters:
  ///   - text: the elements, in the syntax of gst-launch.
  ///   - hasGhostPads: whether the pads that are not linked become pads of the bin.
  /// - Returns: a GstBin, of which the caller owns the only reference.
  package static func parseBin(
    _ text: String, hasGhostPads: Bool
  ) throws(PipSinkError) -> UnsafeMutablePointer<GstElement> {
    let context = gst_parse_context_new()
    defer { gst_parse_context_free(context) }
    var error: UnsafeMutablePointer<GError>?
    defer { g_clear_error(&error) }
    let bin = gst_parse_bin_from_description_full(
      text, hasGhostPads ? 1 : 0, context, GST_PARSE_FLAG_FATAL_ERRORS, &error)
    if let error { throw parseError(error.pointee, context: context, description: .text(text)) }
    guard let bin else { throw .pipeline(.empty) }
    return UnsafeMutableRawPointer(gst_object_ref_sink(bin)).assumingMemoryBound(to: GstElement.self)
  }

  private static func build(
    _ description: PipelineDescription, _ context: OpaquePointer?, _ error: inout UnsafeMutablePointer<GError>?
  ) -> GstElementPointer? {
    let flags = GST_PARSE_FLAG_FATAL_ERRORS
    switch description.content {
    case .misfit: return nil
    case .text(let text):
      return gst_parse_launch_full(text, context, flags, &error)
    case .arguments(let arguments):
      var strings: [UnsafePointer<gchar>?] = arguments.map {
        UnsafePointer(g_strdup(LaunchText.word(ofArgument: $0)))
      }
      defer { for string in strings { g_free(UnsafeMutableRawPointer(mutating: string)) } }
      strings.append(nil)
      return strings.withUnsafeMutableBufferPointer { strings in
        // The C type is `const gchar **`; the strings are only read.
        strings.withMemoryRebound(to: UnsafePointer<gchar>?.self) { strings in
          gst_parse_launchv_full(strings.baseAddress, context, flags, &error)
        }
      }
    }
  }

  /// The parsed element as a pipeline. GStreamer makes no pipeline for a description of a single element.
  private static func asPipeline(_ parsed: GstElementPointer) throws(PipSinkError) -> GstElementPointer {
    if parsed.isA(gst_pipeline_get_type()) {
      // gst_parse_launch returns a floating reference.
      gst_object_ref_sink(parsed)
      return parsed
    }
    guard let pipeline = gst_pipeline_new(nil) else {
      gst_object_unref(parsed)
      throw .pipeline(.invalid(reason: "no pipeline can be made"))
    }
    gst_object_ref_sink(pipeline)
    gst_bin_add(pipeline.asBin, parsed)
    return pipeline
  }

  private static func parseError(
    _ error: GError, context: OpaquePointer?, description: PipelineDescription
  ) -> PipSinkError {
    let message = String(cString: error.message)
    guard error.domain == gst_parse_error_quark() else { return .pipeline(.invalid(reason: message)) }
    switch GstParseError(UInt32(bitPattern: error.code)) {
    case GST_PARSE_ERROR_NO_SUCH_ELEMENT:
      let missing = missingElements(context)
      return missing.isEmpty ? .pipeline(.invalid(reason: message)) : .pipeline(.missingElements(missing))
    case GST_PARSE_ERROR_EMPTY, GST_PARSE_ERROR_EMPTY_BIN:
      return .pipeline(.empty)
    case GST_PARSE_ERROR_LINK:
      // GStreamer leaves out the second element with the same name, so that a link to it fails.
      if let name = firstDuplicate(description.elementNames) { return .stream(.duplicate(StreamID(name))) }
      return .pipeline(.linkFailed(reason: message))
    default:
      return .pipeline(.invalid(reason: message))
    }
  }

  private static func missingElements(_ context: OpaquePointer?) -> [String] {
    guard let names = gst_parse_context_get_missing_elements(context) else { return [] }
    defer { g_strfreev(names) }
    return (0..<Int(g_strv_length(names))).reduce(into: []) { result, index in
      guard let name = names[index].map({ String(cString: $0) }), !result.contains(name) else { return }
      result.append(name)
    }
  }

  /// The first name that comes a second time; nil when all are different.
  static func firstDuplicate<Name: Hashable>(_ names: [Name]) -> Name? {
    var seen: Set<Name> = []
    return names.first { !seen.insert($0).inserted }
  }
}
