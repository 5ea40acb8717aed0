import CWindows
import PipSink

/// The kind of display server on which windows are created.
public enum WindowSystem: String, Sendable {
  /// An X server, which the environment variable `DISPLAY` names.
  case x11
  /// A Wayland compositor, which the environment variable `WAYLAND_DISPLAY` names, or to which the program was started
  /// with a connection (`WAYLAND_SOCKET`).
  case wayland

  /// The display server that the environment names and that can be reached.
  ///
  /// Wayland (`WAYLAND_DISPLAY`) is preferred to X11 (`DISPLAY`), unless `PIPSINK_DISPLAY` is `x11` or `wayland`. When
  /// that variable is not set, GTK's `GDK_BACKEND` counts in the same way if it begins with one of these two words. The
  /// call connects to the server to find out whether it answers. It can be made on any thread.
  ///
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when no such server can be reached.
  public static func current() throws(PipSinkError) -> WindowSystem {
    let wanted = wanted
    if wanted != .x11, canReachWayland { return .wayland }
    if wanted != .wayland, X11Connection.canReachServer { return .x11 }
    let reason =
      switch wanted {
      case .x11: "no X11 display can be reached"
      case .wayland: "no Wayland display can be reached"
      case nil: "neither an X11 nor a Wayland display can be reached"
      }
    throw .system(.displayUnavailable(reason: reason))
  }

  private static var wanted: WindowSystem? {
    let names = ["PIPSINK_DISPLAY", "GDK_BACKEND"]
    let texts = names.compactMap { (name: String) in g_getenv(name).map { String(cString: $0) } }
    return texts.first.flatMap { $0.split(separator: ",").first }.flatMap { WindowSystem(rawValue: String($0)) }
  }

  private static var canReachWayland: Bool {
    if WaylandConnection.inherited() != nil { return true }
    guard namesSocket, let display = wl_display_connect(nil) else { return false }
    wl_display_disconnect(display)
    return true
  }

  /// Whether the environment says where a compositor's socket could be. Without that, libwayland prints a complaint on
  /// standard error, which a program on X11 must not cause.
  private static var namesSocket: Bool {
    let isAbsolute = { (name: String) in
      g_getenv(name).map { $0.pointee == CChar(bitPattern: UInt8(ascii: "/")) } ?? false
    }
    return isAbsolute("WAYLAND_DISPLAY") || isAbsolute("XDG_RUNTIME_DIR")
  }
}
