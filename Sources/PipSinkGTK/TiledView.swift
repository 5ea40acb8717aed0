import CGTK
import PipSink

/// A container that gives every child its own rectangle, anew whenever its size changes.
@MainActor
final class TiledView {
  let widget: GtkWidgetPointer
  private var children: [GtkWidgetPointer] = []
  /// Where each of so many children goes in a size; nil hides it.
  private let layout: (_ count: Int, _ size: PictureSize) -> [PictureRect?]
  private let signals = SignalConnections()

  /// - Parameter layout: returns a rectangle, in GTK's pixels, for each child.
  init(layout: @escaping (_ count: Int, _ size: PictureSize) -> [PictureRect?]) {
    self.layout = layout
    widget = gtk_overlay_new()
    g_object_ref_sink(widget)
    // What an overlay needs below its children; it is black.
    let background = gtk_drawing_area_new()
    gtk_container_add(widget.asContainer, background)
    gtk_widget_show(background)
    let position: ChildPositionHandler = { overlay, child, allocation, view in
      guard let overlay, let child, let allocation else { return 0 }
      let rectangle = MainActor.assumeIsolated { () -> PictureRect? in
        let size = PictureSize(
          width: Int(gtk_widget_get_allocated_width(overlay)), height: Int(gtk_widget_get_allocated_height(overlay)))
        return object(view, as: TiledView.self)?.frame(of: child, in: size)
      }
      guard let rectangle else { return 0 }
      allocation.pointee = GdkRectangle(
        x: gint(rectangle.x), y: gint(rectangle.y), width: gint(rectangle.width), height: gint(rectangle.height))
      return 1
    }
    signals.connect(widget, "get-child-position", to: self, position)
  }

  isolated deinit {
    signals.disconnectAll()
    if !GTKDisplay.isLost {
      gtk_widget_destroy(widget)
      g_object_unref(widget)
    }
  }

  private typealias ChildPositionHandler =
    @convention(c) (
      GtkWidgetPointer?, GtkWidgetPointer?, UnsafeMutablePointer<GdkRectangle>?, UnsafeMutableRawPointer?
    ) -> gboolean

  func add(_ child: GtkWidgetPointer) {
    guard !GTKDisplay.isLost else { return }
    children.append(child)
    gtk_overlay_add_overlay(widget.cast(), child)
    gtk_widget_show_all(child)
    rearrange()
  }

  func remove(_ child: GtkWidgetPointer) {
    guard let index = children.firstIndex(of: child) else { return }
    children.remove(at: index)
    guard !GTKDisplay.isLost else { return }
    gtk_container_remove(widget.asContainer, child)
    rearrange()
  }

  /// To be called when the layout has changed.
  func rearrange() {
    guard !GTKDisplay.isLost else { return }
    // Whether a child is shown does not depend on the size, which may not be known yet.
    let frames = layout(children.count, PictureSize(width: 1920, height: 1080))
    for (child, frame) in zip(children, frames) { gtk_widget_set_visible(child, frame == nil ? 0 : 1) }
    gtk_widget_queue_resize(widget)
  }

  private func frame(of child: GtkWidgetPointer, in size: PictureSize) -> PictureRect? {
    guard let index = children.firstIndex(of: child) else { return nil }
    let frames = layout(children.count, size)
    return frames.indices.contains(index) ? frames[index] : nil
  }
}
