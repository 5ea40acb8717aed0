import CGTK
import PipSinkWindows

/// A crossed microphone in the lower right corner of a picture, while the microphone behind the stream is off.
@MainActor
final class MicrophoneMark {
  private let widget: GtkWidgetPointer
  private let signals = SignalConnections()
  /// Of the mark's sides, and of the icon's edge within it, in GTK's pixels.
  private static let (side, margin) = (24, 4.0)

  init() {
    widget = gtk_drawing_area_new()
    g_object_ref_sink(widget)
    gtk_widget_set_has_window(widget, 0)
    gtk_widget_set_no_show_all(widget, 1)
    // It covers its square, so that the rest of the picture can go past GTK.
    gtk_style_context_add_class(gtk_widget_get_style_context(widget), WindowArea.opaqueClass)
    if let accessible = gtk_widget_get_accessible(widget) {
      atk_object_set_name(accessible, ControlIcon.microphoneOff.rawValue)
    }
    signals.connectPainting(of: widget) { context in
      // As behind the labels.
      cairo_set_source_rgb(context, 28 / 255, 28 / 255, 28 / 255)
      cairo_paint(context)
      cairo_translate(context, Self.margin, Self.margin)
      ControlIcon.microphoneOff.draw(context)
    }
  }

  isolated deinit {
    if !GTKDisplay.isLost { g_object_unref(widget) }
  }

  /// Puts it over all that a GtkOverlay has so far, in the corner of the picture.
  func add(to overlay: GtkWidgetPointer, over picture: GtkWidgetPointer) {
    let side = gint(Self.side)
    PicturePlace.put(widget, over: picture, in: overlay, signals) { width, height in
      GdkRectangle(x: width - side, y: height - side, width: side, height: side)
    }
  }

  var isShown = false {
    didSet {
      if isShown != oldValue, !GTKDisplay.isLost { gtk_widget_set_visible(widget, isShown ? 1 : 0) }
    }
  }
}
