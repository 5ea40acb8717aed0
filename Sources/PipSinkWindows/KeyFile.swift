import CWindows
import Glibc

/// Settings in a file: keys and values in groups, in GLib's format.
final class KeyFile {
  /// The most bytes that are read. Files of settings have a few hundred.
  private static let limit = 65_536

  /// The `GKeyFile`.
  let pointer: OpaquePointer

  init() { pointer = g_key_file_new() }

  /// Reads a file. It does not wait for the writer of a FIFO, and reads no more of a device than of a file.
  ///
  /// - Returns: nil when the path is not that of a regular file in this format, or when the file is too large.
  convenience init?(from path: String) {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= Self.limit else {
      return nil
    }
    self.init()
    let count = withUnsafeTemporaryAllocation(byteCount: Self.limit, alignment: 1) { bytes in
      let count = read(descriptor, bytes.baseAddress, bytes.count)
      guard count > 0, let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
        g_key_file_load_from_data(pointer, text, gsize(count), G_KEY_FILE_NONE, nil) != 0
      else { return 0 }
      return count
    }
    guard count > 0 else { return nil }
  }

  deinit { g_key_file_unref(pointer) }

  /// The value of a key, or nil where there is none.
  func text(_ group: String, _ key: String) -> String? {
    guard let text = g_key_file_get_string(pointer, group, key, nil) else { return nil }
    defer { g_free(text) }
    return String(cString: text)
  }
}
