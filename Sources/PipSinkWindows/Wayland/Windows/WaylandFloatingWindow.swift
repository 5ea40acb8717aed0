import PipSink

/// A picture-in-picture window on Wayland. It is a surface on layer-shell's overlay layer, a picture-in-picture window
/// of the compositor's (xx-pip), or an ordinary window (xdg-shell).
final class WaylandFloatingWindow: WaylandWindow, NativePictureInPictureWindow {
  /// The protocol that gives the window's surface its role.
  enum Role {
    /// A surface on layer-shell's overlay layer (zwlr_layer_surface_v1).
    case layer
    /// A picture-in-picture window of the compositor's (xx_pip_v1).
    case pip
    /// An ordinary window (xdg_toplevel).
    case toplevel
  }

  let role: Role
  var layer: WaylandObject<ZWLRLayerSurface>?
  var xdgSurface: WaylandObject<XDGSurface>?
  var toplevel: WaylandObject<XDGToplevel>?
  var pip: WaylandObject<XXPip>?
  var decoration: WaylandObject<ZXDGToplevelDecoration>?
  private var place = WindowPlace(x: 0, y: 0)
  /// The last size that was requested, in units.
  private(set) var wantedSize: PictureSize
  private(set) var aspectRatio: Double?
  /// Whether the window should be shown.
  private var isWanted = false
  /// Whether a layer waits for a monitor, because there is none.
  private var isWaiting = false
  /// The monitor of a layer.
  private(set) var home: WaylandOutput?
  /// The callback that is awaited after the compositor has closed the layer.
  private var question: WaylandProxy?
  private var fullscreen = FullscreenState() { didSet { hasGrips = !fullscreen.isOn } }
  var keyboard = LayerKeyboard()
  var drag: Drag?
  /// Where a button was pressed, for roles whose windows the compositor drags. It may become a drag.
  var pressed: (grip: WindowGrip, place: WindowEvent.Place)?
  /// How far the pointer moves before the compositor drags the window, in units.
  static let dragThreshold = 4.0

  /// A drag of a layer.
  struct Drag {
    /// The window's rectangle when the drag began, in units.
    let start: PictureRect
    var reading: DragReading
    var probe: WaylandFrameProbe?
  }

  /// What the compositor measures the pointer's positions from, once a drag has found it out.
  static var dragOrigin: DragReading.Origin?

  /// Creates a window that is hidden until ``show()``.
  ///
  /// - Parameters:
  ///   - role: the protocol that is used.
  ///   - display: the compositor's socket, as in `WAYLAND_DISPLAY`; nil for the one that the environment names.
  ///   - size: the window's first size, in units.
  ///   - handler: called with the window's events.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the compositor cannot be reached.
  init(
    _ role: Role, display: String? = nil, size: PictureSize,
    handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) throws(PipSinkError) {
    self.role = role
    wantedSize = size
    let connection = try WaylandConnection.shared(display)
    super.init(connection, size: size, handler: handler)
    hasGrips = true
  }

  isolated deinit { takeAway() }

  /// Whether the compositor supports the protocols that a role needs.
  static func isPossible(_ role: Role, _ globals: WaylandGlobals) -> Bool {
    switch role {
    case .layer: globals.layerShell != nil
    case .pip: globals.pipShell != nil && globals.shell != nil
    case .toplevel: globals.shell != nil
    }
  }

  var limitation: String? {
    switch role {
    case .layer: nil
    case .pip: "the compositor places it: corners and remembered places are not kept"
    case .toplevel: "other windows can cover it: \(PictureInPictureWindow.Kind.toplevel.reason)"
    }
  }

  /// Whether a layer has no monitor and so is not visible. Wayland does not tell clients whether a window is minimised.
  var isMinimized: Bool { isWaiting }

  var isComposited: Bool { globals.alphaModifier != nil }

  func describe(_ description: String) {
    if let toplevel { globals.tagManager?.setToplevelDescription(toplevel.reference, description) }
  }

  func setOpacity(_ opacity: Double) { setSurfaceOpacity(UInt32(min(max(0, opacity), 1) * Double(UInt32.max))) }

  // MARK: - Roles

  func show() {
    isWanted = true
    appear()
  }

  /// Creates the window's surface with its role, if the window should be shown and has none.
  func appear() {
    guard isWanted, surface == nil else { return }
    setWaiting(role == .layer && globals.outputs.isEmpty)
    guard !isWaiting, let surface = makeSurface() else { return }
    switch role {
    case .layer: makeLayer(surface)
    case .pip, .toplevel: makeShellObject(surface)
    }
    requestSize()
  }

  func hide() {
    (isWanted, isWaiting) = (false, false)
    takeAway()
  }

  override func handle(_ event: WindowEvent) {
    switch event {
    case .pressed: acceptKeys(true)
    case .left where !keyboard.isKept: acceptKeys(false)
    case .keyboard(let isHere): if !note(hasKeys: isHere) { return }
    default: break
    }
    super.handle(event)
  }

  override func didSettleKeyboard() { keyboardDidSettle() }

  override func destroyRole() {
    (drag, keyboard) = (nil, LayerKeyboard())
    fullscreen.expect(report: false)
    for object: WaylandProxy? in [decoration, toplevel, pip, xdgSurface, layer] { object?.destroy() }
    (decoration, toplevel, pip, xdgSurface, layer) = (nil, nil, nil, nil, nil)
  }

  override func acknowledge(_ serial: UInt32, _ size: PictureSize) {
    layer?.ackConfigure(serial)
    xdgSurface?.ackConfigure(serial)
    xdgSurface?.setWindowGeometry(0, 0, size.width, size.height)
  }

