import PipSink

/// Handles the pointer in a picture-in-picture window.
///
/// A drag at a corner resizes the window, and a drag anywhere else moves it or the small picture in it; when it is
/// released, the window snaps to the nearest corner of its monitor, and the small picture to that of the window. A click
/// on a control performs its action, a press on the bar for seeking moves its knob, and a double click goes back to the
/// app. What the app draws in the window comes after the controls and before the drags. Where that is wanted, the window
/// goes out of the way of a pointer that comes.
@MainActor
final class WindowPointer {
  typealias Place = WindowEvent.Place

  private struct Drag {
    /// The window's rectangle when the drag began, in units.
    let start: PictureRect
    let grip: WindowGrip
  }

  /// The longest time between the two clicks of a double click, in milliseconds, and their greatest distance, in units.
  private static let (doubleClickTime, doubleClickDistance): (UInt32, Double) = (400, 5)
  private unowned let window: PictureInPictureWindow
  private var drag: Drag?
  /// The small picture's rectangle, in pixels, when the user began to drag it, and where.
  private var smallDrag: (start: PictureRect, place: Place)?
  /// Whether the button is held down on something that the app has drawn in the window.
  private var isHeldOnContent = false
  private var lastPress: (place: Place, time: UInt32)?
  /// Whether the pointer has entered the window and has not moved in it.
  private var isNew = false
  /// When the window has gone out of the pointer's way last.
  private var steppedAside: ContinuousClock.Instant?
  /// How long the pointer may take to follow a window that has gone out of its way.
  var followingTime = Duration.seconds(2)

  init(_ window: PictureInPictureWindow) {
    self.window = window
  }

  /// Whether the user is dragging the window.
  var isActive: Bool { drag != nil }

  /// Called when the pointer has come.
  func enter() {
    isNew = true
    if !mayStepAside { window.controls.show() }
  }

  /// Ends a drag or a press without any effect.
  func cancel() {
    drag = nil
    if isHeldOnContent {
      isHeldOnContent = false
      leave()
    }
    window.controls.release(on: nil)
    _ = window.controls.endSeeking()
    if let small = smallDrag {
      smallDrag = nil
      window.dragSmallPicture(small.start, x: 0, y: 0)
    }
  }

  // MARK: - Out of the way

  /// Whether the window goes out of the way of a pointer that comes. A pointer that follows it is meant for it.
  private var mayStepAside: Bool {
    guard let presentation = window.presentation, presentation.stepsAside, !presentation.isClickThrough, window.isOpen,
      !isActive, !window.isFullscreen
    else { return false }
    return steppedAside.map { .now - $0 >= followingTime } ?? true
  }

  /// Goes to the corner beside the window's own one. A window that opens under a pointer which rests stays there: an
  /// Xwayland also believes that the pointer is where it was last.
  private func stepAside() {
    steppedAside = .now
    window.noteChange()
    window.snap(to: window.placement.corner.beside)
    window.native?.flush()
  }

  // MARK: - Presses and drags

  private var scale: Double { window.native?.scale ?? 1 }

  /// A place in units of the controls.
  private func onControls(_ place: Place) -> (x: Double, y: Double) {
    (place.x / window.controls.scale, place.y / window.controls.scale)
  }

  private func control(at place: Place) -> PictureInPictureAction? {
    let (x, y) = onControls(place)
    return window.controls.action(x: Int(x), y: Int(y))
  }

