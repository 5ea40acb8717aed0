import PipSink

/// Where the window is: its monitor, its corner on that monitor, and its size.
extension PictureInPictureWindow {
  /// Moves the window to a corner of its monitor. It stays in that corner when its size changes.
  func snap(to corner: WindowCorner) {
    guard let native else { return }
    (placement.corner, isLoose) = (corner, false)
    notePlace()
    if !pointer.isActive { Self.stack.others = Self.register.others }
    let offset = Self.stack.offset(of: ObjectIdentifier(self), in: corner, on: stackName)
    native.snap(to: WindowPlace(corner, stackOffset: offset), size: placement.size)
  }

  /// Resizes the window to a width in units, with the height that the picture's aspect ratio gives.
  func resize(toWidth wanted: Int) {
    guard let native else { return }
    isShaped = true
    placement.resize(toWidth: wanted, aspectRatio: presentation?.aspectRatio, in: native.workArea)
    askForSize()
  }

  /// Asks the desktop for the size that the window should have. While it has not answered, the next size waits: requests
  /// do not pile up at a slow window manager, which would apply each with the shape that belongs to a later one.
  private func askForSize() {
    guard let native else { return }
    isSizeStale = awaitedSize != nil
    guard !isSizeStale, !native.isFullscreen else { return }
    native.resize(to: placement.size, aspectRatio: presentation?.aspectRatio)
    native.flush()
    guard sizeInUnits != placement.size else { return }
    awaitedSize = Task { [weak self] in
      try? await Task.sleep(for: .seconds(1))
      guard !Task.isCancelled, let self else { return }
      // The desktop keeps the window as it is.
      noteAnswer()
      if awaitedSize == nil { noteChange() }
    }
  }

  /// Called when the desktop has given the window another size, and when it has not done so for a second.
  func noteAnswer() {
    guard awaitedSize != nil else { return }
    forgetRequest()
    if isSizeStale { askForSize() }
  }

  /// Called when no answer is awaited any more.
  func forgetRequest() {
    awaitedSize?.cancel()
    awaitedSize = nil
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

  /// Called when the monitors, the panels or the current workspace may have changed. The window keeps its place where
  /// its work area is the same as before: other windows come and go.
  func returnToMonitor() {
    guard let native else { return }
    let hasChanged = chooseMonitor()
    let area = native.workArea
    defer { placedIn = area }
    if hasChanged {
      resize(toWidth: placement.width)
    } else if area == placedIn || isLoose && native.rectangle.map({ area.intersection($0) == $0 }) ?? false {
      // Where it is loose, the user wants it there.
      return
    }
    snap(to: placement.corner)
    native.flush()
  }

  /// Called when the user does something in the window, and when the desktop has moved or resized it. What the user has
  /// done through the desktop counts as if it had been done in the window, except that a window that was moved stays
  /// where it is.
  func noteChange() {
    guard isOpen, !pointer.isActive, let native, !native.isFullscreen, let rectangle = native.rectangle else { return }
    let isElsewhere = native.monitors.under(rectangle, current: monitor).map { $0.name != monitor } ?? false
    let hasMoved = native.hasBeenMoved(to: rectangle)
    let size = rectangle.size
    if size == placement.size {
      guard hasMoved || isElsewhere else { return }
      go(to: rectangle)
      isLoose = true
    } else {
      guard awaitedSize == nil,
        WindowPlacement.isChosen(size, aspectRatio: presentation?.aspectRatio, in: native.workArea)
      else { return }
      (placement.width, placement.height) = (size.width, size.height)
      if isElsewhere { go(to: rectangle) }
      snap(to: placement.corner)
    }
    remember()
  }

  /// Records that the window is on the monitor that shows most of a rectangle, and belongs into the nearest corner.
  ///
  /// - Returns: whether it was on another monitor before.
  @discardableResult
  private func go(to rectangle: PictureRect) -> Bool {
    guard let native else { return false }
    let old = monitor
    if let found = native.monitors.under(rectangle, current: monitor) {
      places.monitor = found.name
      if found.name != monitor {
        monitor = found.name
        native.go(to: found)
      }
    }
    placement.corner = .nearest(to: rectangle, in: native.workArea)
    notePlace()
    return monitor != old
  }

  /// Called when the user has dragged the window and released it. The window moves to the nearest corner of the monitor
  /// that shows most of it.
  func drop(at rectangle: PictureRect) {
    // On another monitor the window keeps its size as far as that fits.
    if go(to: rectangle) { resize(toWidth: placement.width) }
    snap(to: placement.corner)
    remember()
  }

  // MARK: - Several windows

  /// The windows that are open now.
  static var stack = WindowStack<ObjectIdentifier>()
  /// What the user's programs know of each other's windows.
  static let register = WindowRegister()

  /// The names of the window's display server and monitor.
  private var stackName: String { "\(serverName) \(monitor ?? "")" }

  private func notePlace() {
    guard isOpen else { return }
    Self.stack.note(placement, on: stackName, of: ObjectIdentifier(self))
    Self.register.publish(Self.stack.own)
  }

  /// Leaves the window's room to others.
  func leaveStack() {
    Self.stack.close(ObjectIdentifier(self))
    Self.register.publish(Self.stack.own)
  }

  /// Chooses another corner when the window's own one is full.
  func chooseFreeCorner() {
    guard let native else { return }
    let own = ObjectIdentifier(self)
    Self.stack.open(own)
    Self.stack.others = Self.register.others
    let area = native.workArea
    placement.corner = Self.stack.freeCorner(for: placement, of: own, on: stackName, in: area)
    placedIn = area
    notePlace()
  }
}
