import CGTK
import PipSink
import PipSinkWindows

/// GTK's connection to the display server.
@MainActor
public enum GTKDisplay {
  /// The kinds of display servers.
  public enum Kind: String, Sendable {
    /// An X11 server, which may be Xwayland.
    case x11
    /// A Wayland compositor.
    case wayland
  }

  /// The kind of display server; nil before ``open()``.
  public private(set) static var kind: Kind?
  /// PipSink's objects on GTK's connection to a Wayland compositor.
  private static var foreignConnection: WaylandForeignConnection?

  /// PipSink's objects on GTK's connection to a Wayland compositor. They are created once, when they are needed.
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

  /// Brings a window to the front, from where it was minimised, covered, or on another workspace. It returns when the
  /// display server has been asked to do so.
  static func present(_ window: GtkWidgetPointer) async {
    gtk_window_deiconify(window.asWindow)
    if kind == .x11, let display = gdk_display_get_default() {
      let time = X11UserAction.latest(gdk_x11_display_get_user_time(display))
      gtk_window_present_with_time(window.asWindow, time)
      if time == X11UserAction.time { activate(window, display, time) }
    } else {
      gtk_window_present(window.asWindow)
      // GTK only knows about user actions in its own windows.
      if let token = await WaylandActivation.token() { activate(window, token) }
    }
  }

  /// Activates a window, unless it has been destroyed meanwhile.
  private static func activate(_ window: GtkWidgetPointer, _ token: String) {
    let windows = gtk_window_list_toplevels()
    defer { g_list_free(windows) }
    guard g_list_find(windows, window) != nil, let connection = try? waylandConnection(),
      let surface = gtk_widget_get_window(window).flatMap({ gdk_wayland_window_get_wl_surface($0) })
    else { return }
    connection.activate(surface, token: token)
  }

  /// Tells the window manager that the user wants to see a window, as after a click in a picture-in-picture window.
  /// Without that, some window managers (openbox) only mark a window on another workspace as urgent.
  private static func activate(_ window: GtkWidgetPointer, _ display: OpaquePointer, _ time: UInt32) {
    guard let window = gtk_widget_get_window(window), let screen = gdk_display_get_default_screen(display) else {
      return
    }
    let (desktop, root) = (gdk_x11_window_get_desktop(window), gdk_x11_get_default_root_xwindow())
    if desktop != .max, desktop != gdk_x11_screen_get_current_desktop(screen) {
      send("_NET_CURRENT_DESKTOP", about: root, (Int(desktop), Int(time), 0, 0, 0), display)
    }
    // 2 stands for a direct action of the user (EWMH).
    send("_NET_ACTIVE_WINDOW", about: gdk_x11_window_get_xid(window), (2, Int(time), 0, 0, 0), display)
  }

  /// Sends a client message about a window to the root window.
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

  /// Connects to the display server, once in the process. The environment says to which one (WAYLAND_DISPLAY, DISPLAY,
  /// GDK_BACKEND). It must be called on the main thread, before any widget or window is created.
  ///
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  @discardableResult
  public static func open() throws(PipSinkError) -> Kind {
    if let kind = Self.kind { return kind }
    // GTK must not read the program's options.
    guard gtk_init_check(nil, nil) != 0, let display = gdk_display_get_default() else {
      throw .system(.displayUnavailable(reason: "neither an X11 nor a Wayland display can be reached"))
    }
    let kind: Kind = pipsink_is_wayland_display(display) != 0 ? .wayland : .x11
    Self.kind = kind
    return kind
  }
}
