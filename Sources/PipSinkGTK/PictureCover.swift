import CGTK

/// A text that stands instead of a picture, all of which it hides.
@MainActor
final class PictureCover {
  private let label: GtkWidgetPointer
  private let fade: Fade
  private let signals = SignalConnections()

  init() {
    label = gtk_label_new(nil)
    g_object_ref_sink(label)
    fade = Fade(label)
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

  /// What stands there; nil where the picture is shown.
  private(set) var text: String?

  /// - Parameters:
  ///   - text: nil shows the picture.
  ///   - fades: whether the picture goes into the text, or the text into the picture, in a short time.
  func show(_ text: String?, fades: Bool = false) {
    guard text != self.text, !GTKDisplay.isLost else { return }
    let wasShown = self.text != nil
    self.text = text
    // What fades away is still read.
    if let text { gtk_label_set_text(label.cast(), text) }
    guard fades, wasShown != (text != nil) else {
      fade.stop(at: 1)
      isOpaque = true
      return gtk_widget_set_visible(label, text == nil ? 0 : 1)
    }
    isOpaque = false
    if text != nil {
      // One that has not faded away yet comes back from where it is.
      if gtk_widget_get_visible(label) == 0 { fade.stop(at: 0) }
      gtk_widget_show(label)
      fade.run(to: 1) { [weak self] in self?.isOpaque = true }
    } else {
      fade.run(to: 0) { [label] in gtk_widget_hide(label) }
    }
  }

  /// Whether what it lies over has to be painted no more.
  private var isOpaque = true {
    didSet {
      guard isOpaque != oldValue else { return }
      let style = gtk_widget_get_style_context(label)
      if isOpaque {
        gtk_style_context_add_class(style, WindowArea.opaqueClass)
      } else {
        gtk_style_context_remove_class(style, WindowArea.opaqueClass)
      }
      // The picture learns of it when it is painted.
      gtk_widget_queue_draw(label)
    }
  }
}
