import CGTK
import PipSinkWindows

/// As gtk-layer-shell has it: an edge for each side, and a margin for each edge.
extension WindowPlace {
  /// Where a layer's window is.
  @MainActor
  init(of window: UnsafeMutablePointer<GtkWindow>) {
    let isLeft = gtk_layer_get_anchor(window, GTK_LAYER_SHELL_EDGE_LEFT) != 0
    let isTop = gtk_layer_get_anchor(window, GTK_LAYER_SHELL_EDGE_TOP) != 0
    self.init(
      isLeft: isLeft, isTop: isTop,
      horizontal: Int(
        gtk_layer_get_margin(window, isLeft ? GTK_LAYER_SHELL_EDGE_LEFT : GTK_LAYER_SHELL_EDGE_RIGHT)),
      vertical: Int(gtk_layer_get_margin(window, isTop ? GTK_LAYER_SHELL_EDGE_TOP : GTK_LAYER_SHELL_EDGE_BOTTOM)))
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
