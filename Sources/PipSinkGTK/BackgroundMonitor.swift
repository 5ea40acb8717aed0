import CGTK
import PipSink

/// Tells whether the user can see the app's window.
///
/// On X11 it is in the background while it is minimised, hidden, or on another workspace than the one that is shown. On
/// Wayland no client is told that; there it is in the background while the compositor asks for no frame of it, which
/// compositors do while a window is minimised or on a hidden workspace. `isObscuredCounted` adds windows that others
/// cover fully (X11), `isUnfocusedCounted` those without the keyboard's focus.
@MainActor
public final class BackgroundMonitor {
  public struct Options: Sendable {
    /// Whether a window without the focus is in the background.
    public var isUnfocusedCounted = false
    /// Whether a window that is fully covered is in the background (X11).
    public var isObscuredCounted = false

    public init() {}
  }

  public private(set) var isInBackground = false
  private let window: GtkWidgetPointer
  private let options: Options
  private let changed: (Bool) -> Void
  private let signals = SignalConnections()
  private var signs = BackgroundSigns()
  /// Wayland.
  private var frames: FrameWatch?
  private var isFrameClockConnected = false
  private var probe: WaylandFrameProbe?
  private var isWayland: Bool { GTKDisplay.kind == .wayland }

  /// - Parameter changed: called on the main actor with whether it is in the background, after each change.
  public convenience init(_ window: VideoWindow, options: Options = Options(), changed: @escaping (Bool) -> Void) {
    self.init(gtkWindow: UnsafeMutableRawPointer(window.window), options: options, changed: changed)
  }

  /// - Parameters:
  ///   - gtkWindow: the app's GtkWindow; it has to live as long as this.
  ///   - changed: called on the main actor with whether it is in the background, after each change.
  public init(
    gtkWindow: UnsafeMutableRawPointer, options: Options = Options(), changed: @escaping (Bool) -> Void
  ) {
    window = gtkWindow.assumingMemoryBound(to: GtkWidget.self)
    self.options = options
    self.changed = changed
    connectSignals()
    if isWayland { watchFrames() } else { watchDesktops() }
  }

  isolated deinit {
    probe = nil
    Self.watching[ObjectIdentifier(self)] = nil
    signals.disconnectAll()
    if !GTKDisplay.isLost, !isWayland, let root = gdk_get_default_root_window() {
      gdk_window_remove_filter(root, Self.filter, Unmanaged.passUnretained(self).toOpaque())
    }
  }

  private func connectSignals() {
    gtk_widget_add_events(
      window,
      gint(
        GDK_VISIBILITY_NOTIFY_MASK.rawValue | GDK_FOCUS_CHANGE_MASK.rawValue | GDK_PROPERTY_CHANGE_MASK.rawValue))
    let state: GdkEventWindowStateHandler = { _, event, monitor in
      let state = event?.pointee.new_window_state.rawValue ?? 0
      MainActor.assumeIsolated {
        guard let monitor = object(monitor, as: BackgroundMonitor.self) else { return }
        monitor.signs.isMinimized = isMinimized(state)
        monitor.signs.isFocused = state & GDK_WINDOW_STATE_FOCUSED.rawValue != 0
        monitor.update()
      }
      return 0
    }
    signals.connect(window, "window-state-event", to: self, state)
    let visibility: GdkEventVisibilityHandler = { _, event, monitor in
      let isObscured = event?.pointee.state == GDK_VISIBILITY_FULLY_OBSCURED
      MainActor.assumeIsolated {
        guard let monitor = object(monitor, as: BackgroundMonitor.self) else { return }
        monitor.signs.isObscured = isObscured
        monitor.update()
      }
      return 0
    }
    signals.connect(window, "visibility-notify-event", to: self, visibility)
    let simple: @convention(c) (GtkWidgetPointer?, UnsafeMutableRawPointer?) -> Void = { _, monitor in
      MainActor.assumeIsolated { object(monitor, as: BackgroundMonitor.self)?.update() }
    }
    signals.connect(window, "map", to: self, simple)
    let unmapped: @convention(c) (GtkWidgetPointer?, UnsafeMutableRawPointer?) -> Void = { _, monitor in
      MainActor.assumeIsolated {
        guard let monitor = object(monitor, as: BackgroundMonitor.self) else { return }
        monitor.probe?.leaveWindow()
        monitor.update()
      }
    }
    signals.connect(window, "unmap", to: self, unmapped)
    let property: GdkEventAnyHandler = { _, _, monitor in
      MainActor.assumeIsolated { object(monitor, as: BackgroundMonitor.self)?.update() }
      return 0
    }
    signals.connect(window, "property-notify-event", to: self, property)
  }

