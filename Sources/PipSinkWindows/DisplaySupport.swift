import PipSink

/// What the current display and its window manager or compositor can do for picture-in-picture.
@MainActor
public struct DisplaySupport {
  /// The kind of display server that was found, or nil when none can be reached.
  public let system: WindowSystem?
  /// Whether a picture-in-picture window stays above all other windows.
  public let staysAbove: Bool
  /// The reason for the value of ``staysAbove``, in a sentence for people. It names the kind of window that is used.
  public let staysAboveReason: String
  /// Whether PipSink can detect that the user cannot see the app's window.
  public let detectsBackground: Bool
  /// The reason for the value of ``detectsBackground``, in a sentence for people.
  public let backgroundReason: String

  /// Who draws frames in windows (``WindowRenderer``), in a sentence for people. It is nil when there is no display.
  public private(set) var rendererReason: String?

  /// What the display that the environment names can do. Reading it connects to the display server for a moment and
  /// waits for the server's answers.
  public static var current: DisplaySupport {
    switch try? WindowSystem.current() {
    case .x11:
      var support = x11
      support.rendererReason =
        WindowRenderer.fromEnvironment == .openGL ? openGLReason : "the processor draws; X11 takes pictures in memory"
      return support
    case .wayland:
      var support = wayland
      support.rendererReason =
        switch WindowRenderer.fromEnvironment {
        case .processor: "the processor draws, as was chosen"
        case .openGL: openGLReason
        case .automatic, .direct: (try? WaylandConnection.shared()).map { "\($0.globals.frameFormats)" }
        }
      return support
    case nil: return DisplaySupport(nil, false, "there is no display", false, "there is no display")
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

  private static let openGLReason = "OpenGL ES draws, and the processor where that fails"

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
        : "the window manager \(manager) does not support _NET_WM_STATE_ABOVE",
      hidden,
      hidden
        ? "minimised windows and hidden workspaces are detected"
        : "the window manager \(manager) does not report minimised windows")
  }

  private static var wayland: DisplaySupport {
    do throws(PipSinkError) {
      let window = try PictureInPictureWindow(placementPath: nil)
      let missing = window.unsupportedReason ?? window.limitation
      return DisplaySupport(
        .wayland, missing == nil, missing ?? window.kind.reason, true,
        "the compositor requests no frames from windows that cannot be seen")
    } catch {
      return DisplaySupport(.wayland, false, "\(error)", false, "\(error)")
    }
  }
}
