import PipSink

/// What the pointer does with a picture-in-picture window: dragged anywhere, it moves; dragged at a corner, it changes
/// its size; let go, it snaps to the nearest corner; a click on a control is the control's, a double click goes back to
/// the app.
@MainActor
final class WindowPointer {
  typealias Place = WindowEvent.Place

  private struct Drag {
    /// The window's frame when it began, in units.
    let start: PictureRect
    let grip: WindowGrip
  }

  /// Milliseconds between the clicks of a double one, and how far they may be from each other, in units.
  private static let (doubleClickTime, doubleClickDistance): (UInt32, Double) = (400, 5)
  private unowned let window: PictureInPictureWindow
  private var drag: Drag?
  private var lastPress: (place: Place, time: UInt32)?

  init(_ window: PictureInPictureWindow) {
    self.window = window
  }

  var isActive: Bool { drag != nil }

  /// Nothing comes of what was begun.
  func cancel() {
    drag = nil
    window.controls.release(on: nil)
  }

  private var scale: Double { window.native?.scale ?? 1 }

  private func control(at place: Place) -> PictureInPictureAction? {
    window.controls.action(x: Int(place.x / scale), y: Int(place.y / scale))
  }

  func press(_ place: Place, _ time: UInt32) {
    if let action = control(at: place) {
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
    window.findMonitor()
    guard let native = window.native, let start = native.frame else { return }
    let grip = WindowGrip(x: place.x / scale, y: place.y / scale, size: start.size)
    if native.beginDrag(grip, at: place) { drag = Drag(start: start, grip: grip) }
  }

  private func isNear(_ one: Place, _ other: Place) -> Bool {
    let distance = (one.onScreen ?? SIMD2(one.x, one.y)) - (other.onScreen ?? SIMD2(other.x, other.y))
    return max(abs(distance.x), abs(distance.y)) <= Self.doubleClickDistance * scale
  }

  func move(_ place: Place) {
    guard let drag else {
      window.controls.move(x: Int(place.x / scale), y: Int(place.y / scale))
      return
    }
    guard let native = window.native, let distance = native.dragDistance(to: place) else { return }
    if drag.grip == .middle {
      native.move(toX: drag.start.x + distance.x, y: drag.start.y + distance.y)
    } else {
      window.resize(toWidth: drag.grip.width(from: drag.start.width, draggedBy: distance.x))
      // The corner that the window is in stays where it is.
      window.snap(to: window.placement.corner)
    }
  }

  func release(_ place: Place) {
    if let action = window.controls.release(on: control(at: place)) {
      window.eventHandler?(.action(action))
      return
    }
    guard let drag else { return }
    self.drag = nil
    guard let native = window.native else { return }
    let distance = native.endDrag(at: place)
    // A click moves nothing, and may be the first of two.
    guard distance != (0, 0) else { return }
    if drag.grip == .middle {
      let frame = PictureRect(
        x: drag.start.x + distance.x, y: drag.start.y + distance.y, width: window.placement.width,
        height: window.placement.height)
      window.drop(at: frame)
    } else {
      window.snap(to: window.placement.corner)
      window.remember()
    }
  }
}
