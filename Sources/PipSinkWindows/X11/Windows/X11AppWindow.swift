import CWindows
import PipSink

/// An app's window on X11. The window manager draws its border and title.
final class X11AppWindow: X11Window, NativeAppWindow {
  private let options: BackgroundOptions
  private var isShown = false
  /// Whether the window manager's last report said that the window is fullscreen.
  private var wasFullscreen = false

  /// - Parameters:
  ///   - size: the window's first size, in units.
  ///   - options: when the window counts as being in the background.
  ///   - handler: called with the window's events.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the X server cannot be reached.
  init(
    size: PictureSize, _ options: BackgroundOptions, handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) throws(PipSinkError) {
    self.options = options
    try super.init(display: nil, size: size, handler: handler)
    // The server reports the size only when it changes, which does not happen without a window manager.
    self.size = size.scaled(by: scale)
    setProperties(role: VideoWindow.role, takesFocus: true)
    let atoms = screen.atoms
    connection.set(
      atoms[.windowType], of: id, to: [atoms[.windowTypeNormal]], type: UInt32(XCB_ATOM_ATOM.rawValue))
    connection.flush()
  }

  var monitor: WindowMonitor? {
    guard isShown, let rectangle = rectangleInPixels, let found = screen.monitors.under(rectangle) else { return nil }
    return WindowMonitor(name: found.name, area: units(found.area))
  }

  func setTitle(_ title: String) {
    setName(title)
    setIconName(title)
    connection.flush()
  }

  func show() {
    guard !isShown else { return }
    isShown = true
    wasFullscreen = isFullscreen
    // Window managers remove _NET_WM_STATE when a window is hidden (EWMH).
    let states = isFullscreen ? [screen.atoms[.stateFullscreen]] : []
    connection.set(screen.atoms[.state], of: id, to: states, type: UInt32(XCB_ATOM_ATOM.rawValue))
    map()
    connection.flush()
  }

  func hide() {
    isShown = false
    unmap()
  }

  /// The state that was requested last, by ``setFullscreen(_:)`` or by the user through the window manager.
  private(set) var isFullscreen = false

  func setFullscreen(_ isFullscreen: Bool) {
    guard self.isFullscreen != isFullscreen else { return }
    self.isFullscreen = isFullscreen
    guard isShown else { return }
    // EWMH, _NET_WM_STATE: 1 adds a state and 0 removes it; the fourth number says that an application asks for it.
    screen.send(.state, about: id, (isFullscreen ? 1 : 0, screen.atoms[.stateFullscreen], 0, 1, 0))
  }

  override func handle(_ event: WindowEvent) {
    if case .stateChanged = event { noteFullscreen() }
    super.handle(event)
  }

  /// Takes over a change that the user made through the window manager. A report that only repeats the last reported
  /// state is ignored, because a request of the program may still be on its way.
  private func noteFullscreen() {
    guard isShown else { return }
    let isFull = connection.numbers(screen.atoms[.state], of: id).contains(screen.atoms[.stateFullscreen])
    if isFull != wasFullscreen { isFullscreen = isFull }
    wasFullscreen = isFull
  }

  func present() {
    guard isShown else { return }
    let time = X11UserAction.time
    // Mapping a minimised window restores it (ICCCM 4.1.4).
    map()
    // Openbox and others only mark a window on another workspace as urgent, so its workspace is shown first.
    if time != nil, let desktop, desktop.own != .max, desktop.own != desktop.shown {
      screen.send(.currentDesktop, about: screen.root, (desktop.own, time ?? 0, 0, 0, 0))
    }
    // EWMH, _NET_ACTIVE_WINDOW: 2 stands for a direct action of the user, 1 for an application's request.
    screen.send(.activeWindow, about: id, (time == nil ? 1 : 2, time ?? 0, 0, 0, 0))
  }

  // MARK: - In the background

  /// It has no effect, because the X server always reports what is needed.
  var isBackgroundWatched = false

  var isInBackground: Bool {
    guard !connection.isBroken else { return false }
    var signs = signs
    // KWin hides all windows for that without minimising them.
    let showsDesktop = connection.numbers(screen.atoms[.showingDesktop], of: screen.root).first == 1
    signs.isMinimized = isMinimized || showsDesktop
    signs.desktop = desktop
    return signs.isInBackground(options)
  }

  /// The numbers of the window's workspace and of the one that is shown (EWMH).
  private var desktop: (own: UInt32, shown: UInt32)? {
    let atoms = screen.atoms
    guard let own = connection.numbers(atoms[.desktop], of: id).first,
      let shown = connection.numbers(atoms[.currentDesktop], of: screen.root).first
    else { return nil }
    return (own, shown)
  }
}
