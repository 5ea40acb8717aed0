import PipSink

/// Where the window is: its monitor, its corner on that monitor, and its size.
extension PictureInPictureWindow {
  /// Moves the window to a corner of its monitor. It stays in that corner when its size changes.
  func snap(to corner: WindowCorner) {
    guard let native else { return }
    placement.corner = corner
    notePlace()
    let offset = Self.stack.offset(of: ObjectIdentifier(self), in: corner, on: monitor)
    native.snap(to: WindowPlace(corner, stackOffset: offset), size: placement.size)
  }

  /// Resizes the window to a width in units, with the height that the picture's aspect ratio gives.
  func resize(toWidth wanted: Int) {
    guard let native else { return }
    isShaped = true
    let aspectRatio = presentation?.aspectRatio
    placement.resize(toWidth: wanted, aspectRatio: aspectRatio, in: native.workArea)
    native.resize(to: placement.size, aspectRatio: aspectRatio)
    native.flush()
  }

  /// Saves the window's current monitor, corner and size.
  func remember() {
    places.note(placement, on: monitor)
    guard let placementPath else { return }
    // Other windows save their places in the same file.
    var saved = WindowPlaces(from: placementPath) ?? places
    saved.note(placement, on: monitor)
    saved.monitor = places.monitor
    saved.save(to: placementPath)
  }

  // MARK: - Monitors

  /// Chooses the monitor that the user put the window on last, or else the one that it is on, or else that of the app's
  /// window, or else the first one.
  private func bestMonitor(_ monitors: [WindowMonitor]) -> WindowMonitor? {
    let named = { (name: String?) in name.flatMap { name in monitors.first { $0.name == name } } }
    if let known = named(places.monitor) ?? named(monitor) { return known }
    guard monitors.count > 1, let preferred = preferredMonitor?() else { return monitors.first }
    // An Xwayland can have another name for the compositor's monitor, so the monitor is also looked up by its area.
    return named(preferred.name) ?? monitors.under(preferred.area) ?? monitors.first
  }

  /// Chooses the window's monitor, and the corner and size that it has there. The caller then moves the window.
  ///
  /// - Returns: whether the monitor has changed.
  @discardableResult
  func chooseMonitor() -> Bool {
    guard let native, let best = bestMonitor(native.monitors) else { return false }
    native.go(to: best)
    // The first monitor counts as chosen until the user moves the window to another one.
    places.monitor = places.monitor ?? best.name
    guard monitor != best.name else { return false }
    if let monitor { places.note(placement, on: monitor) }
    monitor = best.name
    placement = places.placement(on: best.name)
    return true
  }

  /// Forgets the monitor of a window that is being closed, so that it opens on the best one.
  func leaveMonitor() {
    if let monitor { places.note(placement, on: monitor) }
    monitor = nil
  }

  /// Called when the monitors, the panels or the current workspace have changed.
  func returnToMonitor() {
    if chooseMonitor() { resize(toWidth: placement.width) }
    snap(to: placement.corner)
    native?.flush()
  }

  /// Called when the user does something in the window. It records the monitor on which the window is, because the
  /// window manager may have moved the window there, for instance by a shortcut.
  func findMonitor() {
    guard let native, let rectangle = native.rectangle,
      let found = native.monitors.under(rectangle, current: monitor), found.name != monitor
    else { return }
    native.go(to: found)
    (monitor, places.monitor) = (found.name, found.name)
  }

  /// Called when the user has dragged the window and released it. The window moves to the nearest corner of the monitor
  /// that shows most of it.
  func drop(at rectangle: PictureRect) {
    guard let native else { return }
    if let found = native.monitors.under(rectangle, current: monitor) {
      places.monitor = found.name
      if found.name != monitor {
        monitor = found.name
        native.go(to: found)
        // The window keeps its size as far as that fits on the other monitor.
        resize(toWidth: placement.width)
      }
    }
    snap(to: .nearest(to: rectangle, in: native.workArea))
    remember()
  }

  // MARK: - Several windows

  /// The windows that are open now.
  static var stack = WindowStack<ObjectIdentifier>()

  private func notePlace() {
    if isOpen { Self.stack.note(placement, on: monitor, of: ObjectIdentifier(self)) }
  }

  /// Chooses another corner when the window's own one is full.
  func chooseFreeCorner() {
    guard let native else { return }
    let own = ObjectIdentifier(self)
    Self.stack.open(own)
    placement.corner = Self.stack.freeCorner(for: placement, of: own, on: monitor, in: native.workArea)
    notePlace()
  }
}
