import PipSink

/// What the display and its window manager or compositor can do for picture-in-picture.
@MainActor
public struct DisplaySupport {
  /// Which display server there is; nil for none.
  public let system: WindowSystem?
  /// Whether a picture-in-picture window stays above all others.
  public let staysAbove: Bool
  /// Why, or why not, and which kind of window it is.
  public let staysAboveReason: String
  /// Whether it is noticed that nobody can see the app's window.
  public let detectsBackground: Bool
  public let backgroundReason: String

  /// Of the display that the environment names. Connects to the server for as long as it asks.
  public static var current: DisplaySupport {
    switch try? WindowSystem.current() {
    case .x11: x11
    case .wayland: wayland
    case nil: DisplaySupport(nil, false, "there is no display", false, "there is no display")
    }
  }

  private init(
    _ system: WindowSystem?, _ staysAbove: Bool, _ above: String, _ detectsBackground: Bool, _ background: String
  ) {
    self.system = system
    self.staysAbove = staysAbove
    staysAboveReason = above
    self.detectsBackground = detectsBackground
    backgroundReason = background
  }

  private static var x11: DisplaySupport {
    guard let connection = X11Connection(nil), let screen = X11Screen(connection, number: connection.screenNumber),
      let manager = screen.windowManagerName
    else {
      return DisplaySupport(.x11, false, "the window manager is unknown", false, "the window manager is unknown")
    }
    let above = screen.supports(.stateAbove)
    let hidden = screen.supports(.stateHidden)
    return DisplaySupport(
      .x11, above,
      above
        ? "the window manager \(manager) keeps it above"
        : "the window manager \(manager) knows no _NET_WM_STATE_ABOVE",
      hidden,
      hidden
        ? "minimised windows and hidden workspaces are noticed"
        : "the window manager \(manager) does not tell of minimised windows")
  }

  private static var wayland: DisplaySupport {
    let kind = (try? PictureInPictureWindow.Kind.found()) ?? .toplevel
    let limitation = (try? PictureInPictureWindow(placementPath: nil))?.limitation
    let reason = limitation ?? kind.reason
    return DisplaySupport(
      .wayland, limitation == nil, reason, true, "the compositor asks for no frames of windows that cannot be seen")
  }
}
