import CWindows
import PipSink

/// A picture-in-picture window on X11, or on a Wayland session's Xwayland, without a toolkit.
///
/// It has no border, stays above all others on all workspaces where the window manager does that, is in no taskbar or
/// pager, and takes no focus when it appears. It is moved by dragging it anywhere and then goes to the nearest corner of
/// the monitor, is resized at its corners and by the scroll wheel, and keeps the shape of its picture. Controls come with
/// the pointer; a double click goes back to the app.
///
/// It needs no main loop but the main actor, and takes nothing else with it: its connection to the server is its own, and a
/// server that dies is a ``PictureInPictureWindowEvent/lost(_:)``, after which ``open(_:)`` looks for a server again.
@MainActor
public final class X11PictureInPictureWindow: PictureInPictureHost {

  public var renderer: any VideoRenderer { first }
  public var secondRenderer: (any VideoRenderer)? { second }
  public var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
  /// A key was pressed in it; says whether it meant something. What it leaves, the window's own keys take: space, m, the
  /// arrows, Return, Escape.
  public var keyPressed: ((_ keysym: UInt32) -> Bool)?
  /// A key was pressed that means nothing to the window either, or a control that it does not offer now.
  package var otherKeyPressed: ((_ keysym: UInt32) -> Void)?

  let first = ExchangeableRenderer()
  let second = ExchangeableRenderer()
  private let overlay = WindowOverlay()
  private let display: String?
  private let placementPath: String?
  var placement: WindowPlacement
  private(set) var isOpen = false
  private(set) var presentation: PictureInPicturePresentation?
  private(set) var native: X11Window?
  /// In pixels, as the server has said.
  private var size = PictureSize(width: 0, height: 0)
  /// The shape that the window manager keeps, or that it is told when the window has another size.
  private var hintedAspectRatio: Double?
  private var hasHints = false
  private var isReshaping = false
  lazy var pointer = X11WindowPointer(self)
  lazy var controls = OverlayControls { [weak self] in self?.draw() }
  private let opening = Animation()
  private var cover: (text: String, image: OverlayImage)?

  /// Makes the window; ``open(_:)`` shows it.
  ///
  /// - Parameters:
  ///   - display: the server, as in DISPLAY; nil for that of the environment.
  ///   - placement: where it is when nothing was remembered.
  ///   - placementPath: the file to remember its place in; nil to forget it.
  public init(
    display: String? = nil, placement: WindowPlacement = WindowPlacement(),
    placementPath: String? = WindowPlacement.defaultPath
  ) {
    self.display = display
    self.placementPath = placementPath
    self.placement = placementPath.flatMap { WindowPlacement.load(from: $0) } ?? placement
  }

  isolated deinit {
    Self.stack.close(ObjectIdentifier(self))
    letGo()
  }

  // MARK: - PictureInPictureHost

  public var unsupportedReason: String? {
    do throws(PipSinkError) {
      _ = try connected()
      return nil
    } catch {
      return "\(error)"
    }
  }

  public var limitation: String? {
    guard let screen = try? connected().screen, !screen.supports(.stateAbove) else { return nil }
    guard let name = screen.windowManagerName else { return "other windows can cover it: there is no window manager" }
    return "other windows can cover it: the window manager \(name) knows no _NET_WM_STATE_ABOVE"
  }

