import CGTK
import PipSink
import PipSinkWindows

/// The display that windows are shown on.
@MainActor
public enum GTKDisplay {
  public enum Kind: String, Sendable {
    case x11
    case wayland
  }

  /// nil before ``open()``.
  public private(set) static var kind: Kind?
  /// What PipSink does on GTK's connection to a Wayland compositor.
  private static var foreignConnection: WaylandForeignConnection?

  /// What PipSink does on GTK's connection to a Wayland compositor; made once, when it is needed.
  ///
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  static func waylandConnection() throws(PipSinkError) -> WaylandForeignConnection {
    if let foreignConnection { return foreignConnection }
    guard let display = gdk_display_get_default().flatMap({ gdk_wayland_display_get_wl_display($0) }) else {
      throw .system(.displayUnavailable(reason: "GTK has no connection to a Wayland compositor"))
    }
    let connection = try WaylandForeignConnection(display)
    foreignConnection = connection
    return connection
  }

  /// Shows a window again where it was minimised, covered, or on another workspace. Returns when the display server has
  /// been asked to.
  static func present(_ window: GtkWidgetPointer) async {
    gtk_window_deiconify(window.asWindow)
    if kind == .x11, let display = gdk_display_get_default() {
      let time = X11UserAction.latest(gdk_x11_display_get_user_time(display))
      gtk_window_present_with_time(window.asWindow, time)
      if time == X11UserAction.time { activate(window, display, time) }
    } else {
      gtk_window_present(window.asWindow)
      // GTK knows what was done in its own windows alone.
      if let token = await WaylandActivation.token() { activate(window, token) }
    }
  }

  /// A window that was destroyed meanwhile is none of GTK's any more.
  private static func activate(_ window: GtkWidgetPointer, _ token: String) {
    let windows = gtk_window_list_toplevels()
    defer { g_list_free(windows) }
    guard g_list_find(windows, window) != nil, let connection = try? waylandConnection(),
      let surface = gtk_widget_get_window(window).flatMap({ gdk_wayland_window_get_wl_surface($0) })
    else { return }
    connection.activate(surface, token: token)
  }

  /// Tells the window manager that the user wants to see a window, which is what a click in a picture-in-picture window
  /// means; else some (openbox) only mark it as urgent where it is on another workspace.
  private static func activate(_ window: GtkWidgetPointer, _ display: OpaquePointer, _ time: UInt32) {
    guard let window = gtk_widget_get_window(window), let screen = gdk_display_get_default_screen(display) else {
      return
    }
    let (desktop, root) = (gdk_x11_window_get_desktop(window), gdk_x11_get_default_root_xwindow())
    if desktop != .max, desktop != gdk_x11_screen_get_current_desktop(screen) {
      send("_NET_CURRENT_DESKTOP", about: root, (Int(desktop), Int(time), 0, 0, 0), display)
    }
    // 2 is for a direct action of the user's (EWMH).
    send("_NET_ACTIVE_WINDOW", about: gdk_x11_window_get_xid(window), (2, Int(time), 0, 0, 0), display)
  }

  private static func send(
    _ message: String, about window: Window, _ values: (Int, Int, Int, Int, Int), _ display: OpaquePointer
  ) {
    var event = XEvent()
    event.xclient.type = ClientMessage
    event.xclient.window = window
    event.xclient.message_type = gdk_x11_get_xatom_by_name_for_display(display, message)
    event.xclient.format = 32
    event.xclient.data.l = values
    XSendEvent(
      gdk_x11_display_get_xdisplay(display), gdk_x11_get_default_root_xwindow(), 0,
      SubstructureRedirectMask | SubstructureNotifyMask, &event)
  }

  /// Connects to the display server, once; the environment says to which (WAYLAND_DISPLAY, DISPLAY, GDK_BACKEND). To be
  /// called on the main thread before any view or window is made.
  ///
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  @discardableResult
  public static func open() throws(PipSinkError) -> Kind {
    if let kind = Self.kind { return kind }
    // GTK reads no option of the program's.
    guard gtk_init_check(nil, nil) != 0, let display = gdk_display_get_default() else {
      throw .system(.displayUnavailable(reason: "neither an X11 nor a Wayland display can be reached"))
    }
    let kind: Kind = pipsink_is_wayland_display(display) != 0 ? .wayland : .x11
    Self.kind = kind
    return kind
  }
}
