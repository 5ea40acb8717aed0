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

  /// Where a window of `size` lies in this corner of `area`: `margin` away from its sides, and `stackOffset` more from
  /// its upper or lower edge.
  func origin(of size: PictureSize, in area: PictureRect, margin: Int, stackOffset: Int = 0) -> (x: Int, y: Int) {
    let offset = margin + stackOffset
    return (
      x: isLeft ? area.x + margin : area.x + area.width - size.width - margin,
      y: isTop ? area.y + offset : area.y + area.height - size.height - offset
    )
  }
}
