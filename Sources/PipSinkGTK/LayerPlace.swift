import CGTK
import PipSink

/// Where a layer's surface is on its monitor: the two edges that it is held by, and how far from them.
struct LayerPlace: Equatable {
  var isLeft: Bool
  var isTop: Bool
  /// From the left or the right edge of what panels leave free, in GTK's pixels.
  var horizontal: Int
  /// From the upper or the lower one.
  var vertical: Int

  /// In a corner.
  init(_ corner: WindowCorner, stackOffset: Int) {
    (isLeft, isTop) = (corner.isLeft, corner.isTop)
    (horizontal, vertical) = (WindowPlacement.margin, WindowPlacement.margin + stackOffset)
  }

  /// Anywhere.
  init(x: Int, y: Int) {
    (isLeft, isTop, horizontal, vertical) = (true, true, x, y)
  }

  /// - Parameter area: the size of what panels leave free.
  func origin(of size: PictureSize, in area: PictureSize) -> (x: Int, y: Int) {
    (
      x: isLeft ? horizontal : area.width - size.width - horizontal,
      y: isTop ? vertical : area.height - size.height - vertical
    )
  }
}

/// As gtk-layer-shell has it: an edge for each side, and a margin for each edge.
extension LayerPlace {
  /// Where a window is.
  @MainActor
  init(of window: UnsafeMutablePointer<GtkWindow>) {
    isLeft = gtk_layer_get_anchor(window, GTK_LAYER_SHELL_EDGE_LEFT) != 0
    isTop = gtk_layer_get_anchor(window, GTK_LAYER_SHELL_EDGE_TOP) != 0
    horizontal = Int(
      gtk_layer_get_margin(window, isLeft ? GTK_LAYER_SHELL_EDGE_LEFT : GTK_LAYER_SHELL_EDGE_RIGHT))
    vertical = Int(gtk_layer_get_margin(window, isTop ? GTK_LAYER_SHELL_EDGE_TOP : GTK_LAYER_SHELL_EDGE_BOTTOM))
  }

  @MainActor
  func apply(to window: UnsafeMutablePointer<GtkWindow>) {
    for (edge, isHeld, margin) in [
      (GTK_LAYER_SHELL_EDGE_LEFT, isLeft, horizontal), (GTK_LAYER_SHELL_EDGE_RIGHT, !isLeft, horizontal),
      (GTK_LAYER_SHELL_EDGE_TOP, isTop, vertical), (GTK_LAYER_SHELL_EDGE_BOTTOM, !isTop, vertical),
    ] {
      gtk_layer_set_anchor(window, edge, isHeld ? 1 : 0)
      gtk_layer_set_margin(window, edge, gint(margin))
    }
  }
}
