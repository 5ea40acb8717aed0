import CGTK
import PipSink

/// Where a picture-in-picture window was left: its corner of the screen and its size. Kept in a file, so that it is
/// there after a restart.
public struct WindowPlacement: Hashable, Sendable {
  public var corner: WindowCorner
  /// In GTK's pixels, which a scale factor makes several of the screen's.
  public var width: Int
  public var height: Int

  public init(corner: WindowCorner = .bottomRight, width: Int = 320, height: Int = 180) {
    self.corner = corner
    self.width = width
    self.height = height
  }

  /// `pipsink/picture-in-picture.ini` in the user's state folder: `XDG_STATE_HOME`, or `~/.local/state`.
  public static var defaultPath: String {
    let base = g_getenv("XDG_STATE_HOME").map { String(cString: $0) } ?? ""
    let home = g_get_home_dir().map { String(cString: $0) } ?? "."
    return (base.utf8.first == UInt8(ascii: "/") ? base : home + "/.local/state") + "/pipsink/picture-in-picture.ini"
  }

  private static let group = "picture-in-picture"

  /// - Returns: nil when there is no such file, or nothing useful in it.
  public static func load(from path: String) -> WindowPlacement? {
    let file = g_key_file_new()
    defer { g_key_file_unref(file) }
    guard g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, nil) != 0,
      let name = g_key_file_get_string(file, group, "corner", nil)
    else { return nil }
    defer { g_free(name) }
    let width = Int(g_key_file_get_integer(file, group, "width", nil))
    let height = Int(g_key_file_get_integer(file, group, "height", nil))
    guard let corner = WindowCorner(rawValue: String(cString: name)), (1...32767).contains(width),
      (1...32767).contains(height)
    else { return nil }
    return WindowPlacement(corner: corner, width: width, height: height)
  }

  /// - Returns: false when the file cannot be written, which costs no more than the memory of the place.
  @discardableResult
  public func save(to path: String) -> Bool {
    let folder = g_path_get_dirname(path)
    defer { g_free(folder) }
    guard g_mkdir_with_parents(folder, 0o700) == 0 else { return false }
    let file = g_key_file_new()
    defer { g_key_file_unref(file) }
    g_key_file_set_string(file, Self.group, "corner", corner.rawValue)
    g_key_file_set_integer(file, Self.group, "width", gint(clamping: width))
    g_key_file_set_integer(file, Self.group, "height", gint(clamping: height))
    var length: gsize = 0
    guard let text = g_key_file_to_data(file, &length, nil) else { return false }
    defer { g_free(text) }
    return (try? OutputFile.write(String(cString: text).utf8, to: path)) != nil
  }
}