  public func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError) {
    let native = try connected()
    if first.renderer == nil { try makeRenderers(native) }
    isOpen = true
    update(presentation)
    chooseFreeCorner()
    native.describe(
      title: WindowIdentity.title, iconName: WindowIdentity.description(of: presentation), role: WindowIdentity.role)
    snap(to: placement.corner)
    // Only a compositing manager can show what is half there.
    let fades = native.screen.isComposited && animates
    native.setOpacity(fades ? 0 : 1)
    native.map()
    if fades { opening.run(from: 0, to: 1) { [weak self] in self?.native?.setOpacity($0) } }
    // Some window managers place a window when it is mapped.
    snap(to: placement.corner)
    native.flush()
    first.isShown = true
    second.isShown = presentation.secondStreamID != nil
  }

  public func close() {
    guard isOpen else { return }
    isOpen = false
    Self.stack.close(ObjectIdentifier(self))
    pointer.cancel()
    controls.hideAtOnce()
    opening.stop()
    (first.isShown, second.isShown) = (false, false)
    native?.unmap()
  }

  public func update(_ presentation: PictureInPicturePresentation) {
    guard isOpen, let native else { return }
    let old = self.presentation
    self.presentation = presentation
    if old?.streamID != presentation.streamID || old?.secondStreamID != presentation.secondStreamID {
      native.setIconName(WindowIdentity.description(of: presentation))
    }
    if (old?.secondStreamID == nil) != (presentation.secondStreamID == nil) {
      divide()
      second.isShown = presentation.secondStreamID != nil
    }
    if old?.aspectRatio != presentation.aspectRatio || !hasHints {
      resize(toWidth: placement.width)
      // What is dragged goes to its corner when it is let go.
      if !pointer.isActive { snap(to: placement.corner) }
    }
    if old != presentation { draw() }
    native.flush()
  }

  /// A copy of what it shows, in pixels of the screen; nil when it shows no picture.
  public func image() -> BGRAImage? {
    let left = first.renderer?.image()
    guard presentation?.secondStreamID != nil, let left, let right = second.renderer?.image() else { return left }
    let (width, height) = (left.size.width, left.size.height)
    return BGRAImage(
      size: PictureSize(width: width + right.size.width, height: height),
      parts: [
        (left, PictureRect(x: 0, y: 0, width: width, height: height)),
        (right, PictureRect(x: width, y: 0, width: right.size.width, height: height)),
      ])
  }

  /// Frames that were converted for it so far.
  package var convertedFrameCount: UInt64 {
    [first, second].reduce(0) { $0 + ($1.renderer?.convertedFrameCount ?? 0) }
  }

  // MARK: - The server's window

  private func connected() throws(PipSinkError) -> X11Window {
    if let native {
      if !native.isBroken { return native }
      letGo()
    }
    let made = try X11Window(display: display, size: placement.size) { [weak self] in self?.handle($0) }
    native = made
    (hasHints, isReshaping, size) = (false, false, PictureSize(width: 0, height: 0))
    controls.scale = made.scale
    return made
  }

  private func makeRenderers(_ native: X11Window) throws(PipSinkError) {
    let make = { () throws(PipSinkError) in
      try X11WindowRenderer(
        windowID: UInt(native.id), display: self.display, access: WindowAccess(), decoration: self.overlay)
    }
    (first.renderer, second.renderer) = (try make(), try make())
    divide()
  }

  /// Nothing is asked of the window any more, which goes.
  private func letGo() {
    for half in [first, second] {
      half.renderer?.leaveWindow()
      half.renderer = nil
    }
    native = nil
    presentation = nil
  }

  private func handle(_ event: X11WindowEvent) {
    guard let native else { return }
    switch event {
    case .resized(let size): didResize(to: size)
    case .exposed: draw()
    case .pressed(let button, let place, let time): press(button, place, time)
    case .released(let button, let place):
      if button == 1 { pointer.release(place) }
    case .moved(let place): pointer.move(place)
    case .entered: controls.show()
    case .left: controls.leave()
    case .key(let keysym): press(key: keysym)
    case .closeRequested: eventHandler?(.action(.close))
    case .stateChanged:
      if isOpen { eventHandler?(.visibilityChanged(!native.isMinimized)) }
    case .screenChanged:
      // The window may be on a monitor that is not there any more, or where a panel is now.
      if isOpen, !pointer.isActive { snap(to: placement.corner) }
    case .lost: lose()
    }
  }

  /// It has gone without having been closed.
  private func lose() {
    let wasOpen = isOpen
    let hasServer = (try? X11Window(display: display, size: placement.size) { _ in }) != nil
    close()
    letGo()
    guard wasOpen else { return }
    let reason = hasServer ? "it was killed" : "the display server has gone"
    eventHandler?(.lost(.pictureInPicture(.windowLost(reason: reason))))
  }

  private func didResize(to size: PictureSize) {
    let isNew = self.size != size
    self.size = size
    if isNew, isReshaping { setShape() }
    if isNew {
      divide()
      draw()
      if isOpen { eventHandler?(.renderSizeChanged(size)) }
    }
    guard isOpen, !pointer.isActive, let scale = native?.scale else { return }
    let (width, height) = (size.width / scale, size.height / scale)
    guard width > 1, height > 1, (width, height) != (placement.width, placement.height) else { return }
    (placement.width, placement.height) = (width, height)
    // The window manager may have taken a pixel for the shape's sake; the window stays in its corner.
    snap(to: placement.corner)
    remember()
  }

  /// Gives each stream its part of the window.
  private func divide() {
    guard presentation?.secondStreamID != nil, size.isValid else {
      first.renderer?.renderRectangle = nil
      return
    }
    let half = size.width / 2
    first.renderer?.renderRectangle = PictureRect(x: 0, y: 0, width: half, height: size.height)
    second.renderer?.renderRectangle = PictureRect(x: half, y: 0, width: size.width - half, height: size.height)
  }

  // MARK: - What lies over the pictures

  private var animates: Bool { native?.screen.settings.numbers["Gtk/EnableAnimations"] != 0 }

  private func draw() {
    guard isOpen, let presentation, let scale = native?.scale, size.isValid else { return }
    var layers: [WindowOverlay.Layer] = []
    let picture = first.renderer?.renderRectangle ?? PictureRect(x: 0, y: 0, width: size.width, height: size.height)
    if let text = presentation.content.coverText {
      if cover?.text != text || cover?.image.size != picture.size {
        cover = (text, OverlayDrawing.cover(text, size: picture.size, scale: scale))
      }
      if let cover { layers.append(.init(image: cover.image, origin: (picture.x, picture.y), isOpaque: true)) }
    } else {
      cover = nil
    }
    if presentation.isMicrophoneOff {
      let side = OverlayDrawing.microphoneSide * scale
      layers.append(
        .init(
          image: OverlayDrawing.microphone(scale: scale),
          origin: (picture.x + picture.width - side, picture.y + picture.height - side)))
    }
    layers += controls.layers(presentation, size: PictureSize(width: size.width / scale, height: size.height / scale))
    overlay.set(layers)
    first.renderer?.redraw()
    if presentation.secondStreamID != nil { second.renderer?.redraw() }
  }

  // MARK: - The user

  private func press(_ button: Int, _ place: X11WindowEvent.Place, _ time: UInt32) {
    switch button {
    case 1: pointer.press(place, time)
    case 4, 5:
      // A tenth larger or smaller.
      resize(toWidth: placement.width(scrolledBy: button == 4 ? 1 : -1))
      snap(to: placement.corner)
      remember()
    default: break
    }
  }

  private func press(key: UInt32) {
    if keyPressed?(key) == true { return }
    let actions = presentation?.actions ?? []
    guard let action = PictureInPictureAction(key: key, among: actions), actions.contains(action) else {
      otherKeyPressed?(key)
      return
    }
    eventHandler?(.action(action))
  }

  // MARK: - Place

  /// Goes to a corner, and stays in it when its size changes.
  func snap(to corner: WindowCorner) {
    guard let native else { return }
    placement.corner = corner
    notePlace()
    let origin = WindowPlace(corner, stackOffset: Self.stack.offset(of: ObjectIdentifier(self), in: corner))
      .origin(of: placement.size, in: native.workArea)
    native.move(toX: origin.x, y: origin.y)
  }

  /// Takes the width, and the height that goes with it by the picture's shape.
  func resize(toWidth wanted: Int) {
    guard let native else { return }
    let aspectRatio = presentation?.aspectRatio
    placement.resize(toWidth: wanted, aspectRatio: aspectRatio, in: native.workArea)
    let isReshaped = hintedAspectRatio != aspectRatio || !hasHints
    (hintedAspectRatio, hasHints) = (aspectRatio, true)
    // A window manager that hears of a new shape first gives the window a size of its own that has it. It looks at what it
    // is told when it comes to that, so that it is told of the shape when the window has its size.
    isReshaping = isReshaping || (isReshaped && size.isValid)
    if isReshaping { native.setShape(minimum: PictureSize(width: 1, height: 1), aspectRatio: nil) }
    native.resize(to: placement.size)
    let isThere = size == PictureSize(width: placement.width * native.scale, height: placement.height * native.scale)
    if !isReshaping || isThere { setShape() }
    native.flush()
  }

  private func setShape() {
    isReshaping = false
    let width = WindowPlacement.minimumWidth
    let height = hintedAspectRatio.map { WindowPlacement.height(ofWidth: width, $0) } ?? 54
    native?.setShape(minimum: PictureSize(width: width, height: height), aspectRatio: hintedAspectRatio)
  }

  func remember() {
    if let placementPath { placement.save(to: placementPath) }
  }

  // MARK: - Several windows

  /// Those that are open.
  private static var stack = WindowStack<ObjectIdentifier>()

  private func notePlace() {
    if isOpen { Self.stack.note(placement, of: ObjectIdentifier(self)) }
  }

  /// Where its corner is full it takes another.
  private func chooseFreeCorner() {
    guard let native else { return }
    let own = ObjectIdentifier(self)
    Self.stack.open(own)
    placement.corner = Self.stack.freeCorner(for: placement, of: own, in: native.workArea)
    notePlace()
  }
}

extension PictureInPictureContent {
  /// What stands instead of the picture; nil where that is shown.
  package var coverText: String? {
    switch self {
    case .video, .screenShare: nil
    case .cameraOff(let name): "\(name)\nCamera is off"
    case .reconnecting: "Reconnecting"
    case .ended(let name): "\(name)\nThe stream has ended"
    case .inactive: "No video"
    }
  }
}

extension PictureInPictureAction {
  /// What one of the window's own keys does; nil where it means nothing.
  ///
  /// - Parameters:
  ///   - key: a keysym.
  ///   - actions: those that make sense now.
  package init?(key: UInt32, among actions: Set<PictureInPictureAction>) {
    switch Int32(bitPattern: key) {
    case XKB_KEY_space: self = .playPause
    case XKB_KEY_m: self = .mute
    case XKB_KEY_Escape: self = .close
    case XKB_KEY_Return: self = .backToApp
    case XKB_KEY_Left: self = actions.contains(.skipBackward) ? .skipBackward : .previousStream
    case XKB_KEY_Right: self = actions.contains(.skipForward) ? .skipForward : .nextStream
    default: return nil
    }
  }
}
