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
