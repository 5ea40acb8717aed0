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
    if !GTKDisplay.isLost, !isWayland, let root = gdk_get_default_root_window() {
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

  private func update() {
    guard !GTKDisplay.isLost else { return }
    signs.isMapped = gtk_widget_get_mapped(window) != 0
    if !signs.isMapped { probe?.leaveWindow() }
    signs.isFrameMissing = frames?.isFrameMissing == true
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
    signals.connect(UnsafeMutableRawPointer(clock), "after-paint") { [weak self] in self?.didPaint() }
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
