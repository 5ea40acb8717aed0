import CWindows
import PipSink

/// A window of our own on a Wayland compositor: what windows of all roles have in common.
///
/// All of it happens on the main actor. What the compositor says comes from the connection's thread, in its order.
@MainActor
class WaylandWindow: NativeWindow {
  /// What the compositor says, as the connection's thread passes it on.
  enum Signal: Sendable {
    case event(WindowEvent)
    /// The window is to have a size, in units, or any where that is nil; `states` are those of xdg_toplevel.
    case configured(serial: UInt32, PictureSize?, states: [UInt32])
    case scale(Double)
    /// The window is on a monitor, or not any more; with the address of its wl_output.
    case output(UInt, isOn: Bool)
    case outputsChanged
    case probed
    /// The compositor shows the window no more.
    case closed
    /// The compositor has said all that it had to say after ``closed``.
    case settled
    /// About one of the surfaces that the window has had, by their numbers.
    indirect case of(surface: Int, Signal)
  }

  /// Passes on what the compositor says of one surface: when another has taken its place, it means nothing any more.
  struct SurfaceSignals: Sendable {
    fileprivate let queue: WindowEventQueue<Signal>
    fileprivate let number: Int

    func append(_ signal: Signal) { queue.append(.of(surface: number, signal)) }
  }

  let connection: WaylandConnection
  var globals: WaylandGlobals { connection.globals }
  /// Gets what the compositor says.
  private(set) var queue: WindowEventQueue<Signal>
  /// nil while the window is hidden.
  private(set) var surface: WaylandSurface?
  /// How many there have been.
  private var surfaceCount = 0
  /// Of the surface that is there now.
  var signals: SurfaceSignals { SurfaceSignals(queue: queue, number: surfaceCount) }
  /// In units: what the window has, or will have when it is shown.
  private(set) var units: PictureSize
  private(set) var scale: Double
  private(set) var size = PictureSize(width: 0, height: 0)
  private let handler: @MainActor @Sendable (WindowEvent) -> Void
  private var input = WaylandInput { _ in }
  private(set) var tiles: [WaylandTile] = []
  private var outputs: [UInt] = []
  private var preferredScale: Double?
  private var isClosed = false
  /// Whether the compositor has given the surface a size.
  private(set) var isConfigured = false
  private var opacity = UInt32.max

  /// - Parameters:
  ///   - size: in units.
  ///   - handler: is told what happens to the window.
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

  /// The desktop's settings are not asked for.
  var animates: Bool { DesktopSettings.wantsAnimations }

  func makeTile(decoration: WindowOverlay) throws(PipSinkError) -> any WindowTile {
    guard let tileGlobals = WaylandTile.Globals(globals) else {
      throw .system(.displayUnavailable(reason: "the Wayland compositor has gone"))
    }
    let tile = WaylandTile(tileGlobals, connection.loop, decoration: decoration)
    tile.setScale(scale)
    tiles.append(tile)
    if let surface, isConfigured { tile.attach(to: surface.surface.pointer) }
    return tile
  }

  func remove(_ tile: any WindowTile) {
    tile.leaveWindow()
    tiles.removeAll { $0 === tile }
  }

  func flush() { connection.loop.flush() }

  // MARK: - For the roles

  /// Makes a surface, to which the caller gives a role.
  func makeSurface() -> WaylandSurface? {
    guard surface == nil else { return surface }
    surfaceCount += 1
    let signals = signals
    let made = WaylandSurface(
      globals, input: input, scaleChanged: { signals.append(.scale($0)) },
      outputsChanged: { signals.append(.output($0, isOn: $1)) })
    surface = made
    made?.setOpacity(opacity)
    return made
  }

  /// Puts the tiles over the surface. Not before the compositor knows the surface with its role: sway 1.7 hears nothing of
  /// surfaces that lie over a layer before its first commit, and shows what they show when something else changes.
  private func attachTiles() {
    guard let surface else { return }
    for tile in tiles { tile.attach(to: surface.surface.pointer) }
  }

  /// Has the compositor answer with a size, once the surface has its role.
  func requestSize() { commit() }

  /// Lets the objects go that give the surface its role; for subclasses.
  func destroyRole() {}

  /// Tells the compositor that a size was heard of; for subclasses.
  func acknowledge(_ serial: UInt32, _ size: PictureSize) {}

