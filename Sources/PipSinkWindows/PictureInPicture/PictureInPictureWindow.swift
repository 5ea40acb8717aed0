import CWindows
import PipSink

/// A small window above all others that shows one stream, or two in a half each. It needs no toolkit.
///
/// It has no border, stays above all others on all workspaces where the desktop does that, is in no taskbar or pager, and
/// takes no focus when it appears. It is moved by dragging it anywhere and then goes to the nearest corner of the monitor
/// that it is on, is resized at its corners and by the scroll wheel, and keeps the shape of its picture. Controls come with the pointer; a
/// double click goes back to the app.
///
/// What it is depends on the desktop (``Kind-swift.enum``): on X11 a window that asks the window manager for all that
/// (EWMH), on Wayland a surface on layer-shell's overlay layer, and where the compositor has none, as on GNOME, an X11
/// window in its Xwayland.
///
/// It needs no main loop but the main actor, and takes nothing else with it: its connection to the server is its own, and a
/// server that dies is a ``PictureInPictureWindowEvent/lost(_:)``, after which ``open(_:)`` looks for a server again.
@MainActor
public final class PictureInPictureWindow: PictureInPictureHost {

  /// What the window is for the display server.
  public let kind: Kind
  public var renderer: any VideoRenderer { first }
  public var secondRenderer: (any VideoRenderer)? { second }
  public var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
  /// A key was pressed in it; says whether it meant something. What it leaves, the window's own keys take: space, m, the
  /// arrows, Return, Escape.
  public var keyPressed: ((_ keysym: UInt32) -> Bool)?
  /// A key was pressed that means nothing to the window either, or a control that it does not offer now.
  package var otherKeyPressed: ((_ keysym: UInt32) -> Void)?
  /// The monitor to open on where none is remembered: that of the app's window.
  package var preferredMonitor: (() -> WindowMonitor?)?

  let first = ExchangeableRenderer()
  let second = ExchangeableRenderer()
  private let overlay = WindowOverlay()
  private let display: String?
  let placementPath: String?
  /// What is remembered of all monitors.
  var places: WindowPlaces
  /// On the monitor that it is on.
  var placement: WindowPlacement
  /// The name of the monitor that it is on; nil where the display server chooses one, and before it is open.
  var monitor: String?
  private(set) var isOpen = false
  private(set) var presentation: PictureInPicturePresentation?
  private(set) var native: (any NativePictureInPictureWindow)?
  /// The last one that was heard of.
  private var size = PictureSize(width: 0, height: 0)
  var isShaped = false
  lazy var pointer = WindowPointer(self)
  lazy var controls = OverlayControls { [weak self] in self?.draw() }
  private let opening = Animation()
  private var cover: (text: String, width: Int, scale: Double, image: OverlayImage)?

  /// Makes the window; ``open(_:)`` shows it.
  ///
  /// - Parameters:
  ///   - display: an X server, as in DISPLAY, on which the window is made; nil takes the first ``Kind-swift.enum`` that the
  ///     desktop has.
  ///   - placement: where it is when nothing was remembered.
  ///   - placementPath: the file to remember its place in; nil to forget it.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)`` where no display server can be reached.
  public init(
    display: String? = nil, placement: WindowPlacement = WindowPlacement(),
    placementPath: String? = WindowPlacement.defaultPath
  ) throws(PipSinkError) {
    kind = if display == nil { try Kind.found() } else { .x11 }
    self.display = display
    self.placementPath = placementPath
    places = placementPath.flatMap { WindowPlaces(from: $0) } ?? WindowPlaces(placement)
    self.placement = places.placement(on: places.monitor)
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
    try? connected().limitation
  }

