import CGStreamer
import Glibc

/// A new folder for files that nobody needs afterwards, in TMPDIR or /tmp. Whoever makes it removes it.
struct ScratchFolder {
  let path: String

  /// - Throws: ``DemoError`` when it cannot be made.
  init() throws(DemoError) {
    var name = Array("\(String(cString: g_get_tmp_dir()))/pipsink-XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else {
      let (reason, folder) = (String(cString: strerror(errno)), String(cString: g_get_tmp_dir()))
      throw DemoError(.failed, "\"\(folder)\" cannot be written: \(reason); name another folder with TMPDIR")
    }
    path = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// With everything in it; links in it are removed, and what they lead to stays.
  func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    // Of a folder unlink(2) takes nothing away.
    guard unlink(path) != 0 else { return }
    for name in InputFile.names(inFolder: path) { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
