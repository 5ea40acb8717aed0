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

  private let role: Role
  private var layer: WaylandProxy?
  private var xdgSurface: WaylandProxy?
  /// The xdg_toplevel or the xx_pip.
  private var shellObject: WaylandProxy?
  private var decoration: WaylandProxy?
  private var place = WindowPlace(x: 0, y: 0)
  /// What it was asked for, in units.
  private var wantedSize: PictureSize
  private var aspectRatio: Double?
  private var takesKeys = false
  private var drag: Drag?
  /// On roles that the compositor drags: what may become a drag.
  private var pressed: (grip: WindowGrip, place: WindowEvent.Place)?
  /// In units.
  private static let dragThreshold = 4.0

  private struct Drag {
    /// The window's frame when it began.
    let start: PictureRect
    var reading: DragReading
    var probe: WaylandFrameProbe?
  }

  /// What the compositor's coordinates count from, once a drag has shown it.
  private static var dragOrigin: DragReading.Origin?

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

  /// No client is told.
  var isMinimized: Bool { false }

  var isComposited: Bool { globals.alphaModifier != nil }

  func describe(_ description: String) {
    guard let tags = globals.tagManager, let shellObject, role == .toplevel else { return }
    tags.send(2, .object(shellObject.pointer), .text(description))
  }

  func setOpacity(_ opacity: Double) { setSurfaceOpacity(UInt32(min(max(0, opacity), 1) * Double(UInt32.max))) }

  // MARK: - Roles

  func show() {
    guard surface == nil, let surface = makeSurface() else { return }
    switch role {
    case .layer: makeLayer(surface)
    case .pip, .toplevel: makeShellObject(surface)
    }
    requestSize()
  }

  func hide() {
    drag = nil
    takeAway()
  }

  /// Keys come while the pointer is on the window, after a click or before one, as the compositor has it. Sway 1.7 gives a
  /// layer that takes keys on demand all of them at once, and one that has just appeared may not have them.
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
      .layerSurface, 0, .new, .object(surface.surface.pointer), .object(nil), .uint(3), .text(WindowIdentity.role),
      destructor: 7,
      handler: { [queue] event, arguments in
        guard event == 0 else { return queue.append(.closed) }
        let size = PictureSize(width: Int(arguments.uint(1)), height: Int(arguments.uint(2)))
        queue.append(.configured(serial: arguments.uint(0), size.isValid ? size : nil, states: []))
      })
    guard let layer else { return }
    layer.send(0, .uint(UInt32(clamping: wantedSize.width)), .uint(UInt32(clamping: wantedSize.height)))
    applyPlace()
  }

  private func makeShellObject(_ surface: WaylandSurface) {
    let pending = Locked((size: PictureSize?.none, states: [UInt32]()))
    xdgSurface = globals.shell?.make(
      .xdgSurface, 2, .new, .object(surface.surface.pointer),
      handler: { [queue] _, arguments in
        let (size, states) = pending.withLock { $0 }
        queue.append(.configured(serial: arguments.uint(0), size, states: states))
      })
    guard let xdgSurface else { return }
    let configure = { @Sendable (arguments: WaylandArguments, states: [UInt32]) in
      let size = PictureSize(width: arguments.int(0), height: arguments.int(1))
      pending.withLock { $0 = (size.isValid ? size : nil, states) }
    }
    if role == .pip {
      shellObject = globals.pipShell?.make(.pip, 1, .new, .object(xdgSurface.pointer)) { [queue] event, arguments in
        switch event {
        case 0: queue.append(.closed)
        case 2: configure(arguments, [])
        default: break
        }
      }
      shellObject?.send(1, .text(WaylandAppIdentity.appID))
      return
    }
    shellObject = xdgSurface.make(.toplevel, 1, .new) { [queue] event, arguments in
      switch event {
      case 0: configure(arguments, arguments.numbers(2))
      case 1: queue.append(.event(.closeRequested))
      default: break
      }
    }
    guard let shellObject else { return }
    shellObject.send(2, .text(WindowIdentity.title))
    shellObject.send(3, .text(WaylandAppIdentity.appID))
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

  // MARK: - Place, in units of the monitor

  /// A layer counts from the corner of what panels leave free, whose size no client is told.
  var workArea: PictureRect {
    let size = output?.size ?? PictureSize(width: 1280, height: 720)
    return PictureRect(x: 0, y: 0, width: size.width, height: size.height)
  }

  var frame: PictureRect? {
    guard !isBroken else { return nil }
    let origin = role == .layer ? place.origin(of: wantedSize, in: workArea) : (x: 0, y: 0)
    return PictureRect(x: origin.x, y: origin.y, width: wantedSize.width, height: wantedSize.height)
  }

  func move(toX x: Int, y: Int) {
    place = WindowPlace(x: x, y: y)
    applyPlace()
    commitPlace()
    awaitShown()
  }

  func snap(to place: WindowPlace, size: PictureSize) {
    guard self.place != place else { return }
    self.place = place
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

  func beginDrag(_ grip: WindowGrip, at place: WindowEvent.Place) -> Bool {
    guard role == .layer else {
      pressed = (grip, place)
      return true
    }
    guard let frame else { return false }
    drag = Drag(start: frame, reading: DragReading(pressed: inUnits(place), known: Self.dragOrigin))
    return true
  }

  /// Begins where the pointer has come some way, as the compositor takes the pointer: two clicks would be none.
  private func beginCompositorsDrag(from grip: WindowGrip, _ start: WindowEvent.Place, to place: WindowEvent.Place) {
    guard (inUnits(place) - inUnits(start)).length >= Self.dragThreshold else { return }
    beginCompositorsDrag(grip, at: start)
    // The compositor tells nothing of the button's release.
    tell(.released(button: 1, place))
  }

  private func beginCompositorsDrag(_ grip: WindowGrip, at place: WindowEvent.Place) {
    guard let action = globals.lastAction, action.surface == surface?.surface.pointer, let shellObject else { return }
    // Both interfaces have both requests, at different places.
    let (move, resize): (UInt32, UInt32) = role == .pip ? (4, 5) : (5, 6)
    switch grip {
    case .middle: shellObject.send(move, .object(action.seat.pointer), .uint(action.serial))
    case .corner(let isLeft):
      // Edges: top 1, bottom 2, left 4, right 8.
      let isTop = inUnits(place).y < Double(units.height) / 2
      shellObject.send(
        resize, .object(action.seat.pointer), .uint(action.serial), .uint((isTop ? 1 : 2) | (isLeft ? 4 : 8)))
    }
    flush()
  }

  private func inUnits(_ place: WindowEvent.Place) -> DragReading.Vector {
    DragReading.Vector(x: place.x / scale, y: place.y / scale)
  }

  func dragDistance(to place: WindowEvent.Place) -> (x: Int, y: Int)? {
    if let pressed { beginCompositorsDrag(from: pressed.grip, pressed.place, to: place) }
    guard let drag else { return nil }
    let shift = shift(in: drag)
    let wasUnknown = drag.reading.origin == nil
    let distance = self.drag?.reading.distance(at: inUnits(place), shift: shift)
    if wasUnknown, let reading = self.drag?.reading, reading.isCertain { Self.dragOrigin = reading.origin }
    return distance?.nearest
  }

  func endDrag(at place: WindowEvent.Place) -> (x: Int, y: Int) {
    pressed = nil
    guard let drag else { return (0, 0) }
    defer { self.drag = nil }
    // A drag that ends before it is known what places mean ends before the compositor has shown the window elsewhere.
    guard drag.reading.origin != nil else { return drag.reading.distanceBeforeMoving(at: inUnits(place)).nearest }
    let now = shift(in: drag)
    return (Int(now.x), Int(now.y))
  }

  /// How far the window has been moved.
  private func shift(in drag: Drag) -> DragReading.Vector {
    guard let frame else { return .zero }
    return DragReading.Vector(x: Double(frame.x - drag.start.x), y: Double(frame.y - drag.start.y))
  }

  /// When the window has been moved for the first time, the reading is told when the compositor shows it there.
  private func awaitShown() {
    guard let drag, drag.reading.origin == nil, drag.probe == nil, shift(in: drag) != .zero, let surface,
      let probe = WaylandFrameProbe(globals, over: surface.surface.pointer)
    else { return }
    self.drag?.probe = probe
    probe.ask { [queue] in queue.append(.probed) }
    surface.commit()
    flush()
  }

  override func didProbe() {
    guard let drag, let probe = drag.probe, drag.reading.origin == nil else { return }
    // A new size takes effect after the compositor has agreed to it.
    if units == wantedSize { return self.drag?.reading.noteShown() ?? () }
    probe.ask { [queue] in queue.append(.probed) }
    flush()
  }
}

/// What compositors and users' rules know the program's windows by.
enum WaylandAppIdentity {
  /// The program's name.
  static var appID: String {
    let program = g_get_prgname().map { String(cString: $0) } ?? "pipsink"
    return String(program.split(separator: "/").last ?? "pipsink")
  }
}
