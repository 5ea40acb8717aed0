import PipSink

/// What the pointer does with a picture-in-picture window: dragged anywhere, it moves; dragged at a corner, it changes
/// its size; let go, it snaps to the nearest corner; a click on a control is the control's, a double click goes back to
/// the app.
@MainActor
final class X11WindowPointer {
  typealias Place = X11WindowEvent.Place

  private struct Drag {
    /// The window's frame when it began, in units, and the pointer's place.
    let start: PictureRect
    let pressed: Place
    let grip: WindowGrip
  }

  /// Milliseconds between the clicks of a double one, and how far they may be from each other, in units.
  private static let (doubleClickTime, doubleClickDistance): (UInt32, Int) = (400, 5)
  private unowned let window: X11PictureInPictureWindow
  private var drag: Drag?
  private var lastPress: (place: Place, time: UInt32)?

  init(_ window: X11PictureInPictureWindow) {
    self.window = window
  }

  var isActive: Bool { drag != nil }

  /// Nothing comes of what was begun.
  func cancel() {
    drag = nil
    window.controls.release(on: nil)
  }

  private var scale: Int { window.native?.scale ?? 1 }

  func press(_ place: Place, _ time: UInt32) {
    if let action = window.controls.action(x: place.x / scale, y: place.y / scale) {
      lastPress = nil
      return window.controls.press(action)
    }
    // A finger presses without having come.
    window.controls.show()
    let last = lastPress
    lastPress = (place, time)
    if let last, time &- last.time <= Self.doubleClickTime, isNear(last.place, place) {
      lastPress = nil
      cancel()
      window.eventHandler?(.action(.backToApp))
      return
    }
    guard let frame = window.native?.frameInPixels else { return }
    let start = PictureRect(
      x: frame.x / scale, y: frame.y / scale, width: window.placement.width, height: window.placement.height)
    let grip = WindowGrip(x: Double(place.x) / Double(scale), y: Double(place.y) / Double(scale), size: start.size)
    drag = Drag(start: start, pressed: place, grip: grip)
  }

  private func isNear(_ one: Place, _ other: Place) -> Bool {
    let reach = Self.doubleClickDistance * scale
    return abs(one.screenX - other.screenX) <= reach && abs(one.screenY - other.screenY) <= reach
  }

  func move(_ place: Place) {
    guard let drag else {
      window.controls.move(x: place.x / scale, y: place.y / scale)
      return
    }
    let distance = distance(to: place, in: drag)
    if drag.grip == .middle {
      window.native?.move(toX: drag.start.x + distance.x, y: drag.start.y + distance.y)
    } else {
      window.resize(toWidth: drag.grip.width(from: drag.start.width, draggedBy: distance.x))
      // The corner that the window is in stays where it is.
      window.snap(to: window.placement.corner)
    }
  }

  private func distance(to place: Place, in drag: Drag) -> (x: Int, y: Int) {
    ((place.screenX - drag.pressed.screenX) / scale, (place.screenY - drag.pressed.screenY) / scale)
  }

  func release(_ place: Place) {
    if let action = window.controls.release(on: window.controls.action(x: place.x / scale, y: place.y / scale)) {
      window.eventHandler?(.action(action))
      return
    }
    guard let drag else { return }
    self.drag = nil
    if drag.grip == .middle, let area = window.native?.workArea {
      let distance = distance(to: place, in: drag)
      let frame = PictureRect(
        x: drag.start.x + distance.x, y: drag.start.y + distance.y, width: window.placement.width,
        height: window.placement.height)
      window.snap(to: .nearest(to: frame, in: area))
    } else {
      window.snap(to: window.placement.corner)
    }
    window.remember()
  }
}

/// What a window is taken by.
package enum WindowGrip: Equatable, Sendable {
  /// Anywhere else; it moves.
  case middle
  /// A corner, which resizes it.
  case corner(isLeft: Bool)

  /// How near to both edges a press has to be to resize.
  private static let edge = 8.0

  /// - Parameters:
  ///   - x: in the window, as `y`.
  ///   - size: the window's.
  package init(x: Double, y: Double, size: PictureSize) {
    let isLeft = x < Self.edge
    let isAtSide = isLeft || x >= Double(size.width) - Self.edge
    let isAtEnd = y < Self.edge || y >= Double(size.height) - Self.edge
    self = isAtSide && isAtEnd ? .corner(isLeft: isLeft) : .middle
  }

  /// How wide the window is when it has been dragged so far to the right.
  package func width(from width: Int, draggedBy x: Int) -> Int {
    switch self {
    case .middle: width
    case .corner(let isLeft): isLeft ? width - x : width + x
    }
  }
}
