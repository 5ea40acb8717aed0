import PipSink

/// Dragging the window. A layer-shell surface is moved by changing its margins; other windows are moved by the
/// compositor.
extension WaylandFloatingWindow {
  func beginDrag(_ grip: WindowGrip, at place: WindowEvent.Place) -> Bool {
    guard role == .layer else {
      pressed = (grip, place)
      return true
    }
    guard let rectangle else { return false }
    let reading = DragReading(pressed: inUnits(place), travel: place.travel, known: Self.dragOrigin)
    drag = Drag(start: rectangle, reading: reading)
    return true
  }

  /// Lets the compositor drag the window once the pointer has moved far enough. The compositor takes the pointer away,
  /// so a double click would not be noticed if the drag began with the press.
  private func beginCompositorsDrag(from grip: WindowGrip, _ start: WindowEvent.Place, to place: WindowEvent.Place) {
    guard (inUnits(place) - inUnits(start)).length >= Self.dragThreshold else { return }
    beginCompositorsDrag(grip, at: start)
    // The compositor does not report the button's release.
    report(.released(button: 1, place))
  }

  private func beginCompositorsDrag(_ grip: WindowGrip, at place: WindowEvent.Place) {
    guard let action = globals.lastAction, action.surface == surface?.surface.reference else { return }
    let (seat, serial) = (action.seat.reference, action.serial)
    switch grip {
    case .middle:
      pip?.move(seat, serial)
      toplevel?.move(seat, serial)
    case .corner(let isLeft):
      let edge = ResizeEdge.corner(isTop: inUnits(place).y < Double(units.height) / 2, isLeft: isLeft)
      pip?.resize(seat, serial, edge)
      toplevel?.resize(seat, serial, edge)
    }
    flush()
  }

  private func inUnits(_ place: WindowEvent.Place) -> DragReading.Vector {
    DragReading.Vector(x: place.x / scale, y: place.y / scale)
  }

  func dragDistance(to place: WindowEvent.Place) -> (x: Int, y: Int)? {
    if let pressed { beginCompositorsDrag(from: pressed.grip, pressed.place, to: place) }
    guard let drag else { return nil }
    let shift = shift(in: drag)
    let wasUnknown = drag.reading.origin == nil
    let distance = self.drag?.reading.distance(at: inUnits(place), travel: place.travel, shift: shift)
    if wasUnknown, let reading = self.drag?.reading, reading.isCertain { Self.dragOrigin = reading.origin }
    return distance?.nearest
  }

  func endDrag(at place: WindowEvent.Place) -> (x: Int, y: Int) {
    pressed = nil
    guard let drag else { return (0, 0) }
    defer { self.drag = nil }
    // As long as the meaning of positions is not known, the compositor has not shown the window elsewhere.
    guard drag.reading.origin != nil else { return drag.reading.distanceBeforeMoving(at: inUnits(place)).nearest }
    let now = shift(in: drag)
    return (Int(now.x), Int(now.y))
  }

  /// How far the window has been moved since the drag began, in units.
  private func shift(in drag: Drag) -> DragReading.Vector {
    guard let rectangle else { return .zero }
    return DragReading.Vector(x: Double(rectangle.x - drag.start.x), y: Double(rectangle.y - drag.start.y))
  }

  /// After the window was moved for the first time in a drag, asks the compositor to say when it has shown that.
  func awaitShown() {
    guard let drag, drag.reading.origin == nil, drag.probe == nil, shift(in: drag) != .zero, let surface,
      let probe = WaylandFrameProbe(globals, over: surface.surface.reference)
    else { return }
    self.drag?.probe = probe
    probe.ask { [signals] in signals.append(.probed) }
    surface.commit()
    flush()
  }

  /// Called when the compositor has shown the window.
  func noteProbe() {
    guard let drag, let probe = drag.probe, drag.reading.origin == nil else { return }
    // A new size takes effect only after the compositor has agreed to it, so the question is repeated until then.
    if units == wantedSize { return self.drag?.reading.noteShown() ?? () }
    probe.ask { [signals] in signals.append(.probed) }
    flush()
  }
}