  override func chooseSize(_ offered: PictureSize?, states: Set<XDGToplevel.State>) -> PictureSize {
    guard let offered, role != .layer, !states.contains(.fullscreen) else { return offered ?? wantedSize }
    // The window keeps its aspect ratio while the user resizes it, but not when it is maximised or tiled.
    guard states.contains(.resizing), let aspectRatio else { return offered }
    return PictureSize(
      width: offered.width, height: WindowPlacement.height(ofWidth: offered.width, aspectRatio))
  }

  // MARK: - Monitors

  override var chosenOutput: WaylandOutput? { home }

  /// The monitors that a layer can be on. Wayland does not tell clients which one is the primary monitor.
  var monitors: [WindowMonitor] {
    guard role == .layer else { return [] }
    return globals.monitors
  }

  /// Chooses a layer's monitor. A layer cannot move to another monitor, so it is destroyed, and created again when it
  /// is shown there.
  func go(to monitor: WindowMonitor) {
    let known = globals.outputs
    guard role == .layer, let output = known.first(where: { $0.name == monitor.name }), output !== home else { return }
    loseDrag()
    home = output
    takeAway()
  }

  /// Ends a drag because the layer is destroyed.
  private func loseDrag() {
    guard drag != nil else { return }
    drag = nil
    report(.dragLost)
  }

  /// Called when the compositor has closed the window. It closes the layers of a monitor that is disconnected, and may
  /// report the change of monitors only afterwards. So the window waits for an answer before it decides.
  override func didClose() {
    guard role == .layer else { return lose() }
    loseDrag()
    takeAway()
    question = connection.loop.ask { [queue] in queue.append(.settled) }
    flush()
  }

  override func didSettle() {
    question = nil
    guard isWanted, surface == nil, !isBroken else { return }
    // A layer that was closed although its monitor still exists was closed on purpose.
    let known = globals.outputs
    if home.map({ home in known.contains { $0 === home } }) ?? !known.isEmpty { return lose() }
    home = nil
    handle(.screenChanged)
    setWaiting(surface == nil)
  }

  private func setWaiting(_ isWaiting: Bool) {
    guard isWaiting != self.isWaiting else { return }
    self.isWaiting = isWaiting
    report(.stateChanged)
  }

  // MARK: - Place

  /// The layer's monitor. Layers are positioned in the work area, but Wayland does not tell clients how large that is.
  var workArea: PictureRect {
    (home ?? globals.outputs.first)?.area ?? PictureRect(x: 0, y: 0, width: 1280, height: 720)
  }

  var rectangle: PictureRect? {
    guard !isBroken else { return nil }
    guard role == .layer else { return PictureRect(x: 0, y: 0, width: units.width, height: units.height) }
    let origin = place.origin(of: wantedSize, in: workArea)
    return PictureRect(x: origin.x, y: origin.y, width: wantedSize.width, height: wantedSize.height)
  }

  /// No compositor says that it has moved a window.
  func hasBeenMoved(to rectangle: PictureRect) -> Bool { false }

  func move(toX x: Int, y: Int) {
    let area = workArea
    place = WindowPlace(x: x - area.x, y: y - area.y)
    applyPlace()
    commitPlace()
    awaitShown()
  }

  func snap(to place: WindowPlace, size: PictureSize) {
    let isNew = self.place != place
    self.place = place
    // The layer has been destroyed because it goes to another monitor.
    if isWanted, surface == nil { return appear() }
    guard isNew, !isFullscreen else { return }
    applyPlace()
    commitPlace()
  }

  private func commitPlace() {
    guard layer != nil else { return }
    surface?.commit()
    flush()
  }

  func applyPlace() {
    guard let layer else { return }
    // A fullscreen layer covers panels, too, which -1 says.
    layer.setExclusiveZone(isFullscreen ? -1 : 0)
    guard !isFullscreen else {
      layer.setAnchor([.top, .bottom, .left, .right])
      return layer.setMargin(0, 0, 0, 0)
    }
    layer.setAnchor([place.isTop ? .top : .bottom, place.isLeft ? .left : .right])
    layer.setMargin(
      place.isTop ? place.vertical : 0, place.isLeft ? 0 : place.horizontal, place.isTop ? 0 : place.vertical,
      place.isLeft ? place.horizontal : 0)
  }

  func resize(to size: PictureSize, aspectRatio: Double?) {
    let isNew = wantedSize != size
    (wantedSize, self.aspectRatio) = (size, aspectRatio)
    guard !isFullscreen else { return }
    if let layer {
      guard isNew else { return }
      layer.setSize(size)
      surface?.commit()
      return flush()
    }
    setMinimum()
    xdgSurface?.setWindowGeometry(0, 0, size.width, size.height)
    takeSize(size)
  }

  // MARK: - Fullscreen

  var canLetPointerThrough: Bool { true }

  var canBeFullscreen: Bool { role != .pip }

  var isFullscreen: Bool { fullscreen.isOn }

  func setFullscreen(_ isFullscreen: Bool) {
    guard fullscreen.request(isFullscreen) else { return }
    toplevel?.fillMonitor(isFullscreen)
    if let layer {
      applyPlace()
      // A layer that is anchored to all edges has the monitor's size.
      layer.setSize(isFullscreen ? PictureSize(width: 0, height: 0) : wantedSize)
      surface?.commit()
    }
    flush()
  }

  override func didEnterStates(_ states: Set<XDGToplevel.State>) {
    guard role == .toplevel else { return }
    let old = isFullscreen
    fullscreen.note(report: states.contains(.fullscreen))
    if isFullscreen != old { report(.stateChanged) }
  }

  // MARK: - Dragging

  override func didProbe() { noteProbe() }
}
