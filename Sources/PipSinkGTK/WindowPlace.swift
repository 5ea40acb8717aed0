import CGTK
import PipSink

/// A corner of the screen.
public enum WindowCorner: String, CaseIterable, Sendable {
  case topLeft = "top-left"
  case topRight = "top-right"
  case bottomLeft = "bottom-left"
  case bottomRight = "bottom-right"

  var isLeft: Bool { self == .topLeft || self == .bottomLeft }
  var isTop: Bool { self == .topLeft || self == .topRight }

  /// The corner of `area` that the middle of `window` is nearest to.
  static func nearest(to window: PictureRect, in area: PictureRect) -> WindowCorner {
    let isLeft = 2 * window.x + window.width < 2 * area.x + area.width
    let isTop = 2 * window.y + window.height < 2 * area.y + area.height
    return switch (isTop, isLeft) {
    case (true, true): .topLeft
    case (true, false): .topRight
    case (false, true): .bottomLeft
    case (false, false): .bottomRight
    }
  }
}

/// Where a picture-in-picture window is on its monitor: the two edges that it is held by, and how far from them.
struct WindowPlace: Equatable {
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

  /// - Parameter area: what panels leave free.
  func origin(of size: PictureSize, in area: PictureRect) -> (x: Int, y: Int) {
    (
      x: area.x + (isLeft ? horizontal : area.width - size.width - horizontal),
      y: area.y + (isTop ? vertical : area.height - size.height - vertical)
    )
  }
}

/// As gtk-layer-shell has it: an edge for each side, and a margin for each edge.
extension WindowPlace {
  /// Where a layer's window is.
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

/// How several windows share the corners of a screen: in each they lie one over the other, those that were opened first
/// nearest to the edge.
struct WindowStack<ID: Hashable> {
  private var windows: [(id: ID, placement: WindowPlacement?)] = []

  /// A window is open; it comes behind those that are. One that is open already keeps its turn.
  mutating func open(_ id: ID) {
    if !windows.contains(where: { $0.id == id }) { windows.append((id, nil)) }
  }

  mutating func close(_ id: ID) { windows.removeAll { $0.id == id } }

  /// Where an open window is now.
  mutating func note(_ placement: WindowPlacement, of id: ID) {
    if let index = windows.firstIndex(where: { $0.id == id }) { windows[index].placement = placement }
  }

  /// How far from a corner's edge a window has to be to leave room for those before it, besides the margin.
  func offset(of id: ID, in corner: WindowCorner) -> Int {
    windows.prefix { $0.id != id }.compactMap(\.placement).filter { $0.corner == corner }
      .reduce(0) { $0 + $1.height + WindowPlacement.margin / 2 }
  }

  /// The window's own corner, or the first one that has room for it where that has none; its own where none has.
  func freeCorner(for placement: WindowPlacement, of id: ID, in area: PictureRect) -> WindowCorner {
    let height = area.height - 2 * WindowPlacement.margin
    let fits = { (corner: WindowCorner) in offset(of: id, in: corner) + placement.height <= height }
    if fits(placement.corner) { return placement.corner }
    return WindowCorner.allCases.first(where: fits) ?? placement.corner
  }
}
