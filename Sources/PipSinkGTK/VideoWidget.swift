import CGTK
import PipSink
import PipSinkWindows

/// An object that owns a GTK widget, which an app can put into its containers.
@MainActor
public protocol GTKWidgetOwner: AnyObject {
  /// The GtkWidget. It is borrowed: it lives as long as its owner. Only the main thread may use it.
  var unsafeGtkWidget: UnsafeMutableRawPointer { get }
}

/// A GTK 3 widget that shows the streams of a ``PipSinkWindows/VideoContainer``.
///
/// The pictures do not pass through GTK. The presenting threads of the streams send them to the display server, into
/// windows (X11) or subsurfaces (Wayland) that cover the widget's area and everything that GTK paints there. Other
/// widgets cannot be drawn over them, so overlays have to be part of the container.
@MainActor
public final class VideoWidget: GTKWidgetOwner {
  /// The container whose streams the widget shows.
  public let content: VideoContainer
  /// The GtkWidget. It is borrowed: it lives as long as this object. Only the main thread may use it.
  public var unsafeGtkWidget: UnsafeMutableRawPointer { UnsafeMutableRawPointer(widget) }

  private let widget: GtkWidgetPointer
  private let signals = SignalConnections()
  /// The widget's place in its window, while it is mapped.
  private var window: GTKWidgetWindow?
  /// The handlers for the window that contains the widget.
  private let toplevelSignals = SignalConnections()

  /// Makes a widget for a container. GTK is initialised if necessary (``GTKDisplay/open()``).
  ///
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init(content: VideoContainer) throws(PipSinkError) {
    try GTKDisplay.open()
    self.content = content
    widget = gtk_drawing_area_new()
    g_object_ref_sink(widget)
    connectSignals()
    connectPointer()
  }

  isolated deinit {
    leaveWindow()
    gtk_widget_destroy(widget)
    g_object_unref(widget)
  }

  private func connectSignals() {
    // This paints the background below the pictures.
    signals.connectPainting(of: widget) { [weak self] context in
      cairo_set_source_rgb(context, 0, 0, 0)
      cairo_paint(context)
      // On Wayland, GTK creates the window's surface only when it is about to paint it.
      if let self, gtk_widget_get_mapped(widget) != 0 { enterWindow() }
    }
    signals.connect(widget, "map") { [weak self] in self?.enterWindow() }
    signals.connect(widget, "hierarchy-changed") { [weak self] in self?.followToplevel() }
    for signal in ["unmap", "unrealize"] {
      signals.connect(widget, signal) { [weak self] in self?.leaveWindow() }
    }
    for signal in ["size-allocate", "notify::scale-factor"] {
      signals.connect(widget, signal) { [weak self] in self?.follow() }
    }
  }

  /// Watches the window that contains the widget, which may be moved to another one.
  private func followToplevel() {
    toplevelSignals.disconnectAll()
    guard let toplevel = gtk_widget_get_toplevel(widget), gtk_widget_is_toplevel(toplevel) != 0 else { return }
    toplevelSignals.connect(toplevel, event: "window-state-event") { [weak self] (event: GdkEventWindowState) in
      self?.window?.note(isMinimized: event.new_window_state.isMinimized)
      return false
    }
  }

  private func enterWindow() {
    guard window == nil else { return }
    do throws(PipSinkError) {
      let window = try GTKWidgetWindow(widget)
      try content.show(in: window)
      self.window = window
    } catch {
      // The display server is gone, and GTK's connection with it.
      window = nil
    }
  }

  private func leaveWindow() {
    guard let window else { return }
    content.leaveWindow()
    window.leave()
    self.window = nil
  }

  private func follow() {
    guard let window, window.follow() else { return }
    content.handle(.resized(window.size))
  }

  // MARK: - The pointer

  private func connectPointer() {
    let mask =
      GDK_BUTTON_PRESS_MASK.rawValue | GDK_BUTTON_RELEASE_MASK.rawValue | GDK_POINTER_MOTION_MASK.rawValue
      | GDK_SCROLL_MASK.rawValue | GDK_LEAVE_NOTIFY_MASK.rawValue
    gtk_widget_add_events(widget, gint(mask))
    for signal in ["button-press-event", "button-release-event"] {
      signals.connect(widget, event: signal) { [weak self] (event: GdkEventButton) in
        guard let self else { return false }
        let place = place(event.x, event.y)
        switch event.type {
        case GDK_BUTTON_PRESS:
          return content.handle(.pressed(button: Int(event.button), place, time: event.time))
        case GDK_BUTTON_RELEASE: return content.handle(.released(button: Int(event.button), place))
        default: return false
        }
      }
    }
    signals.connect(widget, event: "motion-notify-event") { [weak self] (event: GdkEventMotion) in
      self.map { $0.content.handle(.moved($0.place(event.x, event.y))) } ?? false
    }
    signals.connect(widget, event: "scroll-event") { [weak self] (event: GdkEventScroll) in
      let deltaX = event.direction == GDK_SCROLL_RIGHT ? 1.0 : event.direction == GDK_SCROLL_LEFT ? -1 : 0
      let deltaY = event.direction == GDK_SCROLL_DOWN ? 1.0 : event.direction == GDK_SCROLL_UP ? -1 : 0
      return self.map {
        $0.content.handle(.scrolled($0.place(event.x, event.y), deltaX: deltaX, deltaY: deltaY))
      } ?? false
    }
    signals.connect(widget, event: "leave-notify-event") { [weak self] (event: GdkEventCrossing) in
      // Moving into the window of a picture does not leave the widget.
      if event.detail != GDK_NOTIFY_INFERIOR { self?.content.handle(.left) }
      return false
    }
  }

