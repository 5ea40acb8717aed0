extension PipSinkError {
  /// Something that is missing around PipSink: libraries, resources, displays, buses.
  public enum System: Equatable, Sendable {
    /// GStreamer could not be initialised.
    case gstreamerUnavailable(reason: String)
    /// The process has reached its limit of threads or open files, or too few are left to start another pipeline.
    /// `limit` is nil where the system does not tell it.
    case resourceExhausted(ProcessResource, inUse: Int, limit: Int?)
    /// No window can be shown.
    case displayUnavailable(reason: String)
    /// A stream cannot be shown in a toolkit such as GTK 4, because the program has not loaded it.
    case toolkitUnavailable(String, reason: String)
    /// The session bus (D-Bus) cannot be reached.
    case sessionBusUnavailable(reason: String)
    /// Another process, or a text such as an environment variable, gave an argument that is not valid.
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
          "set DBUS_SESSION_BUS_ADDRESS, or start the program with dbus-run-session")
      case .invalidArgument(let name, let reason):
        Text(1404, "the argument \"\(name)\" is not valid: \(reason)")
      case .toolkitUnavailable(let toolkit, let reason):
        Text(
          1405, "\(toolkit) cannot be used: \(reason)",
          "load \(toolkit) first, for instance by linking the program with it")
      }
    }
  }
}

/// A resource of which a process can use only so much.
public enum ProcessResource: String, Sendable {
  /// The threads of the process.
  case threads
  /// File descriptors: files, sockets, pipes.
  case files = "open files"

  /// The shell commands that show or raise the limit.
  var advice: String {
    switch self {
    // A thread needs address space for its stack, too.
    case .threads: "\"ulimit -u\" or \"ulimit -v\""
    case .files: "\"ulimit -n\""
    }
  }
}
