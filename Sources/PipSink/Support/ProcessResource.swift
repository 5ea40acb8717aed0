/// What a process can have too many of.
public enum ProcessResource: String, Sendable {
  case threads
  /// File descriptors: files, sockets, pipes.
  case files = "open files"

  /// The shell's word for its limit.
  var advice: String {
    switch self {
    case .threads: "ulimit -u"
    case .files: "ulimit -n"
    }
  }
}
