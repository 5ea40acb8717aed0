import PipSink

/// An app's window on Wayland (xdg-shell). Where the compositor does not draw its border, as on GNOME, the window has a
/// title bar that PipSink draws.
///
/// libdecor, which imitates the desktop's title bars, is not used: its plugin for GNOME loads GTK 3 into the program,
/// and it reads the connection on a thread of its caller.
final class WaylandAppWindow: WaylandWindow, NativeAppWindow {
  private let options: BackgroundOptions
  private var title = ""
  private var xdgSurface: WaylandObject<XDGSurface>?
  private var toplevel: WaylandObject<XDGToplevel>?
  private var decoration: WaylandObject<ZXDGToplevelDecoration>?
  /// Whether the compositor draws the border.
  private let isDecorated = Locked(false)
  private var bar: WaylandTitleBar?
  private var barInput = WaylandInput { _ in }
  private var barQueue: WindowEventQueue<WindowEvent>?
  /// The window's size when it is neither maximised, nor fullscreen, nor tiled, in units.
  private var normalSize: PictureSize
  /// The states of the xdg_toplevel that the compositor has sent last.
  private var states: Set<XDGToplevel.State> = []
  private var fullscreen = FullscreenState()
  private var watch: WaylandFrameWatch?
  private var isFrameMissing = false
  private var lastBarPress: UInt32?

  /// Creates a window that is hidden until ``show()``.
  ///
  /// - Parameters:
  ///   - display: the compositor's socket, as in `WAYLAND_DISPLAY`; nil for the one that the environment names.
  ///   - size: the window's first size, in units.
  ///   - options: when the window counts as being in the background.
  ///   - handler: called with the window's events.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the compositor cannot be reached or has
  ///   no xdg-shell.
  init(
    display: String? = nil, size: PictureSize, _ options: BackgroundOptions,
    handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) throws(PipSinkError) {
    self.options = options
    normalSize = size
    let connection = try WaylandConnection.shared(display)
    guard connection.globals.shell != nil else {
      throw .system(.displayUnavailable(reason: "the Wayland compositor has no xdg-shell"))
    }
    super.init(connection, size: size, handler: handler)
    let queue = WindowEventQueue { [weak self] (event: WindowEvent) in self?.handleBar(event) }
    barQueue = queue
    barInput = WaylandInput { queue.append($0) }
  }

  isolated deinit { takeAway() }

  // MARK: - NativeAppWindow

  func setTitle(_ title: String) {
    self.title = title
    guard let toplevel else { return }
    toplevel.setTitle(title)
    if let bar { drawBar(width: bar.width, hovered: bar.hovered) }
    flush()
  }

  func show() {
    guard surface == nil, let surface = makeSurface() else { return }
    makeToplevel(surface)
    requestSize()
  }

  func hide() {
    takeAway()
    report(.stateChanged)
  }

  func present() async { await activate() }

  var isFullscreen: Bool { fullscreen.isOn }

  func setFullscreen(_ isFullscreen: Bool) {
    guard fullscreen.request(isFullscreen) else { return }
    toplevel?.fillMonitor(isFullscreen)
    flush()
  }

  // MARK: - The toplevel

  private func makeToplevel(_ surface: WaylandSurface) {
    let (xdgSurface, configure) = makeShellSurface(surface)
    self.xdgSurface = xdgSurface
    toplevel = xdgSurface.flatMap { makeToplevel($0, title: title, configure: configure) }
    guard let toplevel else { return }
    toplevel.setMinSize(160, 90)
    globals.tagManager?.setToplevelTag(toplevel.reference, VideoWindow.role)
    isDecorated.withLock { $0 = false }
    decoration = globals.decorationManager?.getToplevelDecoration(toplevel.reference) { [isDecorated] events in
      events.configure { mode in isDecorated.withLock { $0 = mode == .serverSide } }
    }
    // The compositor's answer comes before the window's first size.
    decoration?.setMode(.serverSide)
    if isFullscreen { toplevel.fillMonitor(true) }
  }

  override func destroyRole() {
    watch?.end()
    fullscreen.expect(report: false)
    (watch, isFrameMissing, states, bar) = (nil, false, [], nil)
    for object: WaylandProxy? in [decoration, toplevel, xdgSurface] { object?.destroy() }
    (decoration, toplevel, xdgSurface) = (nil, nil, nil)
  }

  private var hasBar: Bool { !isDecorated.withLock { $0 } && !states.contains(.fullscreen) }

  override func chooseSize(_ offered: PictureSize?, states: Set<XDGToplevel.State>) -> PictureSize {
    self.states = states
    let barHeight = hasBar ? WaylandTitleBar.height : 0
    guard let offered else { return normalSize }
    let size = PictureSize(width: offered.width, height: max(1, offered.height - barHeight))
    if states.isDisjoint(with: XDGToplevel.State.tiled.union([.maximized, .fullscreen])) { normalSize = size }
    return size
  }

