import PipSink

/// Determines how several windows share the corners of monitors. In each corner they are stacked vertically, and those
/// that were opened first are nearest to the edge.
package struct WindowStack<ID: Hashable> {
  private var windows: [(id: ID, place: Place?)] = []

  /// Where an open window is.
  private struct Place {
    let placement: WindowPlacement
    let monitor: String?
  }

  /// Creates a stack without windows.
  package init() {}

  /// Adds a window after those that are open. A window that is open already keeps its position in the order.
  package mutating func open(_ id: ID) {
    if !windows.contains(where: { $0.id == id }) { windows.append((id, nil)) }
  }

  /// Removes a window that has been closed.
  package mutating func close(_ id: ID) { windows.removeAll { $0.id == id } }

  /// Records where an open window is now.
  package mutating func note(_ placement: WindowPlacement, on monitor: String? = nil, of id: ID) {
    guard let index = windows.firstIndex(where: { $0.id == id }) else { return }
    windows[index].place = Place(placement: placement, monitor: monitor)
  }

  /// Returns the additional distance from the upper or lower edge, in units, that leaves room for the windows that were
  /// opened before this one.
  package func offset(of id: ID, in corner: WindowCorner, on monitor: String? = nil) -> Int {
    windows.prefix { $0.id != id }.compactMap(\.place).filter { $0.placement.corner == corner && $0.monitor == monitor }
      .reduce(0) { $0 + $1.placement.height + WindowPlacement.margin / 2 }
  }

  /// Returns the window's own corner if it has room for the window, otherwise the first corner that has. If no corner
  /// has room, it returns the window's own one.
  package func freeCorner(
    for placement: WindowPlacement, of id: ID, on monitor: String? = nil, in area: PictureRect
  ) -> WindowCorner {
    let height = area.height - 2 * WindowPlacement.margin
    let fits = { (corner: WindowCorner) in offset(of: id, in: corner, on: monitor) + placement.height <= height }
    if fits(placement.corner) { return placement.corner }
    return WindowCorner.allCases.first(where: fits) ?? placement.corner
  }
}
