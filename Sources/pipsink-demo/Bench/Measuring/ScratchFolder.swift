import CGStreamer
import Glibc

/// A new temporary folder, in TMPDIR or /tmp. The code that makes it must remove it.
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

  /// Removes the folder with everything in it. Links are removed, and what they point to stays.
  func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    // unlink(2) removes files and links, and refuses folders.
    guard unlink(path) != 0 else { return }
    for name in InputFile.names(inFolder: path) { remove("\(path)/\(name)") }
    rmdir(path)
  }
}
