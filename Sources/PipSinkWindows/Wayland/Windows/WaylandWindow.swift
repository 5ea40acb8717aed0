import PipSink

/// One of PipSink's windows on a Wayland compositor: what windows of all roles have in common.
///
/// Everything happens on the main actor. The compositor's events are passed on from the connection's thread, in their
/// order.
@MainActor
class WaylandWindow: NativeWindow {
  /// An event of the compositor, as the connection's thread passes it on.
  enum Signal: Sendable {
    case event(WindowEvent)
    /// The compositor has chosen a size for the window, in units, or leaves it to the window where that is nil. The
    /// states are those of xdg_toplevel.
    case configured(serial: UInt32, PictureSize?, states: Set<XDGToplevel.State>)
    /// The compositor prefers another scale.
    case scale(Double)
    /// A part of the window has entered or left a monitor. The part is one of the tiles, or what is behind them where it
    /// is nil.
    case output(WaylandReference<WLOutput>, isOn: Bool, of: ObjectIdentifier? = nil)
    /// The monitors have changed.
    case outputsChanged
    /// The compositor has shown the window, as a ``WaylandFrameProbe`` was asked to find out.
    case probed
    /// The compositor has closed the window.
    case closed
    /// The compositor has sent all events that follow ``closed``.
    case settled
    /// The compositor has sent all events that follow a request for the keyboard, or its return.
    case keyboardSettled
    /// The signal is about one of the surfaces that the window has had, which are numbered.
    indirect case of(surface: Int, Signal)
  }

  /// Passes on the signals about one surface. They are ignored once the window has another surface.
  struct SurfaceSignals: Sendable {
    fileprivate let queue: WindowEventQueue<Signal>
    fileprivate let number: Int

    func append(_ signal: Signal) { queue.append(.of(surface: number, signal)) }
  }

  let connection: WaylandConnection
  var globals: WaylandGlobals { connection.globals }
  /// Passes signals on to the main actor.
  private(set) var queue: WindowEventQueue<Signal>
  /// The window's surface, or nil while the window is hidden.
  private(set) var surface: WaylandSurface?
  /// The number of surfaces that the window has had.
  private var surfaceCount = 0
  /// Passes on the signals about the current surface.
  var signals: SurfaceSignals { SurfaceSignals(queue: queue, number: surfaceCount) }
  /// The size in units that the window has, or will have when it is shown.
  private(set) var units: PictureSize
  private(set) var scale: Double
  private(set) var size = PictureSize(width: 0, height: 0)
  private let handler: @MainActor @Sendable (WindowEvent) -> Void
  private var input = WaylandInput { _ in }
  private(set) var tiles: [WaylandTile] = []
  private var outputs = WaylandWindowMonitors()
  private var isClosed = false
  /// Whether the compositor has given the surface a size.
  private(set) var isConfigured = false
  private var opacity = UInt32.max
  private var isScreenKeptOn = false
  /// The part of the window that takes the pointer, in units; nil for all of it.
  private var inputArea: PictureRect?

  /// Creates a window without a surface.
  ///
  /// - Parameters:
  ///   - connection: the connection to the compositor.
  ///   - size: the window's first size, in units.
  ///   - handler: called with the window's events.
  init(
    _ connection: WaylandConnection, size: PictureSize, handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) {
    (self.connection, self.handler, units) = (connection, handler, size)
    scale = 1
    queue = WindowEventQueue { _ in }
    let queue = WindowEventQueue { [weak self] (signal: Signal) in self?.receive(signal) }
    self.queue = queue
    input = WaylandInput { queue.append(.event($0)) }
    connection.loop.onLoss(ObjectIdentifier(self)) { queue.append(.event(.lost)) }
    connection.globals.watchOutputs(ObjectIdentifier(self)) { queue.append(.outputsChanged) }
    scale = currentScale
    input.state.withLock { $0.scale = scale }
  }

  isolated deinit {
    connection.loop.forgetLoss(ObjectIdentifier(self))
    connection.globals.watchOutputs(ObjectIdentifier(self), nil)
    for tile in tiles { tile.leaveWindow() }
    takeAway()
  }

  // MARK: - NativeWindow

  var isBroken: Bool { isClosed || connection.loop.isLost }

  /// Whether the user wants animations.
  var look: DesktopLook { DesktopSettings.look }

