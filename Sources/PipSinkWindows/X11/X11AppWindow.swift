import CWindows
import PipSink

/// An app's window on X11, with a border and a title by the window manager.
final class X11AppWindow: X11Window, NativeAppWindow {
  private let options: BackgroundOptions
  private var isShown = false
  /// Whether the window manager had it fill the screen last.
  private var wasFullscreen = false

  /// - Parameters:
  ///   - size: in units.
  ///   - handler: is told what happens to the window.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  init(
    size: PictureSize, _ options: BackgroundOptions, handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) throws(PipSinkError) {
    self.options = options
    try super.init(display: nil, size: size, handler: handler)
    // Where no window manager gives it another one, nobody tells it of the size that it has.
    self.size = size.scaled(by: scale)
    setProperties(title: VideoWindow.title, role: VideoWindow.role)
    setIconName(VideoWindow.title)
    let atoms = screen.atoms
    connection.set(
      atoms[.windowType], of: id, to: [atoms[.windowTypeNormal]], type: UInt32(XCB_ATOM_ATOM.rawValue))
    connection.flush()
  }

  var monitor: WindowMonitor? {
    guard isShown, let frame = frameInPixels, let found = screen.monitors.under(frame) else { return nil }
    return WindowMonitor(name: found.name, area: units(found.area))
  }

  func show() {
    guard !isShown else { return }
    isShown = true
    wasFullscreen = isFullscreen
    // Window managers forget it when a window is hidden.
    let states = isFullscreen ? [screen.atoms[.stateFullscreen]] : []
    connection.set(screen.atoms[.state], of: id, to: states, type: UInt32(XCB_ATOM_ATOM.rawValue))
    map()
    connection.flush()
  }

  func hide() {
    isShown = false
    unmap()
  }

  /// What was asked for last, here or of the window manager.
  private(set) var isFullscreen = false

  func setFullscreen(_ isFullscreen: Bool) {
    guard self.isFullscreen != isFullscreen else { return }
    self.isFullscreen = isFullscreen
    guard isShown else { return }
    // 1 adds a state and 0 takes it away; the last number says that a program asks for it.
    send(.state, about: id, (isFullscreen ? 1 : 0, screen.atoms[.stateFullscreen], 0, 1, 0))
  }

  override func handle(_ event: WindowEvent) {
    if case .stateChanged = event { noteFullscreen() }
    super.handle(event)
  }

  /// The window manager's own key changes it, too. While what was asked for is on its way, nothing changes.
  private func noteFullscreen() {
    guard isShown else { return }
    let isFull = connection.numbers(screen.atoms[.state], of: id).contains(screen.atoms[.stateFullscreen])
    if isFull != wasFullscreen { isFullscreen = isFull }
    wasFullscreen = isFull
  }

  func present() {
    guard isShown else { return }
    let time = X11UserAction.time
    // One that is minimised comes back.
    map()
    // openbox and others only mark a window on another workspace as urgent.
    if time != nil, let desktop, desktop.own != .max, desktop.own != desktop.shown {
      send(.currentDesktop, about: screen.root, (desktop.own, time ?? 0, 0, 0, 0))
    }
    // 2 is for a direct action of the user's, 1 for a program's wish (EWMH).
    send(.activeWindow, about: id, (time == nil ? 1 : 2, time ?? 0, 0, 0, 0))
  }

  private func send(_ message: X11Atoms.Name, about window: UInt32, _ values: (UInt32, UInt32, UInt32, UInt32, UInt32))
  {
    var event = xcb_client_message_event_t()
    event.response_type = UInt8(XCB_CLIENT_MESSAGE)
    event.format = 32
    event.window = window
    event.type = screen.atoms[message]
    event.data.data32 = values
    let mask = XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue
    withUnsafeBytes(of: &event) { bytes in
      _ = xcb_send_event(
        connection.pointer, 0, screen.root, UInt32(mask), bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
    }
    connection.flush()
  }

  // MARK: - In the background

  /// The server tells in any case.
  var isBackgroundWatched = false

  var isInBackground: Bool {
    guard !connection.isBroken else { return false }
    var signs = signs
    signs.isMinimized = isMinimized
    signs.desktop = desktop
    return signs.isInBackground(options)
  }

  private var desktop: (own: UInt32, shown: UInt32)? {
    let atoms = screen.atoms
    guard let own = connection.numbers(atoms[.desktop], of: id).first,
      let shown = connection.numbers(atoms[.currentDesktop], of: screen.root).first
    else { return nil }
    return (own, shown)
  }
}
