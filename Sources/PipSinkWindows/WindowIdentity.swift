import PipSink

/// What window managers, users' window rules and desktop extensions know picture-in-picture windows by.
public enum WindowIdentity {
  /// The title of every picture-in-picture window, the one that browsers' windows have, too. A rule that matches a
  /// browser's window matches PipSink's.
  public static let title = "Picture-in-Picture"

  /// The window's role on X11 (`WM_WINDOW_ROLE`), and the namespace of the window's layer on Wayland.
  public static let role = "picture-in-picture"

  /// The title with the streams that the window shows: its icon name (`_NET_WM_ICON_NAME`) on X11.
  package static func description(of presentation: PictureInPicturePresentation?) -> String {
    let names = [presentation?.streamID, presentation?.secondStreamID].compactMap { $0?.rawValue }
    return names.isEmpty ? title : "\(title): \(names.joined(separator: ", "))"
  }
}
