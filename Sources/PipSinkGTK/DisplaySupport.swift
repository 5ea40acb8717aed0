import CGTK
import PipSink
import PipSinkWindows

/// What the display and its window manager or compositor can do for picture-in-picture.
@MainActor
public struct DisplaySupport {
  /// Whether a picture-in-picture window stays above all others.
  public let staysAbove: Bool
  /// Why, or why not.
  public let staysAboveReason: String
  /// Whether it is noticed that nobody can see the app's window.
  public let detectsBackground: Bool
  public let backgroundReason: String

  /// Of the display that ``GTKDisplay/open()`` has opened.
  public static var current: DisplaySupport {
    switch GTKDisplay.kind {
    case .x11: x11
    case .wayland: wayland
    case nil: DisplaySupport(false, "there is no display", false, "there is no display")
    }
  }

  private init(_ staysAbove: Bool, _ above: String, _ detectsBackground: Bool, _ background: String) {
    self.staysAbove = staysAbove
    staysAboveReason = above
    self.detectsBackground = detectsBackground
    backgroundReason = background
  }

  private static var x11: DisplaySupport {
    guard let screen = gdk_screen_get_default(), let name = gdk_x11_screen_get_window_manager_name(screen) else {
      return DisplaySupport(false, "the window manager is unknown", false, "the window manager is unknown")
    }
    let manager = String(cString: name)
    let supports = { (atom: String) in
      gdk_x11_screen_supports_net_wm_hint(screen, gdk_atom_intern(atom, 0)) != 0
    }
    let above = supports("_NET_WM_STATE_ABOVE")
    let hidden = supports("_NET_WM_STATE_HIDDEN")
    return DisplaySupport(
      above,
      above
        ? "the window manager \(manager) keeps it above"
        : "the window manager \(manager) knows no _NET_WM_STATE_ABOVE",
      hidden,
      hidden
        ? "minimised windows and hidden workspaces are noticed"
        : "the window manager \(manager) does not tell of minimised windows")
  }

  private static var wayland: DisplaySupport {
    let kind = (try? PictureInPictureWindow.kindOfDisplay()) ?? .toplevel
    let limitation = kind == .xwayland ? X11PictureInPictureWindow(placementPath: nil).limitation : nil
    let reason =
      switch kind {
      case .layerShell: "the compositor has layer-shell"
      case .xwayland: limitation ?? "the compositor has no layer-shell; it is a window of its Xwayland"
      case .x11, .toplevel: PictureInPictureWindow.reasonForToplevel
      }
    return DisplaySupport(
      kind == .layerShell || (kind == .xwayland && limitation == nil), reason,
      true, "the compositor asks for no frames of windows that cannot be seen")
  }
}
