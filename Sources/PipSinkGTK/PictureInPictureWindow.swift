import CGTK
import Logging
import PipSink

/// A small window above all others that shows one stream.
///
/// It has no border, is on all workspaces, in no taskbar or pager, and takes no focus when it appears. It is moved by
/// dragging it anywhere and then goes to the nearest corner of the screen, is resized at its edges, and keeps the shape
/// of its picture. On X11 that is asked of the window manager (EWMH); on Wayland it is a surface on layer-shell's
/// overlay layer, or, where the compositor has none, an ordinary window with one warning.
@MainActor
public final class PictureInPictureWindow {
  /// The role (X11) and namespace (layer-shell) by which window managers know these windows.
  public static let role = "picture-in-picture"
  /// Distance from the edges of the screen, in GTK's pixels.
  static let margin = 16
  static let minimumWidth = 96

  public let view: GTKVideoView
  /// The user closed the window by the window manager.
  public var didRequestClose: (() -> Void)?
  /// A key was pressed in it; says whether it meant something.
  public var keyPressed: ((_ keyval: UInt32) -> Bool)?

  let window: GtkWidgetPointer
  let isLayer: Bool
  var placement: WindowPlacement
  private let placementPath: String?
  private let signals = SignalConnections()
  private lazy var pointer = WindowPointer(self)
  private static var hasWarned = false

  /// Makes the window; ``show()`` shows it.
  ///
  /// - Parameters:
  ///   - placement: where it is when nothing was remembered.
  ///   - placementPath: the file to remember its place in; nil to forget it.
  /// - Throws: ``PipSinkError/displayUnavailable(reason:)``.
  public init(
    streamID: StreamID, placement: WindowPlacement = WindowPlacement(),
    placementPath: String? = WindowPlacement.defaultPath
  ) throws(PipSinkError) {
    let kind = try GTKDisplay.open()
    view = try GTKVideoView()
    self.placementPath = placementPath
    self.placement = placementPath.flatMap { WindowPlacement.load(from: $0) } ?? placement
    window = gtk_window_new(GTK_WINDOW_TOPLEVEL)
    g_object_ref(window)
    isLayer = GTKDisplay.hasLayerShell
    if kind == .wayland, !isLayer, !Self.hasWarned {
      Self.hasWarned = true
      Logger(label: "pipsink.gtk").warning(
        """
        this Wayland compositor has no layer-shell, so that picture-in-picture cannot stay above other windows; it is an \
        ordinary window
        """)
    }
    setUp()
    self.streamID = streamID
    setTitle()
  }

  isolated deinit {
    signals.disconnectAll()
    if !GTKDisplay.isLost {
      gtk_widget_destroy(window)
      g_object_unref(window)
    }
  }

  /// The stream it shows, for its title.
  public var streamID: StreamID = "" {
    didSet { setTitle() }
  }

  /// Width divided by height of the picture; the window takes its shape. nil leaves it free.
  public var aspectRatio: Double? {
    didSet {
      guard aspectRatio != oldValue else { return }
      resize(toWidth: placement.width)
    }
  }

  public var isVisible: Bool { !GTKDisplay.isLost && gtk_widget_get_visible(window) != 0 }

  public func show() {
    guard !GTKDisplay.isLost else { return }
    snap(to: placement.corner)
    if !isLayer {
      // Window managers forget these when a window is hidden.
      gtk_window_set_keep_above(window.asWindow, 1)
      gtk_window_stick(window.asWindow)
    }
    gtk_widget_show_all(window)
    // Some window managers place a window when it is mapped.
    snap(to: placement.corner)
  }

  public func hide() {
    guard !GTKDisplay.isLost else { return }
    gtk_widget_hide(window)
  }

  // MARK: - Set-up

  private func setUp() {
    let window = window.asWindow
    gtk_window_set_decorated(window, 0)
    gtk_window_set_role(window, Self.role)
    gtk_window_set_accept_focus(window, 1)
    gtk_window_set_focus_on_map(window, 0)
    if isLayer {
      // With a default size instead, gtk-layer-shell 0.8 never draws the window.
      gtk_widget_set_size_request(self.window, gint(placement.width), gint(placement.height))
      gtk_layer_init_for_window(window)
      gtk_layer_set_namespace(window, Self.role)
      gtk_layer_set_layer(window, GTK_LAYER_SHELL_LAYER_OVERLAY)
    } else {
      gtk_window_set_default_size(window, gint(placement.width), gint(placement.height))
      gtk_window_set_type_hint(window, GDK_WINDOW_TYPE_HINT_UTILITY)
      gtk_window_set_skip_taskbar_hint(window, 1)
      gtk_window_set_skip_pager_hint(window, 1)
    }
    gtk_container_add(self.window.asContainer, view.widget)
    connectSignals()
  }