  func makeTile(decoration: WindowOverlay, renderer: WindowRenderer) throws(PipSinkError) -> any WindowTile {
    guard let tileGlobals = WaylandTile.Globals(globals, renderer) else {
      throw .system(.displayUnavailable(reason: "the Wayland compositor has gone"))
    }
    let tile = WaylandTile(tileGlobals, connection.loop, decoration: decoration)
    tile.setScale(scale)
    tiles.append(tile)
    if let surface, isConfigured { attach(tile, to: surface) }
    return tile
  }

  func remove(_ tile: any WindowTile) {
    tile.leaveWindow()
    tiles.removeAll { $0 === tile }
    outputs.forget(ObjectIdentifier(tile))
  }

  func flush() { connection.loop.flush() }

  func keepScreenOn(_ isKeptOn: Bool) {
    isScreenKeptOn = isKeptOn
    surface?.keepScreenOn(isKeptOn)
    flush()
  }

  // MARK: - For subclasses

  /// Creates the window's surface, to which the caller gives a role.
  func makeSurface() -> WaylandSurface? {
    guard surface == nil else { return surface }
    surfaceCount += 1
    let signals = signals
    let made = WaylandSurface(
      globals, input: input, scaleChanged: { signals.append(.scale($0)) },
      outputsChanged: { signals.append(.output($0, isOn: $1)) })
    surface = made
    made?.setOpacity(opacity)
    made?.keepScreenOn(isScreenKeptOn)
    if let inputArea { made?.setInputArea(inputArea) }
    return made
  }

  /// Makes an xdg_surface of the window's surface. Its event says that all events of a configuration have arrived.
  ///
  /// - Returns: the xdg_surface, and a closure that takes the configuration's size and states, which an event of the
  ///   shell object has.
  func makeShellSurface(
    _ surface: WaylandSurface
  ) -> (WaylandObject<XDGSurface>?, configure: @Sendable (_ width: Int, _ height: Int, _ states: [UInt32]) -> Void) {
    let pending = Locked((size: PictureSize?.none, states: Set<XDGToplevel.State>()))
    let made = globals.shell?.getXDGSurface(surface.surface.reference) { [signals] events in
      events.configure { serial in
        let (size, states) = pending.withLock { $0 }
        signals.append(.configured(serial: serial, size, states: states))
      }
    }
    return (
      made,
      { width, height, states in
        let size = PictureSize(width: width, height: height)
        pending.withLock { $0 = (size.isValid ? size : nil, Set(states.compactMap(XDGToplevel.State.init))) }
      }
    )
  }

  /// Makes an xdg_surface an ordinary window.
  func makeToplevel(
    _ xdgSurface: WaylandObject<XDGSurface>, title: String,
    configure: @escaping @Sendable (_ width: Int, _ height: Int, _ states: [UInt32]) -> Void
  ) -> WaylandObject<XDGToplevel>? {
    let toplevel = xdgSurface.getToplevel { [signals] events in
      events.configure(configure)
      events.close { signals.append(.event(.closeRequested)) }
    }
    toplevel?.setTitle(title)
    toplevel?.setAppID(WindowIdentity.programName)
    return toplevel
  }

  /// Attaches the tiles to the surface. This must not happen before the compositor knows the surface with its role:
  /// sway 1.7 does not notice subsurfaces that were added to a layer before its first commit, and then updates them
  /// only when something else changes.
  private func attachTiles() {
    guard let surface else { return }
    for tile in tiles { attach(tile, to: surface) }
  }

  private func attach(_ tile: WaylandTile, to surface: WaylandSurface) {
    let (signals, id) = (signals, ObjectIdentifier(tile))
    tile.attach(to: surface.surface.reference, outputsChanged: { signals.append(.output($0, isOn: $1, of: id)) })
  }

  /// Asks the compositor for the window's size, once the surface has its role.
  func requestSize() { commit() }

  /// Destroys the objects that give the surface its role. Subclasses override it.
  func destroyRole() {}

  /// Tells the compositor that its choice of a size has been received. Subclasses override it.
  func acknowledge(_ serial: UInt32, _ size: PictureSize) {}

  /// Returns the window's size in units, given the size that the compositor has chosen; nil when it leaves that to the
  /// window. Subclasses override it.
  func chooseSize(_ offered: PictureSize?, states: Set<XDGToplevel.State>) -> PictureSize { offered ?? units }

  /// Called for ``Signal/probed``. Subclasses override it.
  func didProbe() {}

  /// Called when the compositor has closed the window. Subclasses that know other reasons than the window's end
  /// override it.
  func didClose() { lose() }

