import PipSink

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