  private func update() {
    guard !GTKDisplay.isLost else { return }
    signs.isMapped = gtk_widget_get_mapped(window) != 0
    signs.isFrameMissing = frames?.isFrameMissing == true
    signs.desktop = desktop
    let now = signs.isInBackground(options)
    guard now != isInBackground else { return }
    isInBackground = now
    changed(now)
  }

  // MARK: - X11: workspaces

  private nonisolated static let filter: GdkFilterFunc = { xEvent, _, monitor in
    let type = xEvent.map { $0.assumingMemoryBound(to: XEvent.self).pointee.type }
    let address = UInt(bitPattern: monitor)
    if type == PropertyNotify {
      MainActor.assumeIsolated {
        object(UnsafeMutableRawPointer(bitPattern: address), as: BackgroundMonitor.self)?.update()
      }
    }
    return GDK_FILTER_CONTINUE
  }

  private func watchDesktops() {
    guard let root = gdk_get_default_root_window() else { return }
    let events = gdk_window_get_events(root).rawValue | GDK_PROPERTY_CHANGE_MASK.rawValue
    gdk_window_set_events(root, GdkEventMask(events))
    gdk_window_add_filter(root, Self.filter, Unmanaged.passUnretained(self).toOpaque())
  }

  private var desktop: (own: UInt32, shown: UInt32)? {
    guard !isWayland, let own = gtk_widget_get_window(window), let screen = gtk_widget_get_screen(window) else {
      return nil
    }
    return (gdk_x11_window_get_desktop(own), gdk_x11_screen_get_current_desktop(screen))
  }

  // MARK: - Wayland: frames

  /// Asks for a frame of a single pixel again and again while there are no others.
  private func watchFrames() {
    Self.watching[ObjectIdentifier(self)] = { [weak self] in self }
    frames = FrameWatch(
      isWatching: { [weak self] in self?.isWatchingFrames ?? false }, ask: { [weak self] in self?.askForFrame() },
      changed: { [weak self] in self?.update() })
  }

  private var isWatchingFrames: Bool {
    guard !GTKDisplay.isLost, gtk_widget_get_mapped(window) != 0 else { return false }
    connectFrameClock()
    return true
  }

  private func connectFrameClock() {
    guard !isFrameClockConnected, let clock = gtk_widget_get_frame_clock(window) else { return }
    isFrameClockConnected = true
    let painted: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void = { _, monitor in
      MainActor.assumeIsolated { object(monitor, as: BackgroundMonitor.self)?.didPaint() }
    }
    signals.connect(UnsafeMutableRawPointer(clock), "after-paint", to: self, painted)
  }

  private func askForFrame() {
    if probe == nil, let connection = GTKDisplay.waylandConnection {
      probe = WaylandFrameProbe(connection) { [weak self] in self?.didPaint() }
    }
    let surface = gtk_widget_get_window(window).flatMap { gdk_wayland_window_get_wl_surface($0) }
    if let probe, let surface, !probe.ask(over: surface) { return }
    gtk_widget_queue_draw_area(window, 0, 0, 1, 1)
  }

  private static var watching: [ObjectIdentifier: () -> BackgroundMonitor?] = [:]

  /// The compositor has shown a picture that a view of ours has put over a window past GTK, and asks for the next.
  ///
  /// - Parameter surface: the address of the window's wl_surface.
  static func noteFrame(ofSurface surface: UInt) {
    for monitor in watching.values {
      guard let monitor = monitor(), !GTKDisplay.isLost, let window = gtk_widget_get_window(monitor.window),
        gdk_wayland_window_get_wl_surface(window).map({ UInt(bitPattern: $0) }) == surface
      else { continue }
      monitor.didPaint()
    }
  }

  private func didPaint() { frames?.didPaint() }
}
