import CWindows
import Glibc
import PipSink

/// A picture-in-picture window on X11, or in the Xwayland of a Wayland session.
final class X11FloatingWindow: X11Window, NativePictureInPictureWindow {
  /// The aspect ratio that the window manager keeps, or will be told once the window has its new size.
  private var hintedAspectRatio: Double?
  /// Whether the window manager has been told any size hints.
  private var hasHints = false
  /// Whether the window manager is told the new aspect ratio after the next change of size.
  private var isReshaping = false
  /// The position on the screen where a drag began, in pixels.
  private var pressed: SIMD2<Double>?
  /// The window's upper left corner when it was seen at rest last, in units. The window manager need not put it where it
  /// was asked to.
  private var resting: (x: Int, y: Int)?
  /// The name of the monitor on which the window is placed.
  private var monitor: String?
  /// Who had the keyboard before it was taken without a press; nil when it was not.
  private var keyboardOwner: KeyboardOwner?
  /// Whether the window is hidden only until the window manager has noticed that.
  private var returnsSoon = false
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
    switch event {
    case .resized(let new):
      if new != size, isReshaping { setShape() }
      if reportedOrigin == [asked.x, asked.y] { resting = (units(asked).x, units(asked).y) }
    case .pressed(_, _, let time):
      connection.set(screen.atoms[.userTime], of: id, to: [time], type: UInt32(XCB_ATOM_CARDINAL.rawValue))
      giveKeyboard(to: id, at: time)
    case .keyboard(false): forgetKeyboardOwner()
    case .stateChanged where returnsSoon:
      // The window manager has removed its properties then (ICCCM 4.1.3.1, EWMH).
      let state = connection.numbers(screen.atoms[.wmState], of: id).first ?? 0
      if state == 0 { show() }
    default: break
    }
    super.handle(event)
  }

  var limitation: String? {
    guard !screen.supports(.stateAbove), compositor == nil else { return nil }
    guard let name = screen.windowManagerName else { return "other windows can cover it: there is no window manager" }
    return "other windows can cover it: the window manager \(name) does not support _NET_WM_STATE_ABOVE"
  }

  var isComposited: Bool { screen.isComposited }

  func show() {
    // Mapping a minimised window restores it (ICCCM 4.1.4). Its properties belong to the window manager then.
    guard !isShown else {
      map()
      return connection.flush()
    }
    (isShown, returnsSoon) = (true, false)
    setProperties()
    leaveWindowManager()
    if isReshaping { allowAnyShape() } else { setShape() }
    SurfaceGate.shared.close(for: connection)
    map()
    connection.flush()
  }

  func hide() {
    if case .window = keyboardOwner { returnKeyboard() }
    (isShown, returnsSoon) = (false, false)
    unmap()
  }

  /// Tells the window manager that the window is above all others, on every workspace, in no list of windows, without a
  /// border, and takes no focus (EWMH). This is repeated whenever the window is shown, because window managers remove
  /// some of these properties when a window is hidden.
  private func setProperties() {
    // Some window managers give every new window the focus that accepts it, whatever its type and user time are.
    setProperties(role: WindowIdentity.role, takesFocus: false)
    setName(WindowIdentity.title)
    let atoms = screen.atoms
    let (atom, cardinal) = (UInt32(XCB_ATOM_ATOM.rawValue), UInt32(XCB_ATOM_CARDINAL.rawValue))
    connection.set(atoms[.windowType], of: id, to: [atoms[.windowTypeUtility]], type: atom)
    // A window that belongs to another one, which may be the root (EWMH), floats where windows are tiled. It does not
    // belong to the app's window, because it would be minimised with that.
    connection.set(
      UInt32(XCB_ATOM_WM_TRANSIENT_FOR.rawValue), of: id, to: [screen.root], type: UInt32(XCB_ATOM_WINDOW.rawValue))
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

  /// Opens the window without the window manager where that is a compositor's that keeps no window above others. In
  /// cage, it would make the window as large as the screen.
  private func leaveWindowManager() {
    guard compositor != nil, !screen.supports(.stateAbove) else { return }
    var isAlone: UInt32 = 1
    xcb_change_window_attributes(connection.pointer, id, UInt32(XCB_CW_OVERRIDE_REDIRECT.rawValue), &isAlone)
  }

  // MARK: - Keyboard

  private enum KeyboardOwner {
    case window(UInt32)
    /// A window of the compositor whose Xwayland this is.
    case compositor
  }

  func takeKeyboard() -> Bool {
    if compositor != nil, screen.supports(.stateAbove) {
      // The compositor has the keyboard, and only windows get it that say that they take it.
      keyboardOwner = .compositor
      setTakesFocus(true)
      // 2 stands for a direct action of the user, which may have been in another program, so that its time is not known.
      screen.send(.activeWindow, about: id, (2, 0, 0, 0, 0))
      return true
    }
    let request = xcb_get_input_focus(connection.pointer).sequence
    if let reply = connection.answer(request, as: xcb_get_input_focus_reply_t.self) {
      if reply.pointee.focus != id { keyboardOwner = .window(reply.pointee.focus) }
      free(reply)
    }
    giveKeyboard(to: id)
    return true
  }

  func returnKeyboard() {
    guard let owner = keyboardOwner else { return }
    forgetKeyboardOwner()
    switch owner {
    // The window may have been destroyed meanwhile, and then the server refuses it.
    case .window(let window): giveKeyboard(to: window)
    case .compositor:
      // Nothing on X11 names a window of the compositor. It gets the keyboard when this one goes.
      hide()
      returnsSoon = true
    }
  }

  private func forgetKeyboardOwner() {
    if case .compositor = keyboardOwner { setTakesFocus(false) }
    keyboardOwner = nil
  }

  /// Gives a window the keyboard. No window manager gives it to this one by itself.
  ///
  /// - Parameter time: the server's time of the user's action; without one, it is now.
  private func giveKeyboard(to window: UInt32, at time: UInt32 = UInt32(XCB_CURRENT_TIME)) {
    xcb_set_input_focus(connection.pointer, UInt8(XCB_INPUT_FOCUS_POINTER_ROOT.rawValue), window, time)
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
    return units(screen.workArea(in: inPixels[index].area, isAlone: inPixels.count == 1))
  }

  var rectangle: PictureRect? { rectangleInPixels.map { units($0) } }

  func snap(to place: WindowPlace, size: PictureSize) {
    let origin = place.origin(of: size, in: workArea)
    move(toX: origin.x, y: origin.y)
  }

  override func move(toX x: Int, y: Int) {
    guard !isFullscreen else { return }
    let old = asked
    super.move(toX: x, y: y)
    if (asked.x, asked.y) != (old.x, old.y) { resting = nil }
  }

  /// A compositor takes the part of a Wayland surface that has the pointer from the surface, whose shape Xwayland does
  /// not tell.
  var canLetPointerThrough: Bool { compositor == nil && connection.hasShapes }

  var canBeFullscreen: Bool { true }

  /// Fills the monitor, or stops that. Where the window manager does not do that with this window, as Openbox with one
  /// that is no normal window, the window takes the monitor's rectangle itself.
  override func setFullscreen(_ isFullscreen: Bool) {
    if allowsFullscreen { return super.setFullscreen(isFullscreen) }
    guard isFullscreen != self.isFullscreen else { return }
    let area = monitors.first { $0.name == monitor }?.area ?? rectangle.flatMap { monitors.under($0)?.area }
    // The window has another shape in between, which the window manager would change.
    isReshaping = true
    allowAnyShape()
    if isFullscreen, let area {
      move(toX: area.x, y: area.y)
      resize(to: area.size.scaled(by: scale))
    }
    _ = fullscreen.request(isFullscreen)
  }

  /// Whether the window manager fills the monitor with this window when it is asked to (EWMH). Reading it waits for the
  /// server.
  private var allowsFullscreen: Bool {
    let actions = connection.numbers(screen.atoms[.allowedActions], of: id)
    return actions.isEmpty ? screen.supports(.stateFullscreen) : actions.contains(screen.atoms[.actionFullscreen])
  }

  func hasBeenMoved(to rectangle: PictureRect) -> Bool {
    defer { resting = (rectangle.x, rectangle.y) }
    let wanted = units(asked)
    guard let resting, (rectangle.x, rectangle.y) != (wanted.x, wanted.y) else { return false }
    return resting != (rectangle.x, rectangle.y)
  }

  func resize(to size: PictureSize, aspectRatio: Double?) {
    guard !isFullscreen else { return }
    let isReshaped = hintedAspectRatio != aspectRatio || !hasHints
    (hintedAspectRatio, hasHints) = (aspectRatio, true)
    // A window manager that is told a new aspect ratio first changes the window to a size of its own choice. It also
    // reads the hints later than they were set. So the hints allow any shape until the window has its new size.
    isReshaping = isReshaping || (isReshaped && self.size.isValid)
    if isReshaping { allowAnyShape() }
    resize(to: size.scaled(by: scale))
    if isReshaping, self.size == asked.size { setShape() }
  }

  /// A window manager makes a size fit the hints that it knows, so it gets those of the new size first.
  override func willResize() { if !isReshaping { setShape() } }

  private func allowAnyShape() { setShape(minimum: PictureSize(width: 1, height: 1), aspectRatio: nil) }

  /// Tells the window manager the final size hints.
  private func setShape() {
    isReshaping = false
    let width = WindowPlacement.minimumWidth
    let height = WindowPlacement.minimumHeight(hintedAspectRatio)
    setShape(minimum: PictureSize(width: width, height: height), aspectRatio: hintedAspectRatio)
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
