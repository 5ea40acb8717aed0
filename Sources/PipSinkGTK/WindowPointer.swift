import Glibc
import PipSink

/// What the pointer does with a picture-in-picture window: dragged anywhere, it moves; dragged at an edge, it changes
/// its size; let go, it snaps to the nearest corner.
@MainActor
final class WindowPointer {
  /// A place in the window and on the screen, in GTK's pixels. Wayland tells the former alone.
  struct Location {
    let x: Double
    let y: Double
    let rootX: Double
    let rootY: Double
  }

  private enum Action {
    case none
    /// The window's frame, and the pointer's place, when it began.
    case moving(PictureRect, Location)
    case resizing(PictureRect, Location, isLeft: Bool)
  }

  private unowned let window: PictureInPictureWindow
  private var action = Action.none
  /// How near to the edge a press has to be to resize.
  private static let edge = 8.0

  init(_ window: PictureInPictureWindow) {
    self.window = window
  }

  var isActive: Bool {
    if case .none = action { false } else { true }
  }

  /// Nothing comes of what was begun.
  func cancel() { action = .none }

  func press(_ location: Location) {
    let frame = window.frame
    let isLeft = location.x < Self.edge
    let isAtSide = isLeft || location.x >= Double(frame.width) - Self.edge
    let isAtEnd = location.y < Self.edge || location.y >= Double(frame.height) - Self.edge
    action =
      isAtSide && isAtEnd
      ? .resizing(frame, location, isLeft: isLeft) : .moving(frame, location)
  }

  func move(_ location: Location) {
    switch action {
    case .none: break
    case .moving(let start, let pressed): move(location, from: start, pressed)
    case .resizing(let start, let pressed, let isLeft):
      let distance = distance(to: location, from: start, pressed).x
      window.resize(toWidth: start.width + (isLeft ? -distance : distance))
      // The corner that the window is in stays where it is.
      window.snap(to: window.placement.corner)
    }
  }

  private func move(_ location: Location, from start: PictureRect, _ pressed: Location) {
    let distance = distance(to: location, from: start, pressed)
    window.move(toX: start.x + distance.x, y: start.y + distance.y)
  }

  /// How far the pointer has come since it was pressed.
  private func distance(
    to location: Location, from start: PictureRect, _ pressed: Location
  ) -> (x: Int, y: Int) {
    guard window.isLayer else {
      return (Int((location.rootX - pressed.rootX).rounded()), Int((location.rootY - pressed.rootY).rounded()))
    }
    // Wayland tells where the pointer is in the surface. While a button is held, sway means the surface as it was when
    // the button was pressed; other compositors mean it where it is now.
    let origin = Self.countsFromPress ? start : window.frame
    return (
      origin.x - start.x + Int((location.x - pressed.x).rounded()),
      origin.y - start.y + Int((location.y - pressed.y).rounded())
    )
  }

  /// sway gives its clients the way to its control socket.
  private static let countsFromPress = getenv("SWAYSOCK") != nil

  func release() {
    defer { action = .none }
    switch action {
    case .none: return
    case .resizing: window.snap(to: window.placement.corner)
    case .moving: window.snap(to: .nearest(to: window.frame, in: window.dragArea))
    }
    window.remember()
  }
}

extension PictureInPictureWindow {
  /// The area in whose coordinates ``frame`` is.
  var dragArea: PictureRect {
    let area = workArea
    return isLayer ? PictureRect(x: 0, y: 0, width: area.width, height: area.height) : area
  }
}
