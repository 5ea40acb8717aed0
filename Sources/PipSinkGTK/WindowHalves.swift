import CGTK
import PipSink

/// The pictures of a picture-in-picture window: one that has all of it, or two that have a half each.
@MainActor
struct WindowHalves {
  /// The window's; it belongs to what it is put into.
  let widget: GtkWidgetPointer

  init(left: GTKVideoView) {
    widget = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0)
    gtk_box_set_homogeneous(widget.cast(), 1)
    add(left)
    gtk_widget_show(widget)
  }

  /// Shows a view to the right of those that are there, or hides it.
  func show(_ right: GTKVideoView, _ isShown: Bool) {
    guard !GTKDisplay.isLost else { return }
    if isShown, gtk_widget_get_parent(right.widget) == nil { add(right) }
    gtk_widget_set_visible(right.widget, isShown ? 1 : 0)
  }

  private func add(_ view: GTKVideoView) {
    gtk_box_pack_start(widget.cast(), view.widget, 1, 1, 0)
    gtk_widget_show(view.widget)
  }
}

/// Puts widgets over a picture that has a part of a GtkOverlay.
@MainActor
enum PicturePlace {
  /// Has an overlay's child lie where `picture` is.
  ///
  /// - Parameter frame: of the child in the picture, whose size it is told, in GTK's pixels.
  static func put(
    _ child: GtkWidgetPointer, over picture: GtkWidgetPointer, in overlay: GtkWidgetPointer,
    _ signals: SignalConnections,
    frame: @escaping @MainActor (_ width: gint, _ height: gint) -> GdkRectangle
  ) {
    // By itself the overlay would make a child as high as its text is in the narrowest lines, and the text would be out of
    // the middle.
    signals.connect(overlay, "get-child-position") { (parameters: UnsafePointer<GValue>) in
      guard g_value_get_object(parameters + 1) == UnsafeMutableRawPointer(child),
        let allocation = g_value_get_boxed(parameters + 2)?.assumingMemoryBound(to: GdkRectangle.self)
      else { return false }
      var (place, whole) = (GdkRectangle(), GdkRectangle())
      gtk_widget_get_allocation(picture, &place)
      gtk_widget_get_allocation(overlay, &whole)
      let inside = frame(place.width, place.height)
      allocation.pointee = GdkRectangle(
        x: place.x - whole.x + inside.x, y: place.y - whole.y + inside.y, width: inside.width, height: inside.height)
      return true
    }
    gtk_overlay_add_overlay(overlay.cast(), child)
    // Clicks and drags go through to the picture.
    gtk_overlay_set_overlay_pass_through(overlay.cast(), child, 1)
  }
}
