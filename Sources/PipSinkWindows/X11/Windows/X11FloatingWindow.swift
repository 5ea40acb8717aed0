import CWindows
import PipSink

/// A picture-in-picture window on X11, or in the Xwayland of a Wayland session.
final class X11FloatingWindow: X11Window, NativePictureInPictureWindow {
  /// The aspect ratio that the window manager keeps, or will be told once the window has its new size.
  private var hintedAspectRatio: Double?
  /// Whether the window manager has been told any size hints.
  private var hasHints = false
  /// Whether the window manager is told the new aspect ratio after the next change of size.
  private var isReshaping = false
  /// The last size that was requested, in pixels.
  private var wantedSize: PictureSize?
  /// The position on the screen where a drag began, in pixels.
  private var pressed: SIMD2<Double>?
  /// The name of the monitor on which the window is placed.
  private var monitor: String?
  /// The connection to the compositor whose Xwayland this is, or nil on an X server.
  private var compositor: WaylandConnection?

  deinit { compositor?.globals.watchOutputs(ObjectIdentifier(self), nil) }

  /// Takes the monitors' names from the compositor whose Xwayland this is. Xwayland may give a monitor another name
  /// whenever that is connected.
  func takeNames(from compositor: WaylandConnection) {
    self.compositor = compositor
    let queue = WindowEventQueue<WindowEvent> { [weak self] in self?.handle($0) }
    // The compositor may know a monitor later than its Xwayland does.
    compositor.globals.watchOutputs(ObjectIdentifier(self)) { queue.append(.screenChanged) }
  }

  override func handle(_ event: WindowEvent) {
    if case .resized(let new) = event, new != size, isReshaping { setShape() }
    super.handle(event)
  }

  var limitation: String? {
    guard !screen.supports(.stateAbove) else { return nil }
    guard let name = screen.windowManagerName else { return "other windows can cover it: there is no window manager" }
    return "other windows can cover it: the window manager \(name) does not support _NET_WM_STATE_ABOVE"
  }

  var isComposited: Bool { screen.isComposited }

  func show() {
    setProperties()
    SurfaceGate.shared.close(for: connection)
    map()
    connection.flush()
  }

  func hide() { unmap() }

  /// Tells the window manager that the window is above all others, on every workspace, in no list of windows, without a
  /// border, and takes no focus when it appears (EWMH). This is repeated whenever the window is shown, because window
  /// managers remove some of these properties when a window is hidden.
  private func setProperties() {
    setProperties(role: WindowIdentity.role)
    setName(WindowIdentity.title)
    let atoms = screen.atoms
    let (atom, cardinal) = (UInt32(XCB_ATOM_ATOM.rawValue), UInt32(XCB_ATOM_CARDINAL.rawValue))
    connection.set(atoms[.windowType], of: id, to: [atoms[.windowTypeUtility]], type: atom)
    connection.set(
      atoms[.state], of: id,
      to: [.stateAbove, .stateSticky, .stateSkipTaskbar, .stateSkipPager].map { atoms[$0] }, type: atom)
    connection.set(atoms[.desktop], of: id, to: [.max], type: cardinal)
    connection.set(atoms[.userTime], of: id, to: [0], type: cardinal)
    // The first number says that the third one, the decorations, is set (Motif's MWM_HINTS_DECORATIONS): there are
    // none.
    connection.set(atoms[.motifHints], of: id, to: [2, 0, 0, 0, 0], type: atoms[.motifHints])
    connection.flush()
  }

  func describe(_ description: String) { setIconName(description) }

  // MARK: - Place

  var monitors: [WindowMonitor] { named(screen.monitors) }

  /// Gives monitors, whose areas are in pixels, the names by which they are remembered, and areas in units.
  private func named(_ monitors: [WindowMonitor]) -> [WindowMonitor] {
    let monitors = monitors.map { WindowMonitor(name: $0.name, area: units($0.area)) }
    return compositor.map { monitors.named(as: $0.globals.monitors) } ?? monitors
  }

  func go(to monitor: WindowMonitor) { self.monitor = monitor.name }

  /// The part of the window's monitor that panels leave free, in units.
  var workArea: PictureRect {
    let inPixels = screen.monitors
    let monitors = named(inPixels)
    let own = monitors.first { $0.name == monitor } ?? rectangle.flatMap { monitors.under($0) }
    let index = own.flatMap { monitors.firstIndex(of: $0) } ?? 0
    return units(screen.workArea(in: inPixels[index].area))
  }

  var rectangle: PictureRect? { rectangleInPixels.map { units($0) } }

  func snap(to place: WindowPlace, size: PictureSize) {
    let origin = place.origin(of: size, in: workArea)
    move(toX: origin.x, y: origin.y)
  }

  func resize(to size: PictureSize, aspectRatio: Double?) {
    let pixels = size.scaled(by: scale)
    wantedSize = pixels
    let isReshaped = hintedAspectRatio != aspectRatio || !hasHints
    (hintedAspectRatio, hasHints) = (aspectRatio, true)
    // A window manager that is told a new aspect ratio first changes the window to a size of its own choice. It also
    // reads the hints later than they were set. So the hints allow any shape until the window has its new size.
    isReshaping = isReshaping || (isReshaped && self.size.isValid)
    if isReshaping { setShape(minimum: PictureSize(width: 1, height: 1), aspectRatio: nil, size: nil) }
    resize(to: pixels)
    if !isReshaping || self.size == wantedSize { setShape() }
  }

  /// Tells the window manager the final size hints.
  private func setShape() {
    isReshaping = false
    let width = WindowPlacement.minimumWidth
    let height = hintedAspectRatio.map { WindowPlacement.height(ofWidth: width, $0) } ?? 54
    setShape(
      minimum: PictureSize(width: width, height: height), aspectRatio: hintedAspectRatio, size: wantedSize)
    connection.flush()
  }

  // MARK: - Dragging

  func beginDrag(_ grip: WindowGrip, at place: WindowEvent.Place) -> Bool {
    pressed = place.onScreen
    return true
  }

  func dragDistance(to place: WindowEvent.Place) -> (x: Int, y: Int)? {
    guard let pressed, let now = place.onScreen else { return nil }
    let distance = (now - pressed) / scale
    return (Int(distance.x), Int(distance.y))
  }

  func endDrag(at place: WindowEvent.Place) -> (x: Int, y: Int) {
    defer { pressed = nil }
    return dragDistance(to: place) ?? (0, 0)
  }
}
