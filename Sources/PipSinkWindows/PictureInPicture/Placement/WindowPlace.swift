import PipSink

/// The corner of a monitor in which a picture-in-picture window is. The raw values are the ones in the file in which
/// windows' places are remembered.
public enum WindowCorner: String, CaseIterable, Sendable {
  /// The upper left corner.
  case topLeft = "top-left"
  /// The upper right corner.
  case topRight = "top-right"
  /// The lower left corner.
  case bottomLeft = "bottom-left"
  /// The lower right corner.
  case bottomRight = "bottom-right"

  /// Whether the corner is on the left side.
  package var isLeft: Bool { self == .topLeft || self == .bottomLeft }
  /// Whether the corner is at the top.
  package var isTop: Bool { self == .topLeft || self == .topRight }

  /// The corner on the other side of the same edge.
  var beside: WindowCorner {
    switch self {
    case .topLeft: .topRight
    case .topRight: .topLeft
    case .bottomLeft: .bottomRight
    case .bottomRight: .bottomLeft
    }
  }

  /// Finds the corner of `area` to which the middle of `window` is nearest.
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

/// The position of a picture-in-picture window on its monitor: the two edges of the work area that it is measured from,
/// and its distances from them.
package struct WindowPlace: Equatable {
  /// Whether ``horizontal`` is measured from the left edge, and not from the right one.
  package var isLeft: Bool
  /// Whether ``vertical`` is measured from the upper edge, and not from the lower one.
  package var isTop: Bool
  /// The distance from the left or right edge of the work area, in units.
  package var horizontal: Int
  /// The distance from the upper or lower edge of the work area, in units.
  package var vertical: Int

  /// Creates a position from two edges and the distances from them, in units.
  package init(isLeft: Bool, isTop: Bool, horizontal: Int, vertical: Int) {
    (self.isLeft, self.isTop) = (isLeft, isTop)
    (self.horizontal, self.vertical) = (horizontal, vertical)
  }

  /// Creates a position in a corner, with the usual margin and, vertically, room for the windows that are nearer to the
  /// edge.
  package init(_ corner: WindowCorner, stackOffset: Int) {
    (isLeft, isTop) = (corner.isLeft, corner.isTop)
    (horizontal, vertical) = (WindowPlacement.margin, WindowPlacement.margin + stackOffset)
  }

  /// Creates any position, from the left and upper edges of the work area, in units.
  package init(x: Int, y: Int) {
    (isLeft, isTop, horizontal, vertical) = (true, true, x, y)
  }

  /// Returns the position of the window's upper left corner.
  ///
  /// - Parameters:
  ///   - size: the window's size, in units.
  ///   - area: the work area, which is the part of the monitor that panels leave free.
  package func origin(of size: PictureSize, in area: PictureRect) -> (x: Int, y: Int) {
    (
      x: area.x + (isLeft ? horizontal : area.width - size.width - horizontal),
      y: area.y + (isTop ? vertical : area.height - size.height - vertical)
    )
  }
}
