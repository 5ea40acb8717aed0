import CWindows
import PipSink

/// A picture-in-picture window on Wayland: on layer-shell's overlay layer, as the compositor's own kind of such windows
/// (xx-pip), or an ordinary window.
final class WaylandFloatingWindow: WaylandWindow, NativePictureInPictureWindow {
  enum Role {
    case layer
    case pip
    case toplevel
  }

  let role: Role
  private var layer: WaylandProxy?
  private var xdgSurface: WaylandProxy?
  /// The xdg_toplevel or the xx_pip.
  private(set) var shellObject: WaylandProxy?
  private var decoration: WaylandProxy?
  private var place = WindowPlace(x: 0, y: 0)
  /// What it was asked for, in units.
  private(set) var wantedSize: PictureSize
  private var aspectRatio: Double?
  /// Whether it is to be shown.
  private var isWanted = false
  /// A layer without a monitor waits for one.
  private var isWaiting = false
  /// A layer's monitor.
  private var home: WaylandOutput?
  /// Asked when the compositor has closed the layer.
  private var question: WaylandProxy?
  private var takesKeys = false
  var drag: Drag?
  /// On roles that the compositor drags: what may become a drag.
  var pressed: (grip: WindowGrip, place: WindowEvent.Place)?
  /// In units.
  static let dragThreshold = 4.0

  struct Drag {
    /// The window's frame when it began.
    let start: PictureRect
    var reading: DragReading
    var probe: WaylandFrameProbe?
  }

  /// What the compositor's coordinates count from, once a drag has shown it.
  static var dragOrigin: DragReading.Origin?

  /// - Parameters:
  ///   - display: the compositor's socket, as in WAYLAND_DISPLAY; nil for that of the environment.
  ///   - size: in units.
  ///   - handler: is told what happens to the window.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
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

  /// Whether the compositor has what a role needs.
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

  /// No client is told; but a layer without a monitor cannot be seen.
  var isMinimized: Bool { isWaiting }

  var isComposited: Bool { globals.alphaModifier != nil }

  func describe(_ description: String) {
    guard let tags = globals.tagManager, let shellObject, role == .toplevel else { return }
    tags.send(2, .object(shellObject.pointer), .text(description))
  }

  func setOpacity(_ opacity: Double) { setSurfaceOpacity(UInt32(min(max(0, opacity), 1) * Double(UInt32.max))) }

  // MARK: - Roles

  func show() {
    isWanted = true
    appear()
  }

