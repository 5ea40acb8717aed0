import CGTK
import PipSink

/// An app's window: its streams' pictures, in a ``GridVideoView`` or a ``SplitVideoView`` for instance, and a help text.
@MainActor
public final class VideoWindow {
  public static let title = "PipSink"
  /// The role (X11) by which window managers know it.
  public static let role = "in-app"

  public let content: any GTKWidgetOwner
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
  /// - Parameters:
  ///   - content: fills it.
  ///   - size: in GTK's pixels.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init(content: any GTKWidgetOwner, size: PictureSize) throws(PipSinkError) {
    try GTKDisplay.open()
    Style.install()
    self.content = content
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
    gtk_container_add(overlay.asContainer, content.widgetPointer)
    gtk_overlay_add_overlay(overlay.cast(), help)
    connectSignals()
  }

  isolated deinit {
    if !GTKDisplay.isLost {
      GTKDisplay.waylandActivation?.forget(window)
      gtk_widget_destroy(window)
      g_object_unref(window)
    }
  }

  public func show() {
    guard !GTKDisplay.isLost else { return }
    gtk_widget_show(overlay)
    gtk_widget_show(content.widgetPointer)
    gtk_widget_show(window)
  }

  public func hide() {
    if !GTKDisplay.isLost { gtk_widget_hide(window) }
  }

  /// Shows it again where it was minimised, covered, or on another workspace.
  public func present() {
    GTKDisplay.present(window)
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

  private func connectSignals() {
    signals.connect(window, event: "delete-event") { [weak self] (_: GdkEventAny) in
      self?.didRequestClose?()
      return true
    }
    signals.connect(window, event: "key-press-event") { [weak self] (event: GdkEventKey) in
      self?.keyPressed?(event.keyval) ?? false
    }
  }
}
