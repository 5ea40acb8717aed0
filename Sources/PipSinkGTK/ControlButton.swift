import CGTK
import PipSinkWindows

/// A button over a picture, with a picture of its own (``ControlIcon``).
@MainActor
final class ControlButton {
  let widget: GtkWidgetPointer
  private let picture: GtkWidgetPointer
  private let signals = SignalConnections()

  var icon: ControlIcon {
    didSet {
      guard icon != oldValue, !GTKDisplay.isLost else { return }
      setLabel()
      gtk_widget_queue_draw(picture)
    }
  }

  init(_ icon: ControlIcon, pressed: @escaping @MainActor () -> Void) {
    self.icon = icon
    widget = gtk_button_new()
    g_object_ref_sink(widget)
    picture = gtk_drawing_area_new()
    gtk_widget_set_size_request(picture, 16, 16)
    gtk_widget_set_has_window(picture, 0)
    gtk_button_set_relief(widget.cast(), GTK_RELIEF_NONE)
    gtk_widget_set_can_focus(widget, 0)
    gtk_style_context_add_class(gtk_widget_get_style_context(widget), "pipsink-control")
    gtk_container_add(widget.asContainer, picture)
    gtk_widget_show(picture)
    signals.connectPainting(of: picture) { [weak self] in self?.icon.draw($0) }
    signals.connect(widget, "clicked", pressed)
    setLabel()
  }

  isolated deinit {
    if !GTKDisplay.isLost { g_object_unref(widget) }
  }

  private func setLabel() {
    gtk_widget_set_tooltip_text(widget, icon.rawValue)
    if let accessible = gtk_widget_get_accessible(widget) { atk_object_set_name(accessible, icon.rawValue) }
  }
}