  public func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError) {
    let native = try connected()
    kind.warnOnce(native.limitation)
    if first.tile == nil { try makeTiles(native) }
    isOpen = true
    chooseMonitor()
    update(presentation)
    chooseFreeCorner()
    native.describe(WindowIdentity.description(of: presentation))
    snap(to: placement.corner)
    let fades = native.isComposited && native.animates
    native.setOpacity(fades ? 0 : 1)
    native.show()
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
    leaveMonitor()
    pointer.cancel()
    controls.hideAtOnce()
    opening.stop()
    (first.isShown, second.isShown) = (false, false)
    native?.hide()
  }

  public func update(_ presentation: PictureInPicturePresentation) {
    guard isOpen, let native else { return }
    let old = self.presentation
    self.presentation = presentation
    if old?.streamID != presentation.streamID || old?.secondStreamID != presentation.secondStreamID {
      native.describe(WindowIdentity.description(of: presentation))
    }
    if (old?.secondStreamID == nil) != (presentation.secondStreamID == nil) {
      divide()
      second.isShown = presentation.secondStreamID != nil
    }
    if old?.aspectRatio != presentation.aspectRatio || !isShaped {
      resize(toWidth: placement.width)
      // What is dragged goes to its corner when it is let go.
      if !pointer.isActive { snap(to: placement.corner) }
    }
    if old != presentation { draw() }
    native.flush()
  }

  /// A copy of what it shows, in pixels of the screen; nil when it shows no picture.
  public func image() -> BGRAImage? {
    let left = first.tile?.image()
    guard presentation?.secondStreamID != nil, let left, let right = second.tile?.image() else { return left }
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
    [first, second].reduce(0) { $0 + ($1.tile?.convertedFrameCount ?? 0) }
  }

  // MARK: - The server's window

  private func connected() throws(PipSinkError) -> any NativePictureInPictureWindow {
    if let native {
      if !native.isBroken { return native }
      letGo()
    }
    let made = try makeNative { [weak self] in self?.handle($0) }
    native = made
    (isShaped, size) = (false, PictureSize(width: 0, height: 0))
    controls.scale = made.scale
    return made
  }

  private func makeNative(
    _ handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) throws(PipSinkError) -> any NativePictureInPictureWindow {
    try kind.makeWindow(display: display, size: placement.size, handler: handler)
  }

  private func makeTiles(_ native: any NativePictureInPictureWindow) throws(PipSinkError) {
    (first.tile, second.tile) = (
      try native.makeTile(decoration: overlay), try native.makeTile(decoration: overlay)
    )
    divide()
  }

  /// Nothing is asked of the window any more, which goes.
  private func letGo() {
    for half in [first, second] {
      half.tile?.leaveWindow()
      half.tile = nil
    }
    native = nil
    presentation = nil
  }

  private func handle(_ event: WindowEvent) {
    guard let native else { return }
    switch event {
    case .resized: didResize(native)
    case .exposed: draw()
    case .pressed(let button, let place, let time):
      if button == 1 { pointer.press(place, time) }
    case .released(let button, let place):
      if button == 1 { pointer.release(place) }
    case .moved(let place): pointer.move(place)
    case .entered: controls.show()
    case .scrolled(_, _, let deltaY): scroll(deltaY)
    case .left: controls.leave()
    case .key(let keysym): press(key: keysym)
    case .closeRequested: eventHandler?(.action(.close))
    case .stateChanged:
      if isOpen { eventHandler?(.visibilityChanged(!native.isMinimized)) }
    case .screenChanged:
      // The window may be on a monitor that is not there any more, or where a panel is now.
      if isOpen, !pointer.isActive { returnToMonitor() }
    case .dragLost: pointer.cancel()
    case .lost: lose()
    }
  }

  /// It has gone without having been closed.
  private func lose() {
    let wasOpen = isOpen
    let hasServer = (try? makeNative { _ in }) != nil
    close()
    letGo()
    guard wasOpen else { return }
    let reason = hasServer ? "it was killed" : "the display server has gone"
    eventHandler?(.lost(.pictureInPicture(.windowLost(reason: reason))))
  }

  private func didResize(_ native: any NativePictureInPictureWindow) {
    let isNew = size != native.size
    size = native.size
    controls.scale = native.scale
    if isNew {
      divide()
      draw()
      if isOpen { eventHandler?(.renderSizeChanged(size)) }
    }
    guard isOpen, !pointer.isActive else { return }
    let (width, height) = (
      Int(nearest: Double(size.width) / native.scale), Int(nearest: Double(size.height) / native.scale)
    )
    guard width > 1, height > 1, (width, height) != (placement.width, placement.height) else { return }
    (placement.width, placement.height) = (width, height)
    // The window manager may have taken a pixel for the shape's sake; the window stays in its corner.
    snap(to: placement.corner)
    remember()
  }

  /// Gives each stream its part of the window.
  private func divide() {
    let whole = size.isValid ? PictureRect(x: 0, y: 0, width: size.width, height: size.height) : nil
    guard presentation?.secondStreamID != nil, let whole else {
      second.tile?.frame = nil
      first.tile?.frame = whole
      return
    }
    let half = whole.width / 2
    first.tile?.frame = PictureRect(x: 0, y: 0, width: half, height: whole.height)
    second.tile?.frame = PictureRect(x: half, y: 0, width: whole.width - half, height: whole.height)
  }

  // MARK: - What lies over the pictures

  private func draw() {
    guard isOpen, let presentation, let scale = native?.scale, size.isValid else { return }
    var layers: [WindowOverlay.Layer] = []
    let picture = first.tile?.frame ?? PictureRect(x: 0, y: 0, width: size.width, height: size.height)
    if let text = presentation.content.coverText {
      if cover?.text != text || cover?.width != picture.width || cover?.scale != scale {
        let image = OverlayDrawing.cover(text, width: picture.width, scale: scale)
        cover = (text, picture.width, scale, image)
      }
      if let cover { layers += OverlayDrawing.coverLayers(cover.image, in: picture) }
    } else {
      cover = nil
    }
    if presentation.isMicrophoneOff {
      let side = Int(nearest: Double(OverlayDrawing.microphoneSide) * scale)
      layers.append(
        .init(
          image: OverlayDrawing.microphone(scale: scale),
          origin: (picture.x + picture.width - side, picture.y + picture.height - side)))
    }
    layers += controls.layers(presentation, size: size)
    overlay.set(layers, over: presentation.secondStreamID == nil ? [first] : [first, second])
  }

  // MARK: - The user

  /// A tenth larger or smaller for each step of the wheel.
  private func scroll(_ deltaY: Double) {
    guard deltaY != 0 else { return }
    findMonitor()
    resize(toWidth: placement.width(scrolledBy: deltaY < 0 ? 1 : -1))
    snap(to: placement.corner)
    remember()
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
