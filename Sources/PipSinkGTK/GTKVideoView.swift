import CGTK
import PipSink

/// A GTK 3 widget that shows a stream's frames.
///
/// A ``SampleBufferDisplayLayer`` is attached to its ``renderer``. Frames are converted on the layer's thread, at the
/// size of the widget in pixels of the screen, and only while somebody can see it: not while it is hidden, without
/// size, in a minimised window or (where the display server tells) fully covered. GTK paints when there is a new frame,
/// and not otherwise.
@MainActor
public final class GTKVideoView: GTKWidgetOwner {
  public var unsafeGtkWidget: UnsafeMutableRawPointer { UnsafeMutableRawPointer(widget) }
  /// What a display layer is attached to. Usable from every thread, also when the view has gone.
  public var renderer: any VideoRenderer { surface }
  /// Called when the view's size in pixels changes.
  public var renderSizeDidChange: ((PictureSize) -> Void)?

  let widget: GtkWidgetPointer
  let surface: GTKVideoSurface
  /// What the pointer does on the view. Set once, when the view is made.
  public var pointerHandler: ((PointerEvent) -> Void)? {
    didSet { if oldValue == nil { watchPointer() } }
  }
  private let paintTarget: PaintTarget
  let signals = SignalConnections()
  private var toplevel: GtkWidgetPointer?
  private let toplevelSignals = SignalConnections()
  private var isMapped = false
  private var isMinimized = false
  private var isObscured = false
  private var lastSize: PictureSize?

  /// - Throws: ``PipSinkError/displayUnavailable(reason:)``.
  public init() throws(PipSinkError) {
    try GTKDisplay.open()
    widget = gtk_drawing_area_new()
    g_object_ref_sink(widget)
    let target = PaintTarget(widget)
    paintTarget = target
    surface = GTKVideoSurface(presenter: GTKDisplay.makePresenter()) { target.requestPaint() }
    connectSignals()
  }

  isolated deinit {
    paintTarget.widget = nil
    surface.update(size: nil, isVisible: false)
    signals.disconnectAll()
    toplevelSignals.disconnectAll()
    if !GTKDisplay.isLost {
      surface.leaveWindow()
      gtk_widget_destroy(widget)
      g_object_unref(widget)
    }
  }

  /// The view's size in pixels of the screen; nil while it has none.
  public var renderSize: PictureSize? { surface.renderSize }

  /// Frames that were converted for this view so far: none while nobody can see it.
  public var convertedFrameCount: UInt64 { surface.convertedCount }

  /// A copy of the picture that is shown, in pixels of the screen; nil when none is.
  public func image() -> BGRAImage? { surface.image() }

  // MARK: - Signals

