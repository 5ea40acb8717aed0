import CGStreamer

@testable import PipSink
@testable import pipsink_demo

/// Fuzzes pipeline files with `${V}`. GStreamer's parser must make the same elements from a file, whatever the value
/// is.
///
/// The input is a value and, after the byte 0xFF, a file. If there is no byte 0xFF, the first byte selects one of the
/// files below, and the other bytes are the value.
@MainActor
enum PipelineFileTarget {
  /// The files. Each comes with the text that precedes and follows the value in the location of the element "x".
  private static let files: [(source: String, before: String, behind: String)] = [
    (#"filesrc name=x location="${V}" ! fakesink name="y""#, "", ""),
    (#"filesrc name=x location=${V} ! fakesink name="y""#, "", ""),
    (#"filesrc name=x location="/a b/${V}/\"c\"" ! fakesink"#, "/a b/", "/\"c\""),
    (#"filesrc name=x location='${V}' ! fakesink name='y'"#, "'", "'"),
    (#"filesrc name=x location="\"${V}\"" ! fakesink name="y""#, "", ""),
    (#"fakesrc ! video/x-raw,width=3 ! fakesink filesrc name=x location=${V} ! fakesink name="y""#, "", ""),
    (#"fakesrc ! video/x-raw,format="I420" ! fakesink filesrc name=x location="${V}" ! fakesink name="y""#, "", ""),
  ]

  static func run(_ bytes: [UInt8]) {
    try? PipSink.initialize()
    if let end = bytes.firstIndex(of: 0xFF) {
      return compare(file: Array(bytes[(end + 1)...]), value: Array(bytes[..<end]))
    }
    guard let first = bytes.first else { return }
    let (source, before, behind) = files[Int(first) % files.count]
    let value = Array(bytes.dropFirst())
    guard let text = try? text(Array(source.utf8), value) else { return }
    var location: [UInt8]?
    let count = elements(of: text) { element in location = self.location(of: element) }.count
    let expected = before.utf8 + value + behind.utf8
    require(count != nil, "GStreamer refuses \(text)")
    require(
      location == expected, "\(text) has the location \(location.map { String(decoding: $0, as: UTF8.self) } ?? "-")")
    require(
      count == source.split(separator: "!").count + (source.hasPrefix("fakesrc") ? 1 : 0),
      "\(text) has \(count ?? 0) elements")
    // The target checks the same for a value that is quoted like an argument of the command line or like a URI.
    let uri =
      "filesrc name=x location=\(LaunchText.quoted(String(decoding: value, as: UTF8.self))) ! fakesink name=\"y\""
    require(elements(of: uri) { location = self.location(of: $0) }.count == 2 && location == value, uri)
  }

  private static func text(_ file: [UInt8], _ value: [UInt8]) throws -> String {
    try LaunchFile(bytes: file, name: "file") { $0 == "V" ? value : nil }.text
  }

  private static func compare(file: [UInt8], value: [UInt8]) {
    // This target does not try elements that have side effects when they are created.
    guard let usual = try? text(file, Array("plain".utf8)), let other = try? text(file, value) else { return }
    let (usualCount, _) = elements(of: usual) { _ in }
    let (count, isSyntaxError) = elements(of: other) { _ in }
    guard let usualCount else { return }
    require(!isSyntaxError, "GStreamer refuses the syntax of \(other), but not of \(usual)")
    if let count { require(count == usualCount, "\(other) has \(count) elements, and \(usual) has \(usualCount)") }
  }

  /// - Returns: the number of elements, which is nil when GStreamer refuses the text, and whether GStreamer refuses it
  ///   because of its syntax.
  private static func elements(of text: String, _ look: (GstElementPointer) -> Void) -> (
    count: Int?, isSyntaxError: Bool
  ) {
    var error: UnsafeMutablePointer<GError>?
    let parsed = gst_parse_launch_full(text, nil, GST_PARSE_FLAG_FATAL_ERRORS, &error)
    defer { g_clear_error(&error) }
    defer { if let parsed { gst_object_unref(gst_object_ref_sink(parsed)) } }
    if let error {
      return (
        nil, error.pointee.domain == gst_parse_error_quark() && error.pointee.code == GST_PARSE_ERROR_SYNTAX.rawValue
      )
    }
    guard let parsed else { return (nil, false) }
    guard parsed.isA(gst_bin_get_type()) else { return (1, false) }
    let all: [GstElementPointer] = collectObjects(gst_bin_iterate_recurse(parsed.asBin), as: GstElement.self)
    for element in all {
      if element.elementName == "x" { look(element) }
      gst_object_unref(element)
    }
    return (all.count, false)
  }

  private static func location(of element: GstElementPointer) -> [UInt8]? {
    var value = GValue()
    g_object_get_property(UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "location", &value)
    defer { g_value_unset(&value) }
    return g_value_get_string(&value).map { Array(String(cString: $0).utf8) }
  }
}