  /// Converts a position from GTK's units to pixels.
  private func place(_ x: Double, _ y: Double) -> WindowEvent.Place {
    let scale = Double(gtk_widget_get_scale_factor(widget))
    return WindowEvent.Place(x: x * scale, y: y * scale)
  }
}

/// A widget's area in its window, as a window for a container.
@MainActor
final class GTKWidgetWindow: NativeWindow {
  private let widget: GtkWidgetPointer
  private let tiles: any WindowTileMaker
  private(set) var size = PictureSize(width: 0, height: 0)

  /// Makes the window for a widget.
  ///
  /// - Parameter widget: a widget that is mapped, and lives as long as this object.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  init(_ widget: GtkWidgetPointer) throws(PipSinkError) {
    self.widget = widget
    tiles = try Self.makeTiles(widget)
    follow()
  }

  private static func makeTiles(_ widget: GtkWidgetPointer) throws(PipSinkError) -> any WindowTileMaker {
    guard let own = gtk_widget_get_window(widget), let display = gdk_display_get_default() else {
      throw .system(.displayUnavailable(reason: "the widget is not in a window"))
    }
    if GTKDisplay.kind == .wayland {
      guard let surface = gdk_window_get_toplevel(own).flatMap({ gdk_wayland_window_get_wl_surface($0) }) else {
        throw .system(.displayUnavailable(reason: "the widget's window is not shown yet"))
      }
      return WaylandForeignWindow(try GTKDisplay.waylandConnection(), surface: surface)
    }
    // The server has to know the window before another connection uses it.
    let id = gdk_x11_window_get_xid(own)
    gdk_display_sync(display)
    return try X11ForeignWindow(
      windowID: UInt(id), display: String(cString: gdk_display_get_name(display)))
  }

  /// Notes whether the widget's window is minimised. On Wayland the compositor shows that by its frames.
  func note(isMinimized: Bool) { (tiles as? X11ForeignWindow)?.note(isMinimized: isMinimized) }

  /// Stops using the widget's window.
  func leave() { (tiles as? WaylandForeignWindow)?.leave() }

  /// Updates the position in a Wayland window. The pictures are in subsurfaces of the whole window's surface, which
  /// applies their new places when it is painted.
  private func followInSurface(_ scale: Int) {
    guard let tiles = tiles as? WaylandForeignWindow, let own = gtk_widget_get_window(widget) else { return }
    let toplevel = gdk_window_get_toplevel(own)
    var (next, x, y): (OpaquePointer?, Int, Int) = (own, 0, 0)
    while let window = next, window != toplevel {
      var (dx, dy): (gint, gint) = (0, 0)
      gdk_window_get_position(window, &dx, &dy)
      (x, y) = (x + Int(dx), y + Int(dy))
      next = gdk_window_get_parent(window)
    }
    tiles.scale = Double(scale)
    tiles.origin = (x, y)
    gtk_widget_queue_draw(widget)
  }

  /// Updates position and size after the widget has changed.
  ///
  /// - Returns: whether the size has changed.
  @discardableResult
  func follow() -> Bool {
    let scale = Int(gtk_widget_get_scale_factor(widget))
    followInSurface(scale)
    let width = Int(gtk_widget_get_allocated_width(widget)) * scale
    let height = Int(gtk_widget_get_allocated_height(widget)) * scale
    // GTK allocates one pixel to a widget that has no place.
    let new = width > 1 && height > 1 ? PictureSize(width: width, height: height) : PictureSize(width: 0, height: 0)
    defer { size = new }
    return new != size
  }

  var scale: Double { Double(gtk_widget_get_scale_factor(widget)) }
  var isBroken: Bool { tiles.isBroken }
  func makeTile(decoration: WindowOverlay, renderer: WindowRenderer) throws(PipSinkError) -> any WindowTile {
    try tiles.makeTile(decoration: decoration, renderer: renderer)
  }
  func remove(_ tile: any WindowTile) { tiles.remove(tile) }
  func flush() { tiles.flush() }

  var look: DesktopLook {
    let settings = UnsafeMutableRawPointer(gtk_settings_get_for_screen(gtk_widget_get_screen(widget)))?
      .assumingMemoryBound(to: GObject.self)
    func read<Result>(_ name: String, _ body: (inout GValue) -> Result) -> Result {
      var value = GValue()
      defer { g_value_unset(&value) }
      g_object_get_property(settings, name, &value)
      return body(&value)
    }
    var look = DesktopLook()
    look.animates = read("gtk-enable-animations") { g_value_get_boolean(&$0) != 0 }
    look.textScale = DesktopLook.textScale(resolution: read("gtk-xft-dpi") { Int(g_value_get_int(&$0)) })
    look.hasHighContrast = read("gtk-theme-name") { value in
      g_value_get_string(&value).map { DesktopLook.hasHighContrast(theme: String(cString: $0)) } ?? false
    }
    return look
  }
}
