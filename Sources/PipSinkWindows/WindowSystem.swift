import CWindows
import PipSink

/// The kind of display server that windows are made on.
public enum WindowSystem: String, Sendable {
  case x11
  case wayland

  /// The one that the environment names and that can be reached: Wayland's (`WAYLAND_DISPLAY`) before X11's (`DISPLAY`),
  /// unless `PIPSINK_DISPLAY` is `x11` or `wayland`, or, where that is not set, GTK's `GDK_BACKEND` begins with one of the
  /// two.
  ///
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
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
    guard namesSocket, let display = wl_display_connect(nil) else { return false }
    wl_display_disconnect(display)
    return true
  }

  /// Whether the environment says where a compositor's socket could be. libwayland, asked without that, complains on standard
  /// error, and programs on X11 may have none of it.
  private static var namesSocket: Bool {
    let isAbsolute = { (name: String) in
      g_getenv(name).map { $0.pointee == CChar(bitPattern: UInt8(ascii: "/")) } ?? false
    }
    return g_getenv("WAYLAND_SOCKET") != nil || isAbsolute("WAYLAND_DISPLAY") || isAbsolute("XDG_RUNTIME_DIR")
  }
}
