import CWindows
import PipSink

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
    guard let bytes = smallFile(at: path, limit: Self.limit), !bytes.isEmpty else { return nil }
    self.init()
    let isLoaded = bytes.withUnsafeBytes { bytes in
      guard let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { return false }
      return g_key_file_load_from_data(pointer, text, gsize(bytes.count), G_KEY_FILE_NONE, nil) != 0
    }
    guard isLoaded else { return nil }
  }

  deinit { g_key_file_unref(pointer) }

  /// The value of a key, or nil where there is none.
  func text(_ group: String, _ key: String) -> String? {
    guard let text = g_key_file_get_string(pointer, group, key, nil) else { return nil }
    defer { g_free(text) }
    return String(cString: text)
  }

  /// The values of a key that has a list with commas between them.
  func list(_ group: String, _ key: String) -> [String] {
    text(group, key)?.parts(between: ",").filter { !$0.isEmpty } ?? []
  }
}
