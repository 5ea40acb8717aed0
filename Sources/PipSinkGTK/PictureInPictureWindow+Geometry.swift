import CGTK
import PipSink

/// Where the window is and how large, in GTK's pixels.
extension PictureInPictureWindow {
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

  /// Where the window is now.
  var frame: PictureRect {
    if isLayer {
      let origin = layerOrigin
      return PictureRect(x: origin.x, y: origin.y, width: placement.width, height: placement.height)
    }
    var (x, y): (gint, gint) = (0, 0)
    gtk_window_get_position(window.asWindow, &x, &y)
    return PictureRect(x: Int(x), y: Int(y), width: placement.width, height: placement.height)
  }

  /// Goes to a corner, and stays in it when its size changes.
  func snap(to corner: WindowCorner) {
    guard !GTKDisplay.isLost else { return }
    placement.corner = corner
    notePlace()
    if isLayer {
      let window = window.asWindow
      for edge in [
        GTK_LAYER_SHELL_EDGE_LEFT, GTK_LAYER_SHELL_EDGE_RIGHT, GTK_LAYER_SHELL_EDGE_TOP, GTK_LAYER_SHELL_EDGE_BOTTOM,
      ] {
        let isNear =
          switch edge {
          case GTK_LAYER_SHELL_EDGE_LEFT: corner.isLeft
          case GTK_LAYER_SHELL_EDGE_RIGHT: !corner.isLeft
          case GTK_LAYER_SHELL_EDGE_TOP: corner.isTop
          default: !corner.isTop
          }
        gtk_layer_set_anchor(window, edge, isNear ? 1 : 0)
        let isVertical = edge == GTK_LAYER_SHELL_EDGE_TOP || edge == GTK_LAYER_SHELL_EDGE_BOTTOM
        gtk_layer_set_margin(window, edge, gint(Self.margin + (isVertical ? stackOffset : 0)))
      }
    } else {
      let origin = corner.origin(of: size, in: workArea, margin: Self.margin)
      let offset = corner.isTop ? stackOffset : -stackOffset
      gtk_window_move(window.asWindow, gint(origin.x), gint(origin.y + offset))
    }
  }

  var size: PictureSize { PictureSize(width: placement.width, height: placement.height) }

  /// Follows the pointer.
  func move(toX x: Int, y: Int) {
    guard isLayer else {
      gtk_window_move(window.asWindow, gint(x), gint(y))
      return
    }
    let window = window.asWindow
    gtk_layer_set_anchor(window, GTK_LAYER_SHELL_EDGE_LEFT, 1)
    gtk_layer_set_anchor(window, GTK_LAYER_SHELL_EDGE_TOP, 1)
    gtk_layer_set_anchor(window, GTK_LAYER_SHELL_EDGE_RIGHT, 0)
    gtk_layer_set_anchor(window, GTK_LAYER_SHELL_EDGE_BOTTOM, 0)
    gtk_layer_set_margin(window, GTK_LAYER_SHELL_EDGE_LEFT, gint(x))
    gtk_layer_set_margin(window, GTK_LAYER_SHELL_EDGE_TOP, gint(y))
  }

  /// A layer's place on its monitor follows from its anchors and margins.
  private var layerOrigin: (x: Int, y: Int) {
    let window = window.asWindow
    let area = workArea
    let isAtLeft = gtk_layer_get_anchor(window, GTK_LAYER_SHELL_EDGE_LEFT) != 0
    let isAtTop = gtk_layer_get_anchor(window, GTK_LAYER_SHELL_EDGE_TOP) != 0
    let left = Int(gtk_layer_get_margin(window, GTK_LAYER_SHELL_EDGE_LEFT))
    let right = Int(gtk_layer_get_margin(window, GTK_LAYER_SHELL_EDGE_RIGHT))
    let top = Int(gtk_layer_get_margin(window, GTK_LAYER_SHELL_EDGE_TOP))
    let bottom = Int(gtk_layer_get_margin(window, GTK_LAYER_SHELL_EDGE_BOTTOM))
    return (
      x: isAtLeft ? left : area.width - placement.width - right,
      y: isAtTop ? top : area.height - placement.height - bottom
    )
  }

  /// Takes the width, and the height that goes with it by the picture's shape.
  func resize(toWidth wanted: Int) {
    guard !GTKDisplay.isLost else { return }
    let area = workArea
    let width = max(Self.minimumWidth, min(wanted, max(Self.minimumWidth, area.width - 2 * Self.margin)))
    placement.width = width
    if let aspectRatio { placement.height = Self.height(ofWidth: width, aspectRatio) }
    setShapeHints()
    if isLayer {
      gtk_widget_set_size_request(window, gint(placement.width), gint(placement.height))
    } else {
      gtk_window_resize(window.asWindow, gint(placement.width), gint(placement.height))
    }
  }

  /// Within what a window can have: a stream may say that its pixels are two thousand million times as wide as high.
  private static func height(ofWidth width: Int, _ aspectRatio: Double) -> Int {
    max(1, min(Int(nearest: Double(width) / aspectRatio), PictureSize.maximumDimension))
  }

  /// Window managers keep the shape when they resize the window.
  private func setShapeHints() {
    guard !isLayer else { return }
    var geometry = GdkGeometry()
    geometry.min_width = gint(Self.minimumWidth)
    geometry.min_height = gint(aspectRatio.map { Self.height(ofWidth: Self.minimumWidth, $0) } ?? 54)
    var hints = GDK_HINT_MIN_SIZE.rawValue
    if let aspectRatio {
      geometry.min_aspect = aspectRatio
      geometry.max_aspect = aspectRatio
      hints |= GDK_HINT_ASPECT.rawValue
    }
    gtk_window_set_geometry_hints(window.asWindow, nil, &geometry, GdkWindowHints(hints))
  }
}
