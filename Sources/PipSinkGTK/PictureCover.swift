import CGTK

/// A text that stands instead of a picture, all of which it hides.
@MainActor
final class PictureCover {
  private let label: GtkWidgetPointer
  private let signals = SignalConnections()

  init() {
    label = gtk_label_new(nil)
    g_object_ref_sink(label)
    let style = gtk_widget_get_style_context(label)
    gtk_style_context_add_class(style, "pipsink-cover")
    gtk_style_context_add_class(style, WindowArea.opaqueClass)
    gtk_label_set_justify(label.cast(), GTK_JUSTIFY_CENTER)
    gtk_label_set_line_wrap(label.cast(), 1)
    // Addresses and paths have no spaces.
    gtk_label_set_line_wrap_mode(label.cast(), PANGO_WRAP_WORD_CHAR)
    gtk_widget_set_no_show_all(label, 1)
  }

  isolated deinit {
    if !GTKDisplay.isLost { g_object_unref(label) }
  }

  /// Puts it over all that a GtkOverlay has so far, where the picture is.
  func add(to overlay: GtkWidgetPointer, over picture: GtkWidgetPointer) {
    PicturePlace.put(label, over: picture, in: overlay, signals) { width, height in
      GdkRectangle(x: 0, y: 0, width: width, height: height)
    }
  }

  /// Nil shows the picture.
  var text: String? {
    didSet {
      guard text != oldValue, !GTKDisplay.isLost else { return }
      gtk_label_set_text(label.cast(), text ?? "")
      gtk_widget_set_visible(label, text == nil ? 0 : 1)
    }
  }
}