  private typealias Simple = @convention(c) (GtkWidgetPointer?, UnsafeMutableRawPointer?) -> Void
  private typealias Moving = @convention(c) (GtkWidgetPointer?, GtkWidgetPointer?, UnsafeMutableRawPointer?) -> Void
  private typealias Drawing = @convention(c) (GtkWidgetPointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> gboolean
  private typealias Allocation =
    @convention(c) (
      GtkWidgetPointer?, UnsafeMutablePointer<GdkRectangle>?, UnsafeMutableRawPointer?
    ) -> Void
  private typealias Notification =
    @convention(c) (
      GtkWidgetPointer?, OpaquePointer?, UnsafeMutableRawPointer?
    ) -> Void
  private func connectSignals() {
    gtk_widget_add_events(widget, gint(GDK_VISIBILITY_NOTIFY_MASK.rawValue))
    let draw: Drawing = { _, context, view in
      MainActor.assumeIsolated {
        if let context { object(view, as: GTKVideoView.self)?.paint(context) }
      }
      return 1
    }
    signals.connect(widget, "draw", to: self, draw)
    let allocated: Allocation = { _, _, view in
      MainActor.assumeIsolated { object(view, as: GTKVideoView.self)?.update() }
    }
    signals.connect(widget, "size-allocate", to: self, allocated)
    let notified: Notification = { _, _, view in
      MainActor.assumeIsolated { object(view, as: GTKVideoView.self)?.update() }
    }
    signals.connect(widget, "notify::scale-factor", to: self, notified)
    let mapped: Simple = { _, view in
      MainActor.assumeIsolated { object(view, as: GTKVideoView.self)?.setMapped(true) }
    }
    signals.connect(widget, "map", to: self, mapped)
    let unmapped: Simple = { _, view in
      MainActor.assumeIsolated { object(view, as: GTKVideoView.self)?.setMapped(false) }
    }
    signals.connect(widget, "unmap", to: self, unmapped)
    let moved: Moving = { _, _, view in
      MainActor.assumeIsolated { object(view, as: GTKVideoView.self)?.followToplevel() }
    }
    signals.connect(widget, "hierarchy-changed", to: self, moved)
    let visibility: GdkEventVisibilityHandler = { _, event, view in
      let isObscured = event?.pointee.state == GDK_VISIBILITY_FULLY_OBSCURED
      MainActor.assumeIsolated {
        guard let view = object(view, as: GTKVideoView.self) else { return }
        view.isObscured = isObscured
        view.update()
      }
      return 0
    }
    signals.connect(widget, "visibility-notify-event", to: self, visibility)
  }

  private func setMapped(_ isMapped: Bool) {
    self.isMapped = isMapped
    if !isMapped { surface.leaveWindow() }
    update()
  }

  /// A view may be moved to another window. The one that it leaves is let go of at once: its display may be closed next,
  /// and GTK looks at that when it frees the window.
  private func followToplevel() {
    let current = gtk_widget_get_toplevel(widget).flatMap { gtk_widget_is_toplevel($0) != 0 ? $0 : nil }
    guard current != toplevel else { return }
    toplevelSignals.disconnectAll()
    toplevel = current
    // The next one says when it is minimised; while it is, it is not changed.
    isMinimized =
      current.flatMap { gtk_widget_get_mapped($0) != 0 ? gtk_widget_get_window($0) : nil }
      .map { PipSinkGTK.isMinimized(gdk_window_get_state($0).rawValue) } ?? false
    guard let current else { return }
    let changed: GdkEventWindowStateHandler = { _, event, view in
      let state = event?.pointee.new_window_state.rawValue ?? 0
      MainActor.assumeIsolated {
        guard let view = object(view, as: GTKVideoView.self) else { return }
        view.isMinimized = PipSinkGTK.isMinimized(state)
        view.update()
      }
      return 0
    }
    toplevelSignals.connect(current, "window-state-event", to: self, changed)
  }

  private func update(isPainting: Bool = false) {
    let scale = Int(gtk_widget_get_scale_factor(widget))
    let width = Int(gtk_widget_get_allocated_width(widget)) * scale
    let height = Int(gtk_widget_get_allocated_height(widget)) * scale
    // GTK allocates a pixel to a widget that has no place.
    let window = gtk_widget_get_window(widget)
    let size = width > 1 && height > 1 && window != nil ? PictureSize(width: width, height: height) : nil
    let area = size.flatMap { isMapped ? WindowArea(of: widget, size: $0, scale: scale) : nil }
    let mustPaint = surface.update(
      size: size, isVisible: isMapped && !isMinimized && !isObscured, window: window, area: area)
    if mustPaint, !isPainting { gtk_widget_queue_draw(widget) }
    if let size, size != lastSize {
      lastSize = size
      renderSizeDidChange?(size)
    }
  }

  // MARK: - Painting

  private func paint(_ context: OpaquePointer) {
    // Something may lie over the view now that did not before, or no longer.
    update(isPainting: true)
    noteWhenPainted()
    guard let picture = surface.pictureToPaint() else {
      cairo_set_source_rgb(context, 0, 0, 0)
      cairo_paint(context)
      return
    }
    let scale = Double(gtk_widget_get_scale_factor(widget))
    cairo_surface_mark_dirty(picture.surface)
    cairo_surface_set_device_scale(picture.surface, scale, scale)
    let width = Double(gtk_widget_get_allocated_width(widget)) * scale
    let height = Double(gtk_widget_get_allocated_height(widget)) * scale
    // Until a picture of the new size arrives, the old one is stretched.
    if width != Double(picture.size.width) || height != Double(picture.size.height) {
      cairo_scale(context, width / Double(picture.size.width), height / Double(picture.size.height))
    }
    cairo_set_source_surface(context, picture.surface, 0, 0)
    cairo_set_operator(context, CAIRO_OPERATOR_SOURCE)
    cairo_paint(context)
  }
}

extension GTKVideoView {
  /// Tells the surface when what is painted now has gone to the display server: GDK sends it before the next idle
  /// moment.
  private func noteWhenPainted() {
    g_idle_add_full(
      G_PRIORITY_DEFAULT_IDLE,
      { surface in
        if let surface {
          let surface = Unmanaged<GTKVideoSurface>.fromOpaque(surface).takeUnretainedValue()
          MainActor.assumeIsolated { if !GTKDisplay.isLost { surface.didPaint() } }
        }
        return sourceEnds
      }, Unmanaged.passRetained(surface).toOpaque(),
      { surface in if let surface { Unmanaged<GTKVideoSurface>.fromOpaque(surface).release() } })
  }
}

/// The widget to paint, as other threads know it.
///
/// `@unchecked Sendable`: `widget` is used on the main thread alone.
private final class PaintTarget: @unchecked Sendable {
  var widget: GtkWidgetPointer?

  init(_ widget: GtkWidgetPointer) {
    self.widget = widget
  }

  /// From any thread.
  nonisolated func requestPaint() {
    g_idle_add_full(
      G_PRIORITY_HIGH_IDLE,
      { target in
        guard let target else { return sourceEnds }
        let widget = Unmanaged<PaintTarget>.fromOpaque(target).takeUnretainedValue().widget
        if let widget { gtk_widget_queue_draw(widget) }
        return sourceEnds
      }, Unmanaged.passRetained(self).toOpaque(),
      { target in if let target { Unmanaged<PaintTarget>.fromOpaque(target).release() } })
  }
}
