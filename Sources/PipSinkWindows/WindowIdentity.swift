import CWindows
import PipSink

/// The names by which window managers, users' window rules and desktop extensions recognise picture-in-picture windows.
public enum WindowIdentity {
  /// The title of every picture-in-picture window. Browsers use the same title, so a rule that matches a browser's
  /// window also matches PipSink's.
  public static let title = "Picture-in-Picture"

  /// The role of every picture-in-picture window on X11 (`WM_WINDOW_ROLE`), and the namespace of its layer-shell
  /// surface on Wayland.
  public static let role = "picture-in-picture"

  /// The title followed by the streams that the window shows. On X11 it is the icon name (`_NET_WM_ICON_NAME`).
  package static func description(of presentation: PictureInPicturePresentation?) -> String {
    let names = [presentation?.streamID, presentation?.secondStreamID].compactMap { $0?.rawValue }
    return names.isEmpty ? title : "\(title): \(names.joined(separator: ", "))"
  }

  /// The program's name without its folder: the application ID on Wayland, and the instance name in `WM_CLASS` on X11.
  static var programName: String {
    // GLib knows no name before GStreamer is initialised, unless the program has set one.
    let program = g_get_prgname().map { String(cString: $0) } ?? CommandLine.arguments.first ?? ""
    return String(program.split(separator: "/").last ?? "pipsink")
  }

  /// The application's name as users know it, where the program has set one (`g_set_application_name`), and otherwise
  /// ``programName``.
  static var applicationName: String { g_get_application_name().map { String(cString: $0) } ?? programName }
}
