import CWindows
import PipSink

/// An app's window on X11. The window manager draws its border and title.
final class X11AppWindow: X11Window, NativeAppWindow {
  private let options: BackgroundOptions

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
    // Window managers remove _NET_WM_STATE when a window is hidden (EWMH).
    let states = isFullscreen ? [screen.atoms[.stateFullscreen]] : []
    fullscreen.expect(report: isFullscreen)
    connection.set(screen.atoms[.state], of: id, to: states, type: UInt32(XCB_ATOM_ATOM.rawValue))
    map()
    connection.flush()
  }

  func hide() {
    isShown = false
    unmap()
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
