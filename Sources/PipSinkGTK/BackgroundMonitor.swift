import CGTK
import PipSink
import PipSinkWindows

/// Watches whether the user can see the app's window.
///
/// On X11 the window is in the background while it is minimised, hidden, or on a workspace that is not shown. On
/// Wayland clients are not told that. There, the window is in the background while the compositor asks for no frame of
/// it, which is the case while it is minimised or on a hidden workspace. `BackgroundOptions` may also count windows
/// that are fully covered by others (X11) and windows without the keyboard focus.
@MainActor
public final class BackgroundMonitor {
  /// Whether the window is in the background now.
  public private(set) var isInBackground = false
  private let window: GtkWidgetPointer
  private let options: BackgroundOptions
  private let changed: (Bool) -> Void
  private let signals = SignalConnections()
  private var signs = BackgroundSigns()
  /// On Wayland, watches the frames of the window's surface; nil while there is no surface.
  private var frames: WaylandForeignWatch?
  private var isWayland: Bool { GTKDisplay.kind == .wayland }

  /// Begins watching a window.
  ///
  /// - Parameters:
  ///   - gtkWindow: the app's GtkWindow, which has to live as long as the monitor.
  ///   - options: what else counts as background.
  ///   - changed: called on the main actor after each change, with whether the window is in the background.
  public init(
    gtkWindow: UnsafeMutableRawPointer, options: BackgroundOptions = BackgroundOptions(),
    changed: @escaping (Bool) -> Void
  ) {
    window = gtkWindow.assumingMemoryBound(to: GtkWidget.self)
    self.options = options
    self.changed = changed
    connectSignals()
    if isWayland { watchFrames() } else { watchDesktops() }
  }

  isolated deinit {
    if !isWayland, let root = gdk_get_default_root_window() {
      gdk_window_remove_filter(root, Self.filter, Unmanaged.passUnretained(self).toOpaque())
    }
  }

  private func connectSignals() {
    gtk_widget_add_events(
      window,
      gint(
        GDK_VISIBILITY_NOTIFY_MASK.rawValue | GDK_FOCUS_CHANGE_MASK.rawValue | GDK_PROPERTY_CHANGE_MASK.rawValue))
    signals.connect(window, event: "window-state-event") { [weak self] (event: GdkEventWindowState) in
      self?.signs.isMinimized = event.new_window_state.isMinimized
      self?.signs.isFocused = event.new_window_state.rawValue & GDK_WINDOW_STATE_FOCUSED.rawValue != 0
      self?.update()
      return false
    }
    signals.connect(window, event: "visibility-notify-event") { [weak self] (event: GdkEventVisibility) in
      self?.signs.isObscured = event.state == GDK_VISIBILITY_FULLY_OBSCURED
      self?.update()
      return false
    }
    for signal in ["map", "unmap", "property-notify-event"] {
      signals.connect(window, signal) { [weak self] in self?.update() }
    }
  }

  /// Determines the state again, and reports a change.
  private func update() {
    signs.isMapped = gtk_widget_get_mapped(window) != 0
    if !signs.isMapped { endWatch() }
    signs.desktop = desktop
    let now = signs.isInBackground(options)
    guard now != isInBackground else { return }
    isInBackground = now
    changed(now)
  }

  // MARK: - X11: workspaces

  private nonisolated static let filter: GdkFilterFunc = { xEvent, _, monitor in
    if xEvent?.assumingMemoryBound(to: XEvent.self).pointee.type == PropertyNotify {
      withObject(monitor, as: BackgroundMonitor.self) { $0.update() }
    }
    return GDK_FILTER_CONTINUE
  }

  private func watchDesktops() {
    guard let root = gdk_get_default_root_window() else { return }
    let events = gdk_window_get_events(root).rawValue | GDK_PROPERTY_CHANGE_MASK.rawValue
    gdk_window_set_events(root, GdkEventMask(events))
    gdk_window_add_filter(root, Self.filter, Unmanaged.passUnretained(self).toOpaque())
  }

  /// The window's workspace and the one that is shown; nil on Wayland and before the window is realised.
  private var desktop: (own: UInt32, shown: UInt32)? {
    guard !isWayland, let own = gtk_widget_get_window(window), let screen = gtk_widget_get_screen(window) else {
      return nil
    }
    return (gdk_x11_window_get_desktop(own), gdk_x11_screen_get_current_desktop(screen))
  }

  // MARK: - Wayland: frames

  /// Watches the frames from the window's first painting on, since GTK creates its surface only then.
  private func watchFrames() {
    signals.connect(window, "draw") { [weak self] in self?.beginWatch() }
    if gtk_widget_get_mapped(window) != 0 { beginWatch() }
  }

  private func beginWatch() {
    guard frames == nil, let connection = try? GTKDisplay.waylandConnection(),
      let surface = gtk_widget_get_window(window).flatMap({ gdk_wayland_window_get_wl_surface($0) })
    else { return }
    frames = WaylandForeignWatch(
      connection, surface: surface, commit: { [window] in gtk_widget_queue_draw_area(window, 0, 0, 1, 1) },
      changed: { [weak self] isMissing in
        guard let self, frames != nil else { return }
        signs.isFrameMissing = isMissing
        update()
      })
  }

  private func endWatch() {
    frames = nil
    signs.isFrameMissing = false
  }
}
