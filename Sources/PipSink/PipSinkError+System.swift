extension PipSinkError {
  /// What is missing around PipSink: libraries, limits, displays, buses.
  public enum System: Equatable, Sendable {
    /// `gst_init` failed.
    case gstreamerUnavailable(reason: String)
    /// The process has as many threads or open files as it may have, or too few are left to start another pipeline.
    /// `limit` is nil where nobody says what it is.
    case resourceExhausted(ProcessResource, inUse: Int, limit: Int?)
    /// No window can be shown.
    case displayUnavailable(reason: String)
    /// A stream's picture cannot be a toolkit's, such as GTK 4's, because the program has not loaded it.
    case toolkitUnavailable(String, reason: String)
    /// The session bus (D-Bus) cannot be reached.
    case sessionBusUnavailable(reason: String)
    /// Another process gave an argument that makes no sense.
    case invalidArgument(String, reason: String)

    var text: Text {
      switch self {
      case .gstreamerUnavailable(let reason):
        Text(1400, "GStreamer cannot be initialised: \(reason)")
      case .resourceExhausted(let resource, let inUse, let limit):
        Text(
          1401,
          "there are too few \(resource.rawValue) left to start a pipeline: the process has \(inUse)"
            + (limit.map { " of \($0) that it may have" } ?? ""),
          "stop some streams, or raise the limit with \(resource.advice)")
      case .displayUnavailable(let reason):
        Text(
          1402, "no window can be shown: \(reason)", "set DISPLAY or WAYLAND_DISPLAY, or show the streams offscreen")
      case .sessionBusUnavailable(let reason):
        Text(
          1403, "the session bus cannot be reached: \(reason)",
          "set DBUS_SESSION_BUS_ADDRESS, or start the program by dbus-run-session")
      case .invalidArgument(let name, let reason):
        Text(1404, "the argument \"\(name)\" cannot be taken: \(reason)")
      case .toolkitUnavailable(let toolkit, let reason):
        Text(
          1405, "\(toolkit) cannot be used: \(reason)",
          "load \(toolkit) before the picture is asked for, as a program does that is linked with it")
      }
    }
  }
}

/// What a process can have too many of.
public enum ProcessResource: String, Sendable {
  case threads
  /// File descriptors: files, sockets, pipes.
  case files = "open files"

  /// The shell's commands for its limits.
  var advice: String {
    switch self {
    // A thread needs address space for its stack, too.
    case .threads: "\"ulimit -u\" or \"ulimit -v\""
    case .files: "\"ulimit -n\""
    }
  }
}
