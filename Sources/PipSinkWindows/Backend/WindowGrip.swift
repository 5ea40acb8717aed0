import PipSink

/// The part of a window at which the user drags it.
package enum WindowGrip: Equatable, Sendable {
  /// Any part that is not a corner. Dragging it moves the window.
  case middle
  /// A corner. Dragging it resizes the window.
  case corner(isLeft: Bool)

  /// How near to both edges a press counts as on the corner, in units.
  private static let edge = 8.0

  /// Finds the part of a window at a position.
  ///
  /// - Parameters:
  ///   - x: the distance from the window's left edge, in units.
  ///   - y: the distance from the window's upper edge, in units.
  ///   - size: the window's size, in units.
  package init(x: Double, y: Double, size: PictureSize) {
    let isLeft = x < Self.edge
    let isAtSide = isLeft || x >= Double(size.width) - Self.edge
    let isAtEnd = y < Self.edge || y >= Double(size.height) - Self.edge
    self = isAtSide && isAtEnd ? .corner(isLeft: isLeft) : .middle
  }

  /// Returns the window's width after its grip was dragged to the right by `x`. A negative `x` is a drag to the left.
  package func width(from width: Int, draggedBy x: Int) -> Int {
    switch self {
    case .middle: width
    case .corner(let isLeft): isLeft ? width - x : width + x
    }
  }
}
