import CGTK
import PipSink
import PipSinkWindows

/// Where the window is and how large, in GTK's pixels.
extension GTKPictureInPictureWindow {
  /// The part of the window's monitor that panels leave free.
  var workArea: PictureRect {
    guard let display = gtk_widget_get_display(window) else { return PictureRect(x: 0, y: 0, width: 1, height: 1) }
    let own = gtk_widget_get_window(window).flatMap { gdk_display_get_monitor_at_window(display, $0) }
    var area = GdkRectangle()
    if let monitor = own ?? gdk_display_get_primary_monitor(display) ?? gdk_display_get_monitor(display, 0) {
      gdk_monitor_get_workarea(monitor, &area)
    }
    return PictureRect(x: Int(area.x), y: Int(area.y), width: Int(area.width), height: Int(area.height))
  }

  /// The work area in the coordinates of ``frame``: a layer counts from the work area's corner.
  var dragArea: PictureRect {
    let area = workArea
    return isLayer ? PictureRect(x: 0, y: 0, width: area.width, height: area.height) : area
  }

  /// Where the window is now.
  var frame: PictureRect {
    var (x, y): (gint, gint) = (0, 0)
    if isLayer {
      let origin = WindowPlace(of: window.asWindow).origin(of: placement.size, in: dragArea)
      (x, y) = (gint(origin.x), gint(origin.y))
    } else {
      gtk_window_get_position(window.asWindow, &x, &y)
    }
    return PictureRect(x: Int(x), y: Int(y), width: placement.width, height: placement.height)
  }

  /// Goes to a corner, and stays in it when its size changes.
  func snap(to corner: WindowCorner) {
    guard !GTKDisplay.isLost else { return }
    placement.corner = corner
    notePlace()
    let place = WindowPlace(corner, stackOffset: stackOffset)
    guard !isLayer else { return place.apply(to: window.asWindow) }
    let origin = place.origin(of: placement.size, in: workArea)
    move(toX: origin.x, y: origin.y)
  }

  /// Follows the pointer.
  func move(toX x: Int, y: Int) {
    if isLayer {
      WindowPlace(x: x, y: y).apply(to: window.asWindow)
    } else {
      gtk_window_move(window.asWindow, gint(x), gint(y))
    }
  }

  /// Takes the width, and the height that goes with it by the picture's shape.
  func resize(toWidth wanted: Int) {
    guard !GTKDisplay.isLost else { return }
    placement.resize(toWidth: wanted, aspectRatio: aspectRatio, in: workArea)
    guard !isLayer else {
      return gtk_widget_set_size_request(window, gint(placement.width), gint(placement.height))
    }
    setShapeHints(for: aspectRatio)
    gtk_window_resize(window.asWindow, gint(placement.width), gint(placement.height))
  }

  /// Tells the window manager which shape to keep when it resizes the window; nil lets it have any.
  private func setShapeHints(for aspectRatio: Double?) {
    var geometry = GdkGeometry()
    let width = WindowPlacement.minimumWidth
    geometry.min_width = gint(width)
    geometry.min_height = gint(aspectRatio.map { WindowPlacement.height(ofWidth: width, $0) } ?? 54)
    var hints = GDK_HINT_MIN_SIZE.rawValue
    if let aspectRatio {
      geometry.min_aspect = aspectRatio
      geometry.max_aspect = aspectRatio
      hints |= GDK_HINT_ASPECT.rawValue
    }
    gtk_window_set_geometry_hints(window.asWindow, nil, &geometry, GdkWindowHints(hints))
  }
}
