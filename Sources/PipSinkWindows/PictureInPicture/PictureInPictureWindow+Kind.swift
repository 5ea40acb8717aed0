import CWindows
import Logging
import PipSink

extension PictureInPictureWindow {
  /// What a window is for the display server. The raw values are those of `PIPSINK_PIP_WINDOW`, which asks for one.
  public enum Kind: String, CaseIterable, Sendable {
    case x11
    /// On the overlay layer of a Wayland compositor.
    case layerShell = "layer-shell"
    /// An X11 window beside the app's windows, which are Wayland's.
    case xwayland
    /// The compositor's own kind of such windows (`xx-pip-v1`), which it places as it likes. It is asked for by its
    /// name alone, or where there is neither layer-shell nor Xwayland.
    case xxPip = "xx-pip"
    /// A window of Wayland's like any other.
    case toplevel
  }

  /// What picture-in-picture is on this desktop, before there is any window. Connects to the display server for as long
  /// as it asks.
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
  /// The first kind that can be had, or the one that `PIPSINK_PIP_WINDOW` names if it can.
  ///
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  package static func found() throws(PipSinkError) -> Self {
    guard try WindowSystem.current() == .wayland else { return .x11 }
    if let forced, [.layerShell, .xwayland, .xxPip, .toplevel].contains(forced), forced.isPossible { return forced }
    // The best first.
    return [.layerShell, .xwayland, .xxPip].first { $0.isPossible } ?? .toplevel
  }

  /// Whether it can be had on Wayland. An Xwayland that is not needed is not asked for: it may have to be started.
  private var isPossible: Bool {
    let globals = (try? WaylandConnection.shared())?.globals
    let has = { (role: WaylandFloatingWindow.Role) in
      globals.map { WaylandFloatingWindow.isPossible(role, $0) } ?? false
    }
    return switch self {
    case .layerShell: has(.layer)
    case .xwayland: X11Connection.canReachServer
    case .xxPip: has(.pip)
    case .toplevel: true
    case .x11: false
    }
  }

  private static var forced: Self? { wanted.flatMap { Self(rawValue: $0) } }
  private static var wanted: String? { g_getenv("PIPSINK_PIP_WINDOW").map { String(cString: $0) } }

  func makeWindow(
    display: String?, size: PictureSize, handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) throws(PipSinkError) -> any NativePictureInPictureWindow {
    switch self {
    case .x11, .xwayland: try X11FloatingWindow(display: display, size: size, handler: handler)
    case .layerShell: try WaylandFloatingWindow(.layer, size: size, handler: handler)
    case .xxPip: try WaylandFloatingWindow(.pip, size: size, handler: handler)
    case .toplevel: try WaylandFloatingWindow(.toplevel, size: size, handler: handler)
    }
  }

  private static var hasWarned = false

  /// Says once what the window is and why, what it is not, and what was asked for and cannot be had.
  func warnOnce(_ limitation: String?) {
    guard !Self.hasWarned else { return }
    Self.hasWarned = true
    let logger = Logger(visible: "pipsink.windows")
    if let wanted = Self.wanted, wanted != rawValue {
      logger.warning("PIPSINK_PIP_WINDOW asks for \"\(wanted)\", which cannot be had here; it is \(rawValue)")
    }
    logger.debug("the picture-in-picture window is \(rawValue): \(reason)")
    if let limitation { logger.warning("picture-in-picture cannot stay above other windows: \(limitation)") }
  }

  /// Which kind of window it is, and why, for people.
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
