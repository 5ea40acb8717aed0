import CWindows
import Logging
import PipSink

extension PictureInPictureWindow {
  /// The kind of window that picture-in-picture uses on a display server.
  ///
  /// On Wayland the first kind that the compositor supports is used, in the order of layer-shell, Xwayland, xx-pip and
  /// ordinary window. The environment variable `PIPSINK_PIP_WINDOW` chooses another kind by its raw value.
  public enum Kind: String, CaseIterable, Sendable {
    /// A window on an X server that the window manager keeps above others (EWMH).
    case x11
    /// A surface on the overlay layer of a Wayland compositor (`wlr-layer-shell-unstable-v1`).
    case layerShell = "layer-shell"
    /// An X11 window in a Wayland session's Xwayland, beside the app's own Wayland windows.
    case xwayland
    /// A picture-in-picture window of the compositor's (`xx-pip-v1`), which alone decides where it is. It is used where
    /// there is neither layer-shell nor Xwayland, and where `PIPSINK_PIP_WINDOW` asks for it.
    case xxPip = "xx-pip"
    /// An ordinary Wayland window (xdg-shell), which other windows can cover.
    case toplevel
  }

  /// Whether picture-in-picture is supported on the current desktop, without opening a window. Reading it connects to
  /// the display server for a moment and waits for the server's answers.
  public static var support: PictureInPictureSupport {
    do throws(PipSinkError) {
      let window = try PictureInPictureWindow(placementPath: nil)
      if let reason = window.unsupportedReason { return .unsupported(reason: reason) }
      return window.limitation.map { .limited(reason: $0) } ?? .full
    } catch {
      return .unsupported(reason: "\(error)")
    }
  }
}

@MainActor
extension PictureInPictureWindow.Kind {
  /// Finds the first kind that the desktop supports, or the one that `PIPSINK_PIP_WINDOW` names if that is supported.
  ///
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when no display server can be reached.
  package static func found() throws(PipSinkError) -> Self {
    guard try WindowSystem.current() == .wayland else { return .x11 }
    let connection = try WaylandConnection.shared()
    // The connection's objects are forgotten with it, and there may be no window that keeps it.
    return withExtendedLifetime(connection) {
      // The best kind comes first.
      [forced, .layerShell, .xwayland, .xxPip].compactMap(\.self).first { $0.isPossible(connection.globals) }
        ?? .toplevel
    }
  }

  /// Whether the Wayland session supports this kind. Xwayland is only tried where it is needed, because connecting to
  /// it may start it.
  private func isPossible(_ globals: WaylandGlobals) -> Bool {
    switch self {
    case .layerShell: WaylandFloatingWindow.isPossible(.layer, globals)
    case .xwayland: X11Connection.canReachServer
    case .xxPip: WaylandFloatingWindow.isPossible(.pip, globals)
    case .toplevel: true
    case .x11: false
    }
  }

  private static var forced: Self? { wanted.flatMap { Self(rawValue: $0) } }
  private static var wanted: String? { g_getenv("PIPSINK_PIP_WINDOW").map { String(cString: $0) } }

  /// Creates the back-end's window of this kind.
  ///
  /// - Parameters:
  ///   - display: an X server, as in `DISPLAY`; nil for the one that the environment names. Only X11 windows use it.
  ///   - size: the window's first size, in units.
  ///   - handler: called with the window's events.
  func makeWindow(
    display: String?, size: PictureSize, handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) throws(PipSinkError) -> any NativePictureInPictureWindow {
    switch self {
    case .x11: return try X11FloatingWindow(display: display, size: size, handler: handler)
    case .xwayland:
      let window = try X11FloatingWindow(display: display, size: size, handler: handler)
      if let compositor = try? WaylandConnection.shared() { window.takeNames(from: compositor) }
      return window
    case .layerShell: return try WaylandFloatingWindow(.layer, size: size, handler: handler)
    case .xxPip: return try WaylandFloatingWindow(.pip, size: size, handler: handler)
    case .toplevel: return try WaylandFloatingWindow(.toplevel, size: size, handler: handler)
    }
  }

  private static var hasWarned = false

  /// Logs, once in the program's life, which kind is used and why, what it cannot do, and whether the kind that
  /// `PIPSINK_PIP_WINDOW` asks for is not supported.
  func warnOnce(_ limitation: String?) {
    guard !Self.hasWarned else { return }
    Self.hasWarned = true
    let logger = Logger(visible: "pipsink.windows")
    if let wanted = Self.wanted, wanted != rawValue {
      logger.warning("PIPSINK_PIP_WINDOW asks for \"\(wanted)\", which is not available here; \(rawValue) is used")
    }
    logger.debug("the picture-in-picture window is \(rawValue): \(reason)")
    if let limitation { logger.warning("picture-in-picture cannot stay above other windows: \(limitation)") }
  }

  /// Which kind of window is used and why, in a sentence for people.
  package var reason: String {
    if Self.forced == self { return "PIPSINK_PIP_WINDOW asks for \(rawValue)" }
    return switch self {
    case .x11: "it is an X11 window"
    case .layerShell: "the compositor has layer-shell; it is a surface on the overlay layer"
    case .xwayland: "the compositor has no layer-shell; it is a window of its Xwayland"
    case .xxPip: "the compositor has no layer-shell and no Xwayland, but xx-pip-v1"
    case .toplevel: "the compositor has no layer-shell, no Xwayland and no xx-pip-v1; it is an ordinary window"
    }
  }
}
