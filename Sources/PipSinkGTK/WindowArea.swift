import CGTK
import PipSink

/// Where a widget's pixels lie in what the display server knows as its window.
struct WindowArea: Sendable {
  /// On X11 the window's XID, on Wayland the address of its wl_surface.
  let windowID: UInt
  /// Of the widget's upper left corner in the window, in pixels.
  let origin: (x: Int, y: Int)
  /// The widget's, in pixels.
  let size: PictureSize
  /// Pixels of the screen for one of GTK's.
  let scale: Int
  /// The parts of the widget that nothing covers, in its own pixels.
  let rectangles: [PictureRect]

  /// Widgets with this style class are opaque: what they cover need not be painted again for every frame.
  static let opaqueClass = "pipsink-opaque"
}

extension WindowArea {
  /// - Returns: nil when the widget has no such window, or when something transparent lies over it, which only GTK can
  ///   blend with the picture.
  @MainActor
  init?(of widget: GtkWidgetPointer, size: PictureSize, scale: Int) {
    guard let own = gtk_widget_get_window(widget), gtk_widget_get_has_window(widget) != 0 else { return nil }
    guard let (window, x, y) = Self.nativeWindow(of: own), let id = Self.identifier(of: window) else { return nil }
    let region = gdk_window_get_clip_region(own)
    defer { cairo_region_destroy(region) }
    guard Self.subtractCovers(of: widget, from: region) else { return nil }
    windowID = id
    self.size = size
    self.scale = scale
    origin = (x * scale, y * scale)
    rectangles = (0..<cairo_region_num_rectangles(region)).map { index in
      var rectangle = cairo_rectangle_int_t()
      cairo_region_get_rectangle(region, index, &rectangle)
      return PictureRect(
        x: Int(rectangle.x) * scale, y: Int(rectangle.y) * scale, width: Int(rectangle.width) * scale,
        height: Int(rectangle.height) * scale)
    }
  }

  @MainActor
  private static func identifier(of window: OpaquePointer) -> UInt? {
    switch GTKDisplay.kind {
    case .x11: gdk_x11_window_get_xid(window)
    // There is none before the window is shown and after it is hidden.
    case .wayland: gdk_wayland_window_get_wl_surface(window).map { UInt(bitPattern: $0) }
    case nil: nil
    }
  }

  /// The window that the display server knows in which a GdkWindow is drawn, and where.
  @MainActor
  private static func nativeWindow(of own: OpaquePointer) -> (OpaquePointer, x: Int, y: Int)? {
    var (window, x, y) = (own, 0, 0)
    while gdk_window_has_native(window) == 0 {
      var (dx, dy): (gint, gint) = (0, 0)
      gdk_window_get_position(window, &dx, &dy)
      guard gdk_window_get_window_type(window) != GDK_WINDOW_OFFSCREEN, let parent = gdk_window_get_parent(window)
      else { return nil }
      (window, x, y) = (parent, x + Int(dx), y + Int(dy))
    }
    return (window, x, y)
  }

  /// Takes what lies over the widget, in its coordinates, from a region: brothers and sisters of it and of what
  /// contains it.
  ///
  /// - Returns: whether all of them are opaque.
  @MainActor
  private static func subtractCovers(of widget: GtkWidgetPointer, from region: OpaquePointer?) -> Bool {
    let (width, height) = (gtk_widget_get_allocated_width(widget), gtk_widget_get_allocated_height(widget))
    var branch = widget
    while let parent = gtk_widget_get_parent(branch) {
      let children = gtk_container_get_children(parent.asContainer)
      defer { g_list_free(children) }
      var node = children
      while let link = node {
        node = link.pointee.next
        guard let data = link.pointee.data else { continue }
        let child = data.assumingMemoryBound(to: GtkWidget.self)
        guard child != branch, gtk_widget_get_mapped(child) != 0 else { continue }
        // GtkOverlay lays its main child below all others, which are in their order.
        if pipsink_is_below(parent, child, branch) != 0 { continue }
        var cover = cairo_rectangle_int_t(
          x: 0, y: 0, width: gtk_widget_get_allocated_width(child), height: gtk_widget_get_allocated_height(child))
        guard gtk_widget_translate_coordinates(child, widget, 0, 0, &cover.x, &cover.y) != 0, cover.x < width,
          cover.y < height, cover.x + cover.width > 0, cover.y + cover.height > 0
        else { continue }
        guard gtk_style_context_has_class(gtk_widget_get_style_context(child), opaqueClass) != 0 else { return false }
        cairo_region_subtract_rectangle(region, &cover)
      }
      branch = parent
    }
    return true
  }
}
