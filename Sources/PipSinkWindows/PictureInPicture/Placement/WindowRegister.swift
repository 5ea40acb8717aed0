import CWindows
import Glibc
import PipSink

/// Tells the user's programs where the picture-in-picture windows of the others are, so that each leaves room for them.
///
/// Each program has a file with a line for each of its windows in the folder `pipsink` of the user's runtime folder
/// (`XDG_RUNTIME_DIR`). It keeps the file locked as long as it runs, so that the file of a program that was killed is
/// recognised and removed.
@MainActor
final class WindowRegister {
  private let folder: String
  private let prefix = "windows-"
  private var own: (path: String, descriptor: Int32)?
  private var written = ""

  /// - Parameter folder: the folder of the files; nil for the user's.
  init(folder: String? = nil) {
    self.folder = folder ?? "\(String(cString: g_get_user_runtime_dir()))/pipsink"
  }

  isolated deinit { remove() }

  private func remove() {
    guard let own else { return }
    unlink(own.path)
    close(own.descriptor)
    (self.own, written) = (nil, "")
  }

  /// Tells other programs where this program's windows are. Where the folder cannot be written to, they learn nothing.
  func publish(_ windows: [StackedWindow]) {
    guard !windows.isEmpty else { return remove() }
    let text = windows.map {
      "\($0.opened.nanoseconds) \($0.corner.rawValue) \($0.height) \($0.monitor)\n"
    }.joined()
    guard text != written, let descriptor = own?.descriptor ?? makeFile() else { return }
    let bytes = Array(text.utf8)
    let count = SizeLimit.withoutSignal { pwrite(descriptor, bytes, bytes.count, 0) }
    guard count == bytes.count else { return }
    ftruncate(descriptor, off_t(bytes.count))
    written = text
  }

  private func makeFile() -> Int32? {
    guard g_mkdir_with_parents(folder, 0o700) == 0 else { return nil }
    let path = "\(folder)/\(prefix)\(getpid())-\(MonotonicTime.now.nanoseconds)"
    // Under its final name the file is locked from the beginning.
    let descriptor = open("\(path).new", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, rename("\(path).new", path) == 0 else {
      unlink("\(path).new")
      close(descriptor)
      return nil
    }
    own = (path, descriptor)
    return descriptor
  }

  /// The windows of the other programs that run now.
  var others: [StackedWindow] {
    guard let directory = g_dir_open(folder, 0, nil) else { return [] }
    defer { g_dir_close(directory) }
    var found: [StackedWindow] = []
    while let entry = g_dir_read_name(directory) {
      let name = String(cString: entry)
      let path = "\(folder)/\(name)"
      if name.hasPrefix(prefix), !name.hasSuffix(".new"), path != own?.path { found += windows(inFile: path) }
    }
    return found
  }

  private func windows(inFile path: String) -> [StackedWindow] {
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else {
      unlink(path)
      return []
    }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = read(descriptor, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
      guard words.count == 4, let opened = UInt64(words[0]), let corner = WindowCorner(rawValue: String(words[1])),
        let height = Int(words[2]), (1...32767).contains(height)
      else { return nil }
      return StackedWindow(
        opened: MonotonicTime(nanoseconds: opened), corner: corner, height: height, monitor: String(words[3]))
    }
  }
}
