import PipSink

/// How several windows share the corners of monitors: in each they lie one over the other, those that were opened first
/// nearest to the edge.
package struct WindowStack<ID: Hashable> {
  private var windows: [(id: ID, place: Place?)] = []

  private struct Place {
    let placement: WindowPlacement
    let monitor: String?
  }

  package init() {}

  /// A window is open; it comes behind those that are. One that is open already keeps its turn.
  package mutating func open(_ id: ID) {
    if !windows.contains(where: { $0.id == id }) { windows.append((id, nil)) }
  }

  package mutating func close(_ id: ID) { windows.removeAll { $0.id == id } }

  /// Where an open window is now.
  package mutating func note(_ placement: WindowPlacement, on monitor: String? = nil, of id: ID) {
    guard let index = windows.firstIndex(where: { $0.id == id }) else { return }
    windows[index].place = Place(placement: placement, monitor: monitor)
  }

  /// How far from a corner's edge a window has to be to leave room for those before it, besides the margin.
  package func offset(of id: ID, in corner: WindowCorner, on monitor: String? = nil) -> Int {
    windows.prefix { $0.id != id }.compactMap(\.place).filter { $0.placement.corner == corner && $0.monitor == monitor }
      .reduce(0) { $0 + $1.placement.height + WindowPlacement.margin / 2 }
  }

  /// The window's own corner, or the first one that has room for it where that has none; its own where none has.
  package func freeCorner(
    for placement: WindowPlacement, of id: ID, on monitor: String? = nil, in area: PictureRect
  ) -> WindowCorner {
    let height = area.height - 2 * WindowPlacement.margin
    let fits = { (corner: WindowCorner) in offset(of: id, in: corner, on: monitor) + placement.height <= height }
    if fits(placement.corner) { return placement.corner }
    return WindowCorner.allCases.first(where: fits) ?? placement.corner
  }
}
