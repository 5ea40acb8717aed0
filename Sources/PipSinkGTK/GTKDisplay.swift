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
  private static var x11Presenter: X11Presenter?
  /// nil on X11, and on compositors without subsurfaces.
  private(set) static var waylandConnection: WaylandConnection?
  /// nil before a picture-in-picture window has been opened, on X11, and where the compositor has none.
  private(set) static var waylandActivation: WaylandActivation?

  /// Follows the pointer from now on, so that a click in one window can show another.
  static func prepareActivation() {
    guard waylandActivation == nil, !isLost else { return }
    waylandActivation = waylandConnection.flatMap { WaylandActivation($0) }
  }

  /// Shows a window again where it was minimised, covered, or on another workspace.
  static func present(_ window: GtkWidgetPointer) {
    guard !isLost else { return }
    gtk_window_deiconify(window.asWindow)
    if kind == .x11, let display = gdk_display_get_default() {
      let time = X11UserAction.latest(gdk_x11_display_get_user_time(display))
      gtk_window_present_with_time(window.asWindow, time)
      if time == X11UserAction.time { activate(window, display, time) }
    } else {
      gtk_window_present(window.asWindow)
      waylandActivation?.show(window)
    }
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
    guard !isLost else { throw .system(.displayUnavailable(reason: "the display server has gone")) }
    if let kind = Self.kind { return kind }
    let isHosts = gdk_display_get_default() != nil
    if !isHosts { DisplayWatch.prepare() }
    // GTK reads no option of the program's.
    guard gtk_init_check(nil, nil) != 0, let display = gdk_display_get_default() else {
      DisplayWatch.begin(nil, isHosts: isHosts)
      throw .system(.displayUnavailable(reason: "neither an X11 nor a Wayland display can be reached"))
    }
    let kind: Kind = pipsink_is_wayland_display(display) != 0 ? .wayland : .x11
    DisplayWatch.begin(display, isHosts: isHosts)
    switch kind {
    case .x11: x11Presenter = X11Presenter(display: gdk_x11_display_get_xdisplay(display))
    case .wayland: waylandConnection = WaylandConnection(display)
    }
    Self.kind = kind
    return kind
  }

  /// What takes a view's pictures to the display server past GTK; nil where that cannot be.
  static func makePresenter() -> (any WindowPresenter)? {
    x11Presenter ?? waylandConnection.map { WaylandPresenter($0) }
  }

  /// Whether a window can be put on an overlay layer above all others, which Wayland compositors with layer-shell have.
  public static var hasLayerShell: Bool { kind == .wayland && gtk_layer_is_supported() != 0 }

  /// Waits until the display server has done what GTK has asked it for: other connections see its windows then.
  package static func synchronize() {
    if kind == .x11, !isLost, let display = gdk_display_get_default() { gdk_display_sync(display) }
  }

  /// Whether the display server has gone. Nothing of GTK may be used then.
  public nonisolated static var isLost: Bool { DisplayWatch.isLost }

  /// Calls `handler` when the display server has gone, in a program whose main loop is ``MainLoop/run()``, and ends the
  /// program with the status 69 (`EX_UNAVAILABLE`) when it returns.
  ///
  /// It is called on the main thread, within whatever that was doing, be it in the middle of a call to GTK that never
  /// returns: it can write down what must not be lost, and may end the program itself, with `_exit`. It must not use GTK
  /// or this module's views and windows, and no job of the main actor's is run any more. After ten seconds the program
  /// ends in any case. Of several handlers the newest is called first.
  public static func onLoss(_ handler: @escaping @MainActor () -> Void) {
    DisplayWatch.handlers.append(handler)
  }

  /// Calls `handler` once when the display server has gone, in a program whose main loop is its own and that has not
  /// opened GTK's display itself. On any thread, which may be in the middle of a call to GTK.
  package nonisolated static func onLossInHost(_ handler: @escaping @Sendable () -> Void) {
    DisplayWatch.onLossInHost(handler)
  }
}
