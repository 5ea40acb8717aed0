import PipSink

/// Where the window is: its monitor, its corner there, and its size.
extension PictureInPictureWindow {
  /// Goes to a corner, and stays in it when its size changes.
  func snap(to corner: WindowCorner) {
    guard let native else { return }
    placement.corner = corner
    notePlace()
    let offset = Self.stack.offset(of: ObjectIdentifier(self), in: corner, on: monitor)
    native.snap(to: WindowPlace(corner, stackOffset: offset), size: placement.size)
  }

  /// Takes the width, and the height that goes with it by the picture's shape.
  func resize(toWidth wanted: Int) {
    guard let native else { return }
    isShaped = true
    let aspectRatio = presentation?.aspectRatio
    placement.resize(toWidth: wanted, aspectRatio: aspectRatio, in: native.workArea)
    native.resize(to: placement.size, aspectRatio: aspectRatio)
    native.flush()
  }

  /// Remembers where it is now.
  func remember() {
    places.note(placement, on: monitor)
    guard let placementPath else { return }
    // Other windows remember their places there, too.
    var saved = WindowPlaces(from: placementPath) ?? places
    saved.note(placement, on: monitor)
    saved.monitor = places.monitor
    saved.save(to: placementPath)
  }

  // MARK: - Monitors

  /// The monitor that the user put it on last, or else the one that it is on, or else the app's, or else the first one.
  private func bestMonitor(_ monitors: [WindowMonitor]) -> WindowMonitor? {
    let named = { (name: String?) in name.flatMap { name in monitors.first { $0.name == name } } }
    if let known = named(places.monitor) ?? named(monitor) { return known }
    guard monitors.count > 1, let preferred = preferredMonitor?() else { return monitors.first }
    // Xwayland has names of its own for the compositor's monitors.
    return named(preferred.name) ?? monitors.under(preferred.area) ?? monitors.first
  }

  /// Takes the monitor to be on, and the place that it has there; whoever calls this shows it there.
  ///
  /// - Returns: whether it is another one.
  @discardableResult
  func chooseMonitor() -> Bool {
    guard let native, let best = bestMonitor(native.monitors) else { return false }
    native.go(to: best)
    // Where it is shown first it belongs, as long as nobody puts it elsewhere.
    places.monitor = places.monitor ?? best.name
    guard monitor != best.name else { return false }
    if let monitor { places.note(placement, on: monitor) }
    monitor = best.name
    placement = places.placement(on: best.name)
    return true
  }

  /// It is closed, and opened on the best monitor.
  func leaveMonitor() {
    if let monitor { places.note(placement, on: monitor) }
    monitor = nil
  }

  /// Monitors, panels or the workspace are others.
  func returnToMonitor() {
    if chooseMonitor() { resize(toWidth: placement.width) }
    snap(to: placement.corner)
    native?.flush()
  }

  /// The user does something in it: it is on the monitor where the window manager has put it, perhaps by a shortcut.
  func findMonitor() {
    guard let native, let frame = native.frame,
      let found = native.monitors.under(frame, current: monitor), found.name != monitor
    else { return }
    native.go(to: found)
    (monitor, places.monitor) = (found.name, found.name)
  }

  /// The user has dragged it and let it go: it goes to the nearest corner of the monitor that most of it is on.
  func drop(at frame: PictureRect) {
    guard let native else { return }
    if let found = native.monitors.under(frame, current: monitor) {
      places.monitor = found.name
      if found.name != monitor {
        monitor = found.name
        native.go(to: found)
        // It keeps its size as far as it fits there.
        resize(toWidth: placement.width)
      }
    }
    snap(to: .nearest(to: frame, in: native.workArea))
    remember()
  }

  // MARK: - Several windows

  /// Those that are open.
  static var stack = WindowStack<ObjectIdentifier>()

  private func notePlace() {
    if isOpen { Self.stack.note(placement, on: monitor, of: ObjectIdentifier(self)) }
  }

  /// Where its corner is full it takes another.
  func chooseFreeCorner() {
    guard let native else { return }
    let own = ObjectIdentifier(self)
    Self.stack.open(own)
    placement.corner = Self.stack.freeCorner(for: placement, of: own, on: monitor, in: native.workArea)
    notePlace()
  }
}
