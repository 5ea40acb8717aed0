import CWindows
import PipSink

/// The names by which window managers, users' window rules and desktop extensions recognise picture-in-picture windows.
public enum WindowIdentity {
  /// The title of every picture-in-picture window (``PipSink/ShownTexts/pictureInPictureTitle``).
  public static var title: String { ShownTexts.current.pictureInPictureTitle }

  /// The role of every picture-in-picture window on X11 (`WM_WINDOW_ROLE`), and the namespace of its layer-shell
  /// surface on Wayland.
  public static let role = "picture-in-picture"

  /// The program's name without its folder: the application ID on Wayland, and the instance name in `WM_CLASS` on X11.
  static var programName: String {
    // GLib knows no name before GStreamer is initialised, unless the program has set one.
    let program = g_get_prgname().map { String(cString: $0) } ?? CommandLine.arguments.first ?? ""
    return String(program.split(separator: "/").last ?? "pipsink")
  }

  /// The application's name as users know it, where the program has set one (``PipSink/ShownTexts/applicationName``,
  /// `g_set_application_name`), and otherwise ``programName``.
  static var applicationName: String {
    ShownTexts.current.applicationName ?? g_get_application_name().map { String(cString: $0) } ?? programName
  }
}
