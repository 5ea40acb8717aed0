import CGStreamer

/// PipSink as a whole: its version, and the start of GStreamer.
public enum PipSink {
  /// PipSink's version, as in the release notes.
  public static let version = "0.2.0"

  /// The name and version of the GStreamer library in use, for instance "GStreamer 1.22.0".
  package static var gstreamerVersion: String { String(taking: gst_version_string()) ?? "GStreamer" }

  /// Initialises GStreamer, once in the process. Every entry point of the library does it by itself. An app calls it
  /// only to learn early that GStreamer does not work here. Any thread may call it.
  ///
  /// - Throws: ``PipSinkError/System/gstreamerUnavailable(reason:)``, or
  ///   ``PipSinkError/System/resourceExhausted(_:inUse:limit:)`` where the process may open hardly any files.
  public static func initialize() throws(PipSinkError) {
    if let failure = initialization { throw failure }
  }

  /// Checks that the process may open enough files. Programs call it before anything else, because Swift's and GLib's
  /// threads end a process that gets no file descriptors for their pipes.
  ///
  /// - Throws: ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``.
  package static func checkLimits() throws(PipSinkError) { try ResourceLimits.check() }

  private static let initialization: PipSinkError? = {
    do throws(PipSinkError) {
      try ResourceLimits.checkFiles()
    } catch {
      return error
    }
    var error: UnsafeMutablePointer<GError>?
    if gst_init_check(nil, nil, &error) != 0 { return nil }
    defer { g_clear_error(&error) }
    return .system(
      .gstreamerUnavailable(reason: error.map { String(cString: $0.pointee.message) } ?? "no reason given"))
  }()
}