  /// What the window's size is where the compositor leaves it to the window, or wants another one; for subclasses.
  func chooseSize(_ offered: PictureSize?, states: [UInt32]) -> PictureSize { offered ?? units }

  /// For subclasses.
  func didProbe() {}

  /// The compositor shows the window no more; for subclasses that know why.
  func didClose() { lose() }

  /// For subclasses.
  func didSettle() {}

  /// There is no window any more.
  func lose() {
    isClosed = true
    handle(.lost)
  }

  /// For subclasses.
  func didEnterStates(_ states: [UInt32]) {}

  /// Subclasses call it before they go, while they can still let go of their role.
  func takeAway() {
    guard let surface else { return }
    for tile in tiles { tile.detach() }
    destroyRole()
    surface.destroy()
    self.surface = nil
    (isConfigured, outputs, preferredScale) = (false, [], nil)
    flush()
  }

  func setSurfaceOpacity(_ opacity: UInt32) {
    self.opacity = opacity
    guard let surface else { return }
    surface.setOpacity(opacity)
    for tile in tiles { tile.setOpacity(opacity) }
    if isConfigured { surface.commit() }
    flush()
  }

  /// Where the corners resize the window: a place there shows that.
  var hasGrips = false { didSet { noteGrips() } }

  private func noteGrips() {
    let grips = hasGrips ? units : nil
    let scale = scale
    input.state.withLock { ($0.gripSize, $0.scale) = (grips, scale) }
  }

  /// Takes a size that nobody else has a say in.
  func takeSize(_ size: PictureSize) {
    guard units != size else { return }
    units = size
    guard isConfigured else { return }
    applySize()
  }

  // MARK: - What happens

  func tell(_ event: WindowEvent) { handler(event) }

  /// For subclasses that look at events first.
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
      // Some say the same several times.
      if units != old || !wasConfigured { applySize() } else { commit() }
      if !wasConfigured { handle(.exposed) }
      didEnterStates(states)
    case .scale(let scale):
      preferredScale = scale
      updateScale()
    case .output(let output, let isOn):
      outputs.removeAll { $0 == output }
      if isOn { outputs.append(output) }
      updateScale()
    case .outputsChanged:
      let known = globals.outputs.compactMap { $0.proxy.map { UInt(bitPattern: $0.pointer) } }
      outputs.removeAll { !known.contains($0) }
      updateScale()
      handle(.screenChanged)
    case .probed: didProbe()
    case .closed:
      if surface != nil { didClose() }
    case .settled: didSettle()
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
    // Tiles get their places from this, and all of it is shown at once.
    if size != old { handle(.resized(size)) }
    commit()
  }

  // MARK: - Scale and monitors

  /// The monitor that the window comes to when it is shown; nil where that is the compositor's business.
  var chosenOutput: WaylandOutput? { nil }

  /// The monitor that the window has come to last, of those that show a part of it.
  var monitor: WindowMonitor? {
    guard let last = outputs.last,
      let output = globals.outputs.first(where: { $0.proxy.map { UInt(bitPattern: $0.pointer) } == last })
    else { return nil }
    return output.area.map { WindowMonitor(name: output.name, area: $0) }
  }

  private var currentScale: Double {
    if let preferredScale, globals.viewporter != nil { return preferredScale }
    let known = globals.outputs
    let own = known.filter { output in
      output.proxy.map { outputs.contains(UInt(bitPattern: $0.pointer)) } ?? false
    }
    // The finest monitor's that it is on.
    return (own.isEmpty ? (chosenOutput ?? known.first).map { [$0] } ?? [] : own)
      .map { globals.viewporter == nil ? Double($0.wholeScale) : $0.scale }.max() ?? 1
  }

  private func updateScale() {
    let new = currentScale
    guard new != scale else { return }
    scale = new
    noteGrips()
    for tile in tiles { tile.setScale(new) }
    if isConfigured { applySize() }
  }
}

extension WaylandTile.Globals {
  init?(_ globals: WaylandGlobals) {
    guard let compositor = globals.compositor, let subcompositor = globals.subcompositor,
      let sharedMemory = globals.sharedMemory
    else { return nil }
    self.init(
      compositor: compositor, subcompositor: subcompositor, sharedMemory: sharedMemory, viewporter: globals.viewporter,
      fractionalScaleManager: globals.fractionalScaleManager, alphaModifier: globals.alphaModifier)
  }
}
