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
