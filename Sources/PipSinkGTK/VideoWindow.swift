import CGTK
import PipSink

/// An app's window with its streams' pictures: in a grid, or the local one beside a remote one.
@MainActor
public final class VideoWindow {
  public enum Layout: String, CaseIterable, Sendable {
    /// All streams, in rows and columns.
    case grid
    /// The first stream alone or beside the second.
    case split
  }

  public static let title = "PipSink"
  /// The role (X11) by which window managers know it.
  public static let role = "in-app"

  public private(set) var views: [RemoteVideoView] = []
  public var layout: Layout {
    didSet { rearrange() }
  }
  /// In the split layout: whether the second stream is shown.
  public var showsRemote = true {
    didSet { rearrange() }
  }
  /// The user closed the window.
  public var didRequestClose: (() -> Void)?
  /// A key was pressed; says whether it meant something.
  public var keyPressed: ((_ keyval: UInt32) -> Bool)?

  let window: GtkWidgetPointer
  private let overlay: GtkWidgetPointer
  private let help: GtkWidgetPointer
  private let signals = SignalConnections()
  private var isFullscreen = false

  /// Makes the window; ``show()`` shows it.
  ///
  /// - Parameter size: in GTK's pixels.
  /// - Throws: ``PipSinkError/displayUnavailable(reason:)``.
  public init(size: PictureSize, layout: Layout = .grid) throws(PipSinkError) {
    try GTKDisplay.open()
    Style.install()
    self.layout = layout
    window = gtk_window_new(GTK_WINDOW_TOPLEVEL)
    g_object_ref(window)
    gtk_window_set_title(window.asWindow, Self.title)
    gtk_window_set_role(window.asWindow, Self.role)
    gtk_window_set_default_size(window.asWindow, gint(size.width), gint(size.height))
    gtk_style_context_add_class(gtk_widget_get_style_context(window), "pipsink")
    overlay = gtk_overlay_new()
    help = gtk_label_new(nil)
    gtk_widget_set_no_show_all(help, 1)
    gtk_style_context_add_class(gtk_widget_get_style_context(help), "pipsink-help")
    gtk_container_add(window.asContainer, overlay)
    gtk_container_add(overlay.asContainer, gtk_drawing_area_new())
    gtk_overlay_add_overlay(overlay.cast(), help)
    connectSignals()
  }

  isolated deinit {
    signals.disconnectAll()
    views = []
    if !GTKDisplay.isLost {
      gtk_widget_destroy(window)
      g_object_unref(window)
    }
  }

  /// Adds a stream's view behind those that are there.
  public func add(_ view: RemoteVideoView) {
    views.append(view)
    gtk_overlay_add_overlay(overlay.cast(), view.overlay)
    gtk_overlay_reorder_overlay(overlay.cast(), help, -1)
    gtk_widget_show_all(view.overlay)
    rearrange()
  }

  public func remove(_ view: RemoteVideoView) {
    guard let index = views.firstIndex(where: { $0 === view }) else { return }
    views.remove(at: index)
    gtk_container_remove(overlay.asContainer, view.overlay)
    rearrange()
  }

  public func show() {
    guard !GTKDisplay.isLost else { return }
    gtk_widget_show_all(window)
    rearrange()
  }

  public func toggleFullscreen() {
    guard !GTKDisplay.isLost else { return }
    isFullscreen.toggle()
    isFullscreen ? gtk_window_fullscreen(window.asWindow) : gtk_window_unfullscreen(window.asWindow)
  }

  /// Shows a text over everything, or takes it away.
  public func toggleHelp(_ text: String) {
    guard !GTKDisplay.isLost else { return }
    gtk_label_set_text(help.cast(), text)
    gtk_widget_set_halign(help, GTK_ALIGN_CENTER)
    gtk_widget_set_valign(help, GTK_ALIGN_CENTER)
    gtk_widget_set_visible(help, gtk_widget_get_visible(help) == 0 ? 1 : 0)
  }

  // MARK: - Layout

  /// Where a view goes in a window of `size`; nil where it is not shown.
  private func frame(of child: GtkWidgetPointer, in size: PictureSize) -> PictureRect? {
    guard let index = views.firstIndex(where: { $0.overlay == child }) else { return nil }
    switch layout {
    case .grid:
      return GridLayout.frames(count: views.count, in: size)[index]
    case .split:
      let frames = SplitLayout.frames(in: size, showsRemote: showsRemote && views.count > 1)
      return index == 0 ? frames.local : index == 1 ? frames.remote : nil
    }
  }

  private func rearrange() {
    guard !GTKDisplay.isLost else { return }
    for (index, view) in views.enumerated() {
      let isShown = layout == .grid || index == 0 || (index == 1 && showsRemote)
      gtk_widget_set_visible(view.overlay, isShown ? 1 : 0)
    }
    gtk_widget_queue_resize(overlay)
  }

  private typealias ChildPositionHandler =
    @convention(c) (
      GtkWidgetPointer?, GtkWidgetPointer?, UnsafeMutablePointer<GdkRectangle>?, UnsafeMutableRawPointer?
    ) -> gboolean

  private func connectSignals() {
    let position: ChildPositionHandler = { overlay, child, allocation, window in
      guard let overlay, let child, let allocation else { return 0 }
      let rectangle = MainActor.assumeIsolated { () -> PictureRect? in
        let size = PictureSize(
          width: Int(gtk_widget_get_allocated_width(overlay)), height: Int(gtk_widget_get_allocated_height(overlay)))
        return object(window, as: VideoWindow.self)?.frame(of: child, in: size)
      }
      guard let rectangle else { return 0 }
      allocation.pointee = GdkRectangle(
        x: gint(rectangle.x), y: gint(rectangle.y), width: gint(rectangle.width), height: gint(rectangle.height))
      return 1
    }
    signals.connect(overlay, "get-child-position", to: self, position)
    let deleted: GdkEventAnyHandler = { _, _, window in
      MainActor.assumeIsolated { object(window, as: VideoWindow.self)?.didRequestClose?() }
      return 1
    }
    signals.connect(window, "delete-event", to: self, deleted)
    let key: GdkEventKeyHandler = { _, event, window in
      guard let keyval = event?.pointee.keyval else { return 0 }
      return MainActor.assumeIsolated {
        object(window, as: VideoWindow.self)?.keyPressed?(keyval) == true ? 1 : 0
      }
    }
    signals.connect(window, "key-press-event", to: self, key)
  }
}