  private func appear() {
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

  /// Keys come while the pointer is on the window, after a click or before one, as the compositor has it. Sway 1.7
  /// gives a layer that takes keys on demand all of them at once, and one that has just appeared may not have them.
  private func setTakesKeys(_ takesKeys: Bool) {
    // Before version 4 there was only all of the keyboard.
    guard let layer, layer.version >= 4, takesKeys != self.takesKeys else { return }
    self.takesKeys = takesKeys
    layer.send(4, .uint(takesKeys ? 2 : 0))
    surface?.commit()
    flush()
  }

  override func handle(_ event: WindowEvent) {
    switch event {
    case .entered, .pressed: setTakesKeys(true)
    case .left: setTakesKeys(false)
    default: break
    }
    super.handle(event)
  }

  override func destroyRole() {
    (drag, takesKeys) = (nil, false)
    for object in [decoration, shellObject, xdgSurface, layer] { object?.destroy() }
    (decoration, shellObject, xdgSurface, layer) = (nil, nil, nil, nil)
  }

  private func makeLayer(_ surface: WaylandSurface) {
    // The numbers of layers: background, bottom, top, overlay.
    layer = globals.layerShell?.make(
      .layerSurface, 0, .new, .object(surface.surface.pointer), .object(home?.proxy?.pointer), .uint(3),
      .text(WindowIdentity.role),
      destructor: 7,
      handler: { [signals] event, arguments in
        guard event == 0 else { return signals.append(.closed) }
        let size = PictureSize(width: Int(arguments.uint(1)), height: Int(arguments.uint(2)))
        signals.append(.configured(serial: arguments.uint(0), size.isValid ? size : nil, states: []))
      })
    guard let layer else { return }
    layer.send(0, .uint(UInt32(clamping: wantedSize.width)), .uint(UInt32(clamping: wantedSize.height)))
    applyPlace()
  }

  private func makeShellObject(_ surface: WaylandSurface) {
    let pending = Locked((size: PictureSize?.none, states: [UInt32]()))
    xdgSurface = globals.shell?.make(
      .xdgSurface, 2, .new, .object(surface.surface.pointer),
      handler: { [signals] _, arguments in
        let (size, states) = pending.withLock { $0 }
        signals.append(.configured(serial: arguments.uint(0), size, states: states))
      })
    guard let xdgSurface else { return }
    let configure = { @Sendable (arguments: WaylandArguments, states: [UInt32]) in
      let size = PictureSize(width: arguments.int(0), height: arguments.int(1))
      pending.withLock { $0 = (size.isValid ? size : nil, states) }
    }
    if role == .pip {
      shellObject = globals.pipShell?.make(.pip, 1, .new, .object(xdgSurface.pointer)) { [signals] event, arguments in
        switch event {
        case 0: signals.append(.closed)
        case 2: configure(arguments, [])
        default: break
        }
      }
      shellObject?.send(1, .text(WindowIdentity.programName))
      return
    }
    shellObject = xdgSurface.make(.toplevel, 1, .new) { [signals] event, arguments in
      switch event {
      case 0: configure(arguments, arguments.numbers(2))
      case 1: signals.append(.event(.closeRequested))
      default: break
      }
    }
    guard let shellObject else { return }
    shellObject.send(2, .text(WindowIdentity.title))
    shellObject.send(3, .text(WindowIdentity.programName))
    setMinimum()
    globals.tagManager?.send(1, .object(shellObject.pointer), .text("pip"))
    // The window draws its own borders: none.
    decoration = globals.decorationManager?.make(.decoration, 1, .new, .object(shellObject.pointer))
    decoration?.send(1, .uint(1))
  }

  private func setMinimum() {
    let width = WindowPlacement.minimumWidth
    let height = aspectRatio.map { WindowPlacement.height(ofWidth: width, $0) } ?? 54
    shellObject?.send(8, .int(width), .int(height))
  }

  override func acknowledge(_ serial: UInt32, _ size: PictureSize) {
    if let layer { layer.send(6, .uint(serial)) }
    if let xdgSurface {
      xdgSurface.send(4, .uint(serial))
      xdgSurface.send(3, .int(0), .int(0), .int(size.width), .int(size.height))
    }
  }

  override func chooseSize(_ offered: PictureSize?, states: [UInt32]) -> PictureSize {
    guard let offered, role != .layer else { return offered ?? wantedSize }
    // Resized by the user it keeps its shape; made to fill something, it does not.
    guard states.contains(3), let aspectRatio else { return offered }
    return PictureSize(
      width: offered.width, height: WindowPlacement.height(ofWidth: offered.width, aspectRatio))
  }

  // MARK: - Monitors

  override var chosenOutput: WaylandOutput? { home }

  /// Those that a layer can be on. No client is told which one is the primary one.
  var monitors: [WindowMonitor] {
    guard role == .layer else { return [] }
    return globals.outputs.compactMap { output in
      output.area.map { WindowMonitor(name: output.name, area: $0) }
    }
  }

  /// A layer stays on the monitor that it is made on, so that another one is made.
  func go(to monitor: WindowMonitor) {
    let known = globals.outputs
    guard role == .layer, let output = known.first(where: { $0.name == monitor.name }), output !== home else { return }
    loseDrag()
    home = output
    takeAway()
  }

  private func loseDrag() {
    guard drag != nil else { return }
    drag = nil
    tell(.dragLost)
  }

  /// A compositor closes the layers of a monitor that goes, and may say which monitors there are after that.
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
    // Whoever closes a layer on a monitor that is there wants it closed.
    let known = globals.outputs
    if home.map({ home in known.contains { $0 === home } }) ?? !known.isEmpty { return lose() }
    home = nil
    handle(.screenChanged)
    setWaiting(surface == nil)
  }

  private func setWaiting(_ isWaiting: Bool) {
    guard isWaiting != self.isWaiting else { return }
    self.isWaiting = isWaiting
    tell(.stateChanged)
  }

  // MARK: - Place, in units

  /// A layer counts from the corner of what panels leave free, whose size no client is told.
  var workArea: PictureRect {
    (home ?? globals.outputs.first)?.area ?? PictureRect(x: 0, y: 0, width: 1280, height: 720)
  }

  var frame: PictureRect? {
    guard !isBroken else { return nil }
    let origin = role == .layer ? place.origin(of: wantedSize, in: workArea) : (x: 0, y: 0)
    return PictureRect(x: origin.x, y: origin.y, width: wantedSize.width, height: wantedSize.height)
  }

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
    // It may be on another monitor now.
    if isWanted, surface == nil { return appear() }
    guard isNew else { return }
    applyPlace()
    commitPlace()
  }

  private func commitPlace() {
    guard layer != nil else { return }
    surface?.commit()
    flush()
  }

  private func applyPlace() {
    guard let layer else { return }
    // Edges: top 1, bottom 2, left 4, right 8; margins: top, right, bottom, left.
    layer.send(1, .uint((place.isTop ? 1 : 2) | (place.isLeft ? 4 : 8)))
    layer.send(
      3, .int(place.isTop ? place.vertical : 0), .int(place.isLeft ? 0 : place.horizontal),
      .int(place.isTop ? 0 : place.vertical), .int(place.isLeft ? place.horizontal : 0))
  }

  func resize(to size: PictureSize, aspectRatio: Double?) {
    let isNew = wantedSize != size
    (wantedSize, self.aspectRatio) = (size, aspectRatio)
    if let layer {
      guard isNew else { return }
      layer.send(0, .uint(UInt32(clamping: size.width)), .uint(UInt32(clamping: size.height)))
      surface?.commit()
      return flush()
    }
    setMinimum()
    xdgSurface?.send(3, .int(0), .int(0), .int(size.width), .int(size.height))
    takeSize(size)
  }

  // MARK: - Dragging

  override func didProbe() { noteProbe() }
}
