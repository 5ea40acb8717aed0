import PipSink

/// The place of an open window in a corner, as other windows need to know it.
package struct StackedWindow: Equatable, Sendable {
  /// When the window was opened.
  package var opened: MonotonicTime
  /// The corner of the monitor.
  package var corner: WindowCorner
  /// The window's height, in units.
  package var height: Int
  /// The names of its display server and of its monitor, or an empty text.
  package var monitor: String

  /// Creates the description of a window's place.
  package init(opened: MonotonicTime, corner: WindowCorner, height: Int, monitor: String) {
    (self.opened, self.corner, self.height, self.monitor) = (opened, corner, height, monitor)
  }
}

/// Determines how several windows share the corners of monitors. In each corner they are stacked vertically, and those
/// that were opened first are nearest to the edge.
package struct WindowStack<ID: Hashable> {
  private var windows: [(id: ID, opened: MonotonicTime, place: StackedWindow?)] = []
  /// The open windows of other programs.
  package var others: [StackedWindow] = []

  /// Creates a stack without windows.
  package init() {}

  /// The windows of this program whose places are known.
  package var own: [StackedWindow] { windows.compactMap(\.place) }

  /// Adds a window after those that are open. A window that is open already keeps its position in the order.
  package mutating func open(_ id: ID, at moment: MonotonicTime = .now) {
    if !windows.contains(where: { $0.id == id }) { windows.append((id, moment, nil)) }
  }

  /// Removes a window that has been closed.
  package mutating func close(_ id: ID) { windows.removeAll { $0.id == id } }

  /// Records where an open window is now.
  package mutating func note(_ placement: WindowPlacement, on monitor: String? = nil, of id: ID) {
    guard let index = windows.firstIndex(where: { $0.id == id }) else { return }
    windows[index].place = StackedWindow(
      opened: windows[index].opened, corner: placement.corner, height: placement.size.height, monitor: monitor ?? "")
  }

  /// Returns the additional distance from the upper or lower edge, in units, that leaves room for the windows that were
  /// opened before this one.
  package func offset(of id: ID, in corner: WindowCorner, on monitor: String? = nil) -> Int {
    let opened = windows.first { $0.id == id }?.opened ?? .now
    return (windows.prefix { $0.id != id }.compactMap(\.place) + others.filter { $0.opened < opened })
      .filter { $0.corner == corner && $0.monitor == monitor ?? "" }
      .reduce(0) { $0 + $1.height + WindowPlacement.margin / 2 }
  }

  /// Returns the window's own corner if it has room for the window, otherwise the first corner that has. If no corner
  /// has room, it returns the window's own one.
  package func freeCorner(
    for placement: WindowPlacement, of id: ID, on monitor: String? = nil, in area: PictureRect
  ) -> WindowCorner {
    let height = area.height - 2 * WindowPlacement.margin
    let fits = { (corner: WindowCorner) in offset(of: id, in: corner, on: monitor) + placement.size.height <= height }
    if fits(placement.corner) { return placement.corner }
    return WindowCorner.allCases.first(where: fits) ?? placement.corner
  }
}
