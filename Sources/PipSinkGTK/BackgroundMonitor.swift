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
  private var isMinimized = false
  private var isObscured = false
  private var isFocused = true
  private var isFrameMissing = false
  private var missedTicks = 0
  private var ticker: Task<Void, Never>?
  private var isWayland: Bool { GTKDisplay.kind == .wayland }

  /// Wayland: how often it is looked whether the window has been painted, after how many times without a frame one is
  /// asked for (a video that plays paints by itself), and after how many the window counts as hidden.
  private static let tickMilliseconds = 30
  private static let ticksWithoutFrame = 2
  private static let patience = 3

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
    ticker?.cancel()
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
        monitor.isMinimized = PipSinkGTK.isMinimized(state)
        monitor.isFocused = state & GDK_WINDOW_STATE_FOCUSED.rawValue != 0
        monitor.update()
      }
      return 0
    }
    signals.connect(window, "window-state-event", to: self, state)
    let visibility: GdkEventVisibilityHandler = { _, event, monitor in
      let isObscured = event?.pointee.state == GDK_VISIBILITY_FULLY_OBSCURED
      MainActor.assumeIsolated {
        guard let monitor = object(monitor, as: BackgroundMonitor.self) else { return }
        monitor.isObscured = isObscured
        monitor.update()
      }
      return 0
    }
    signals.connect(window, "visibility-notify-event", to: self, visibility)
    let simple: @convention(c) (GtkWidgetPointer?, UnsafeMutableRawPointer?) -> Void = { _, monitor in
      MainActor.assumeIsolated { object(monitor, as: BackgroundMonitor.self)?.update() }
    }
    for signal in ["map", "unmap"] { signals.connect(window, signal, to: self, simple) }
    let property: GdkEventAnyHandler = { _, _, monitor in
      MainActor.assumeIsolated { object(monitor, as: BackgroundMonitor.self)?.update() }
      return 0
    }
    signals.connect(window, "property-notify-event", to: self, property)
  }

  private func update() {
    guard !GTKDisplay.isLost else { return }
    let isHidden = gtk_widget_get_mapped(window) == 0 || isMinimized || isFrameMissing || isOnOtherDesktop
    let now =
      isHidden || (options.isObscuredCounted && isObscured) || (options.isUnfocusedCounted && !isFocused)
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

  private var isOnOtherDesktop: Bool {
    guard !isWayland, let own = gtk_widget_get_window(window), let screen = gtk_widget_get_screen(window) else {
      return false
    }
    let desktop = gdk_x11_window_get_desktop(own)
    // All ones is every desktop.
    return desktop != 0xFFFF_FFFF && desktop != gdk_x11_screen_get_current_desktop(screen)
  }

  // MARK: - Wayland: frames

  /// Asks for a frame of a single pixel again and again while there are no others.
  private func watchFrames() {
    let painted: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void = { _, monitor in
      MainActor.assumeIsolated { object(monitor, as: BackgroundMonitor.self)?.didPaint() }
    }
    ticker = Task { [weak self] in
      var isConnected = false
      while (try? await Task.sleep(for: .milliseconds(Self.tickMilliseconds))) != nil {
        guard let self, !GTKDisplay.isLost else { return }
        guard gtk_widget_get_mapped(window) != 0 else { continue }
        if !isConnected, let clock = gtk_widget_get_frame_clock(window) {
          isConnected = true
          signals.connect(UnsafeMutableRawPointer(clock), "after-paint", to: self, painted)
        }
        tick()
      }
    }
  }

  private func tick() {
    missedTicks += 1
    if missedTicks > Self.patience, !isFrameMissing {
      isFrameMissing = true
      update()
    }
    if missedTicks >= Self.ticksWithoutFrame { gtk_widget_queue_draw_area(window, 0, 0, 1, 1) }
  }

  private func didPaint() {
    missedTicks = 0
    guard isFrameMissing else { return }
    isFrameMissing = false
    update()
  }
}