  override func acknowledge(_ serial: UInt32, _ size: PictureSize) {
    xdgSurface?.ackConfigure(serial)
    let barHeight = hasBar ? WaylandTitleBar.height : 0
    xdgSurface?.setWindowGeometry(0, -barHeight, size.width, size.height + barHeight)
    hasGrips = hasBar && !states.contains(.maximized)
    guard hasBar, let surface else {
      bar = nil
      return
    }
    if bar == nil { bar = WaylandTitleBar(globals, over: surface.surface, input: barInput) }
    drawBar(width: size.width)
  }

  private func drawBar(width: Int, hovered: WaylandTitleBar.Part? = nil) {
    barInput.state.withLock { $0.scale = 1 }
    bar?.draw(title, width: width, scale: scale, hovered: hovered, isActive: states.contains(.activated))
  }

  override func didEnterStates(_ states: Set<XDGToplevel.State>) {
    fullscreen.note(report: self.states.contains(.fullscreen))
    // The pixel that is watched is created only now, so that it is above the tiles.
    if isBackgroundWatched { watchFrames() }
    report(.stateChanged)
  }

  // MARK: - The title bar and the corners

  private func handleBar(_ event: WindowEvent) {
    guard let bar else { return }
    switch event {
    case .moved(let place), .entered(let place):
      drawBar(width: bar.width, hovered: bar.part(x: place.x, y: place.y))
      flush()
    case .left:
      drawBar(width: bar.width)
      flush()
    case .pressed(let button, let place, let time): pressBar(button, bar.part(x: place.x, y: place.y), place, time)
    case .released(let button, let place):
      guard button == 1 else { return }
      releaseBar(bar.part(x: place.x, y: place.y))
    default: break
    }
  }

  private func pressBar(_ button: Int, _ part: WaylandTitleBar.Part, _ place: WindowEvent.Place, _ time: UInt32) {
    guard part == .title, let action = globals.lastAction, let toplevel else { return }
    if button == 3 {
      toplevel.showWindowMenu(
        action.seat.reference, action.serial, Int(place.x), Int(place.y) - WaylandTitleBar.height)
    } else if button == 1, let lastBarPress, time &- lastBarPress <= 400 {
      self.lastBarPress = nil
      toggleMaximised()
    } else if button == 1 {
      lastBarPress = time
      toplevel.move(action.seat.reference, action.serial)
    }
    flush()
  }

  private func releaseBar(_ part: WaylandTitleBar.Part) {
    switch part {
    case .title: break
    case .minimise: toplevel?.setMinimized()
    case .maximise: toggleMaximised()
    case .close: report(.closeRequested)
    }
    flush()
  }

  private func toggleMaximised() {
    if states.contains(.maximized) { toplevel?.unsetMaximized() } else { toplevel?.setMaximized() }
  }

  override func handle(_ event: WindowEvent) {
    if hasGrips, case .pressed(1, let place, _) = event,
      case .corner(let isLeft) = WindowGrip(x: place.x / scale, y: place.y / scale, size: units),
      let action = globals.lastAction
    {
      let isTop = place.y / scale < Double(units.height) / 2
      toplevel?.resize(action.seat.reference, action.serial, .corner(isTop: isTop, isLeft: isLeft))
      return flush()
    }
    super.handle(event)
  }

  // MARK: - In the background

  var isInBackground: Bool {
    guard !isBroken else { return false }
    var signs = BackgroundSigns()
    signs.isMapped = surface != nil
    signs.isFocused = states.contains(.activated)
    signs.isFrameMissing = isFrameMissing || states.contains(.suspended)
    return signs.isInBackground(options)
  }

  var isBackgroundWatched = false {
    didSet {
      guard isBackgroundWatched != oldValue else { return }
      if isBackgroundWatched { watchFrames() } else { endWatch() }
    }
  }

  /// Watches whether the compositor requests frames from the window. The state "suspended" of xdg_toplevel comes late,
  /// and not from all compositors.
  private func watchFrames() {
    guard watch == nil, isConfigured, let surface,
      let probe = WaylandFrameProbe(globals, over: surface.surface.reference)
    else { return }
    let frames = WaylandFrameWatch(connection.loop, probe) { [weak self] isMissing in
      Task { @MainActor in self?.note(isFrameMissing: isMissing) }
    }
    watch = frames
    for tile in tiles { tile.onFrameShown { [weak frames] in frames?.noteFrame() } }
    surface.commit()
    flush()
  }

  private func endWatch() {
    for tile in tiles { tile.onFrameShown(nil) }
    watch?.end()
    (watch, isFrameMissing) = (nil, false)
  }

  private func note(isFrameMissing: Bool) {
    guard watch != nil, self.isFrameMissing != isFrameMissing else { return }
    self.isFrameMissing = isFrameMissing
    report(.stateChanged)
  }

  override func makeTile(decoration: WindowOverlay, renderer: WindowRenderer) throws(PipSinkError) -> any WindowTile {
    let tile = try super.makeTile(decoration: decoration, renderer: renderer)
    if let watch, let surface, let probe = WaylandFrameProbe(globals, over: surface.surface.reference) {
      (tile as? WaylandTile)?.onFrameShown { [weak watch] in watch?.noteFrame() }
      watch.replaceProbe(probe)
      surface.commit()
      flush()
    }
    return tile
  }
}