  /// Called for ``Signal/settled``. Subclasses override it.
  func didSettle() {}

  /// Called when the compositor has done what was asked about the keyboard. Subclasses override it.
  func didSettleKeyboard() {}

  /// Reports that the window has been destroyed.
  func lose() {
    isClosed = true
    handle(.lost)
  }

  /// Called when the compositor has sent a size with the window's states, after that has been applied. Subclasses
  /// override it.
  func didEnterStates(_ states: Set<XDGToplevel.State>) {}

  /// Destroys the window's surface and its role. Subclasses call it when they are deinitialised, because the base class
  /// can no longer call their ``destroyRole()`` then.
  func takeAway() {
    guard let surface else { return }
    for tile in tiles { tile.detach() }
    destroyRole()
    surface.destroy()
    self.surface = nil
    (isConfigured, outputs) = (false, WaylandWindowMonitors())
    flush()
  }

  /// Sets the opacity of the surface and the tiles, from 0 to `UInt32.max`.
  func setSurfaceOpacity(_ opacity: UInt32) {
    self.opacity = opacity
    guard let surface else { return }
    surface.setOpacity(opacity)
    for tile in tiles { tile.setOpacity(opacity) }
    if isConfigured { surface.commit() }
    flush()
  }

  /// Sets the part of the window that takes the pointer, in units; nil for all of it.
  func setInputArea(_ area: PictureRect?) {
    guard area != inputArea else { return }
    inputArea = area
    surface?.setInputArea(area)
    if isConfigured { commit() }
  }

  /// Whether the corners resize the window, so that the pointer's image shows that there.
  var hasGrips = false { didSet { noteGrips() } }

  private func noteGrips() {
    let grips = hasGrips ? units : nil
    let scale = scale
    input.state.withLock { ($0.gripSize, $0.scale) = (grips, scale) }
  }

  /// Sets the window's size in units, for roles where the compositor need not agree to it.
  func takeSize(_ size: PictureSize) {
    guard units != size else { return }
    units = size
    guard isConfigured else { return }
    applySize()
  }

  // MARK: - Events

  /// Reports an event to the window's owner.
  func report(_ event: WindowEvent) { handler(event) }

  /// Called with each event. Subclasses override it to handle events first.
  func handle(_ event: WindowEvent) { handler(event) }

  private func receive(_ signal: Signal) {
    switch signal {
    case .event(let event): handle(event)
    case .configured(let serial, let offered, let states):
      guard surface != nil else { return }
      let (old, wasConfigured) = (units, isConfigured)
      units = chooseSize(offered, states: states)
      acknowledge(serial, units)
      isConfigured = true
      if !wasConfigured { attachTiles() }
      // Some compositors send the same size several times.
      if units != old || !wasConfigured { applySize() } else { commit() }
      if !wasConfigured { handle(.exposed) }
      didEnterStates(states)
    case .scale(let scale):
      outputs.preferredScale = scale
      updateScale()
    case .output(let output, let isOn, let tile):
      let isKnown = tile == nil || tiles.contains { ObjectIdentifier($0) == tile }
      outputs.note(output, isOn: isOn && isKnown, of: tile)
      updateScale()
    case .outputsChanged:
      outputs.forget(allBut: globals.outputs)
      updateScale()
      handle(.screenChanged)
    case .probed: didProbe()
    case .closed:
      if surface != nil { didClose() }
    case .settled: didSettle()
    case .keyboardSettled: didSettleKeyboard()
    case .of(let number, let signal):
      if number == surfaceCount { receive(signal) }
    }
  }

  private func commit() {
    surface?.commit()
    flush()
  }

  private func applySize() {
    let old = size
    size = units.scaled(by: scale)
    noteGrips()
    surface?.setSize(units)
    // The owner moves the tiles in response to this event, and the commit shows all of it at once.
    if size != old { handle(.resized(size)) }
    commit()
  }

  // MARK: - Scale and monitors

  /// The monitor on which the window will appear, or nil where the compositor chooses it.
  var chosenOutput: WaylandOutput? { nil }

  /// The monitor that the window has entered last, of those that show a part of it.
  var monitor: WindowMonitor? { outputs.last(of: globals.outputs) }

  private var currentScale: Double { outputs.scale(globals, chosen: chosenOutput) }

  private func updateScale() {
    let new = currentScale
    guard new != scale else { return }
    scale = new
    noteGrips()
    for tile in tiles { tile.setScale(new) }
    if isConfigured { applySize() }
  }
}