  func press(_ button: Int, _ place: Place, _ time: UInt32) {
    guard button == 1 else {
      _ = tell(place) { .pressed(button: button, x: $0, y: $1) }
      return
    }
    if let action = control(at: place) {
      lastPress = nil
      return action == .seek ? window.controls.seek(toX: onControls(place).x) : window.controls.press(action)
    }
    // A finger presses without having moved over the window before.
    window.controls.show()
    if tell(place, { .pressed(button: 1, x: $0, y: $1) }) {
      (isHeldOnContent, lastPress) = (true, nil)
      return
    }
    let last = lastPress
    lastPress = (place, time)
    if let last, time &- last.time <= Self.doubleClickTime, isNear(last.place, place) {
      lastPress = nil
      cancel()
      window.eventHandler?(.action(.backToApp))
      return
    }
    window.noteChange()
    guard let native = window.native, let start = native.rectangle else { return }
    let grip = WindowGrip(x: place.x / scale, y: place.y / scale, size: start.size)
    if grip == .middle, let small = window.smallPicture, small.contains(x: Int(place.x), y: Int(place.y)) {
      smallDrag = (small, place)
      return
    }
    if !native.isFullscreen, native.beginDrag(grip, at: place) { drag = Drag(start: start, grip: grip) }
  }

  /// - Returns: whether what the app draws in the window wants the turn of the wheel.
  func scroll(_ place: Place, _ deltaX: Double, _ deltaY: Double) -> Bool {
    tell(place) { .scrolled(x: $0, y: $1, deltaX: deltaX, deltaY: deltaY) }
  }

  /// Called when the pointer has gone.
  func leave() { _ = window.content?.handle(.left) }

  /// Tells what the app draws in the window of an event.
  ///
  /// - Returns: whether it was meant for that.
  private func tell(_ place: Place, _ event: (_ x: Double, _ y: Double) -> PointerEvent) -> Bool {
    guard let content = window.content else { return false }
    let scale = content.usesPixels ? 1 : scale
    return content.handle(event(place.x / scale, place.y / scale))
  }

  private func isNear(_ one: Place, _ other: Place) -> Bool {
    let distance = (one.onScreen ?? SIMD2(one.x, one.y)) - (other.onScreen ?? SIMD2(other.x, other.y))
    return max(abs(distance.x), abs(distance.y)) <= Self.doubleClickDistance * scale
  }

  func move(_ place: Place) {
    let isNew = isNew
    self.isNew = false
    if isNew, mayStepAside { return stepAside() }
    if window.controls.isSeeking { return window.controls.seek(toX: onControls(place).x) }
    if drag == nil, smallDrag == nil {
      _ = tell(place) { .moved(x: $0, y: $1) }
      if isHeldOnContent { return }
    }
    if let small = smallDrag {
      return window.dragSmallPicture(
        small.start, x: Int(place.x - small.place.x), y: Int(place.y - small.place.y))
    }
    guard let drag else {
      let (x, y) = onControls(place)
      window.controls.move(x: Int(x), y: Int(y))
      return
    }
    guard let native = window.native, let distance = native.dragDistance(to: place) else { return }
    if drag.grip == .middle {
      native.move(toX: drag.start.x + distance.x, y: drag.start.y + distance.y)
    } else {
      window.resize(toWidth: drag.grip.width(from: drag.start.width, draggedBy: distance.x))
      // The window stays in its corner of the monitor while its size changes.
      window.snap(to: window.placement.corner)
    }
  }

  func release(_ button: Int, _ place: Place) {
    if button != 1 || isHeldOnContent {
      if button == 1 { isHeldOnContent = false }
      _ = tell(place) { .released(button: button, x: $0, y: $1) }
      return
    }
    if let time = window.controls.endSeeking() {
      window.eventHandler?(.seek(to: time))
      return
    }
    if let action = window.controls.release(on: control(at: place)) {
      window.eventHandler?(.action(action))
      return
    }
    if let small = smallDrag {
      smallDrag = nil
      return isNear(small.place, place) ? window.dragSmallPicture(small.start, x: 0, y: 0) : window.dropSmallPicture()
    }
    guard let drag else { return }
    self.drag = nil
    guard let native = window.native else { return }
    let distance = native.endDrag(at: place)
    // A click does not move the window, and may be the first half of a double click.
    guard distance != (0, 0) else { return }
    if drag.grip == .middle {
      let rectangle = PictureRect(
        x: drag.start.x + distance.x, y: drag.start.y + distance.y, width: window.placement.size.width,
        height: window.placement.size.height)
      window.drop(at: rectangle)
    } else {
      window.snap(to: window.placement.corner)
      window.remember()
    }
  }
}
