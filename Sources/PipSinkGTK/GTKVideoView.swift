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
  /// Asks for the widget to be painted, from any thread.
  private let painting: IdleCall
  /// Tells the surface that what was painted has gone to the display server.
  private let afterPainting: IdleCall
  let signals = SignalConnections()
  private var toplevel: GtkWidgetPointer?
  private let toplevelSignals = SignalConnections()
  private var isMapped = false
  private var isMinimized = false
  private var isObscured = false
  private var lastSize: PictureSize?

  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init() throws(PipSinkError) {
    try GTKDisplay.open()
    widget = gtk_drawing_area_new()
    g_object_ref_sink(widget)
    let painting = IdleCall(priority: G_PRIORITY_HIGH_IDLE) { [widget] in gtk_widget_queue_draw(widget) }
    let surface = GTKVideoSurface(presenter: GTKDisplay.makePresenter()) { painting.request() }
    // GDK sends what it has painted before the next idle moment.
    afterPainting = IdleCall(priority: G_PRIORITY_DEFAULT_IDLE) { if !GTKDisplay.isLost { surface.didPaint() } }
    (self.painting, self.surface) = (painting, surface)
    connectSignals()
  }

  isolated deinit {
    painting.cancel()
    surface.update(size: nil, isVisible: false)
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

  private func connectSignals() {
    gtk_widget_add_events(widget, gint(GDK_VISIBILITY_NOTIFY_MASK.rawValue))
    signals.connectPainting(of: widget) { [weak self] in self?.paint($0) }
    for signal in ["size-allocate", "notify::scale-factor"] {
      signals.connect(widget, signal) { [weak self] in self?.update() }
    }
    signals.connect(widget, "map") { [weak self] in self?.setMapped(true) }
    signals.connect(widget, "unmap") { [weak self] in self?.setMapped(false) }
    signals.connect(widget, "hierarchy-changed") { [weak self] in self?.followToplevel() }
    signals.connect(widget, event: "visibility-notify-event") { [weak self] (event: GdkEventVisibility) in
      self?.isObscured = event.state == GDK_VISIBILITY_FULLY_OBSCURED
      self?.update()
      return false
    }
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
      .map { gdk_window_get_state($0).isMinimized } ?? false
    guard let current else { return }
    toplevelSignals.connect(current, event: "window-state-event") { [weak self] (event: GdkEventWindowState) in
      self?.isMinimized = event.new_window_state.isMinimized
      self?.update()
      return false
    }
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
    afterPainting.request()
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