  private func setTitle() {
    guard !GTKDisplay.isLost else { return }
    gtk_window_set_title(window.asWindow, "Picture in Picture: \(streamID)")
  }

  private typealias ScreenHandler = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void

  private func connectSignals() {
    let mask = GDK_BUTTON_PRESS_MASK.rawValue | GDK_BUTTON_RELEASE_MASK.rawValue | GDK_BUTTON1_MOTION_MASK.rawValue
    gtk_widget_add_events(window, gint(mask))
    // A new value of a C structure's pointee may not leave the handler, so what is needed of it is taken out here.
    let pressed: GdkEventButtonHandler = { _, event, window in
      guard let event = event?.pointee, event.button == 1, event.type == GDK_BUTTON_PRESS else { return 0 }
      MainActor.assumeIsolated {
        object(window, as: PictureInPictureWindow.self)?.pointer.press(
          .init(x: event.x, y: event.y, rootX: event.x_root, rootY: event.y_root))
      }
      return 1
    }
    signals.connect(window, "button-press-event", to: self, pressed)
    let moved: GdkEventMotionHandler = { _, event, window in
      guard let event = event?.pointee else { return 0 }
      MainActor.assumeIsolated {
        object(window, as: PictureInPictureWindow.self)?.pointer.move(
          .init(x: event.x, y: event.y, rootX: event.x_root, rootY: event.y_root))
      }
      return 1
    }
    signals.connect(window, "motion-notify-event", to: self, moved)
    let released: GdkEventButtonHandler = { _, event, window in
      guard event?.pointee.button == 1 else { return 0 }
      MainActor.assumeIsolated { object(window, as: PictureInPictureWindow.self)?.pointer.release() }
      return 1
    }
    signals.connect(window, "button-release-event", to: self, released)
    let configured: GdkEventConfigureHandler = { _, event, window in
      guard let event = event?.pointee else { return 0 }
      MainActor.assumeIsolated {
        object(window, as: PictureInPictureWindow.self)?.didConfigure(
          width: Int(event.width), height: Int(event.height))
      }
      return 0
    }
    signals.connect(window, "configure-event", to: self, configured)
    let deleted: GdkEventAnyHandler = { _, _, window in
      MainActor.assumeIsolated { object(window, as: PictureInPictureWindow.self)?.didRequestClose?() }
      return 1
    }
    signals.connect(window, "delete-event", to: self, deleted)
    let key: GdkEventKeyHandler = { _, event, window in
      guard let keyval = event?.pointee.keyval else { return 0 }
      return MainActor.assumeIsolated {
        object(window, as: PictureInPictureWindow.self)?.keyPressed?(keyval) == true ? 1 : 0
      }
    }
    signals.connect(window, "key-press-event", to: self, key)
    guard let screen = gdk_screen_get_default() else { return }
    let changed: ScreenHandler = { _, window in
      MainActor.assumeIsolated { object(window, as: PictureInPictureWindow.self)?.monitorsDidChange() }
    }
    signals.connect(UnsafeMutableRawPointer(screen), "monitors-changed", to: self, changed)
    signals.connect(UnsafeMutableRawPointer(screen), "size-changed", to: self, changed)
  }

  /// The window may be on a monitor that is not there any more, or where the work area was.
  private func monitorsDidChange() {
    if isVisible { snap(to: placement.corner) }
  }

  private func didConfigure(width: Int, height: Int) {
    // Before it is shown, and while it has an older size, what was asked for counts.
    guard isVisible, width > 1, height > 1, !pointer.isActive else { return }
    guard (width, height) != (placement.width, placement.height) else { return }
    placement.width = width
    placement.height = height
    remember()
  }

  func remember() {
    if let placementPath { placement.save(to: placementPath) }
  }
}
