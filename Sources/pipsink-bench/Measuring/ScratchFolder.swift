import CGStreamer
import PipSink
import PipSinkCommandLine

/// A new temporary folder, in TMPDIR or /tmp. The code that makes it must remove it.
struct ScratchFolder {
  let path: String

  /// - Throws: ``CommandError`` when it cannot be made.
  init() throws(CommandError) {
    var error: UnsafeMutablePointer<GError>?
    defer { g_clear_error(&error) }
    guard let path = String(taking: g_dir_make_tmp("pipsink-XXXXXX", &error)) else {
      let reason = error.map { String(cString: $0.pointee.message) } ?? "unknown"
      throw CommandError(.failed, "no temporary folder can be made: \(reason); name another place with TMPDIR")
    }
    self.path = path
  }

  /// Removes the folder with everything in it. Links are removed, and what they point to stays.
  func remove() { _ = try? ChildProcess("/bin/rm", ["-rf", path]).finish() }
}
