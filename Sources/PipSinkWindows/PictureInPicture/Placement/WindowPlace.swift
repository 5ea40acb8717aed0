import PipSink

/// A corner of the screen.
public enum WindowCorner: String, CaseIterable, Sendable {
  case topLeft = "top-left"
  case topRight = "top-right"
  case bottomLeft = "bottom-left"
  case bottomRight = "bottom-right"

  package var isLeft: Bool { self == .topLeft || self == .bottomLeft }
  package var isTop: Bool { self == .topLeft || self == .topRight }

  /// The corner of `area` that the middle of `window` is nearest to.
  package static func nearest(to window: PictureRect, in area: PictureRect) -> WindowCorner {
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
package struct WindowPlace: Equatable {
  package var isLeft: Bool
  package var isTop: Bool
  /// From the left or the right edge of what panels leave free, in units.
  package var horizontal: Int
  /// From the upper or the lower one.
  package var vertical: Int

  package init(isLeft: Bool, isTop: Bool, horizontal: Int, vertical: Int) {
    (self.isLeft, self.isTop) = (isLeft, isTop)
    (self.horizontal, self.vertical) = (horizontal, vertical)
  }

  /// In a corner.
  package init(_ corner: WindowCorner, stackOffset: Int) {
    (isLeft, isTop) = (corner.isLeft, corner.isTop)
    (horizontal, vertical) = (WindowPlacement.margin, WindowPlacement.margin + stackOffset)
  }

  /// Anywhere.
  package init(x: Int, y: Int) {
    (isLeft, isTop, horizontal, vertical) = (true, true, x, y)
  }

  /// - Parameter area: what panels leave free.
  package func origin(of size: PictureSize, in area: PictureRect) -> (x: Int, y: Int) {
    (
      x: area.x + (isLeft ? horizontal : area.width - size.width - horizontal),
      y: area.y + (isTop ? vertical : area.height - size.height - vertical)
    )
  }
}

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
