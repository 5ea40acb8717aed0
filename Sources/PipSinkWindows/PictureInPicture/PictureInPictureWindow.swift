import CWindows
import PipSink

/// A small window above all others that shows one stream or several (``PipSink/PictureInPictureLayout``). It needs no
/// toolkit.
///
/// Where the desktop supports it, the window stays above all others on all workspaces. It has no border, is not listed
/// in taskbars and pagers, and does not take the focus when it appears. The user moves it by dragging it anywhere; it
/// then snaps to the nearest corner of its monitor. The user resizes it at its corners or with the scroll wheel, and it
/// keeps the shape of its picture. Controls appear with the pointer or are used with the keyboard, and a double click
/// goes back to the app.
///
/// The kind of window depends on the desktop (``Kind-swift.enum``). On X11 it is a window that asks the window manager
/// for these properties (EWMH). On Wayland it is a surface on layer-shell's overlay layer; where the compositor has no
/// layer-shell, as on GNOME, it is an X11 window in Xwayland.
///
/// The window needs no main loop other than the main actor. Its connection to the display server is independent of any
/// toolkit's. When the server dies, the window reports ``PipSink/PictureInPictureWindowEvent/lost(_:)``, and the next
/// ``open(_:)`` looks for a server again.
@MainActor
public final class PictureInPictureWindow: PictureInPictureHost {

  /// The kind of window that is used on the current desktop.
  public let kind: Kind
  /// The renderer of the window's first place.
  public var renderer: any VideoRenderer { slots[0] }
  /// The renderers of the other places.
  public var otherRenderers: [any VideoRenderer] { Array(slots.dropFirst()) }
  /// Called with the window's events. The picture-in-picture controller sets it.
  public var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
  /// Called when a key is pressed in the window without Control, Alt or Super, with the keysym that it has without Caps
  /// Lock and in a Latin layout. It returns whether it has handled the key; otherwise the window handles the keys that
  /// it knows: space, m, f, left, right, Tab, Return and Escape. Of a key that is held, only repetitions of keys that
  /// type no character are reported. Keys that go from one control to another, or use it, are not reported.
  public var keyPressed: ((_ keysym: UInt32) -> Bool)?
  /// Called for a key that the window does not know, or whose action is not available now.
  package var otherKeyPressed: ((WindowKey) -> Void)?
  /// The keysym of the key that has been handled last.
  var handledKey: UInt32?
  /// Whether the window has the keyboard.
  var hasKeyboard = false
  package var focusChanged: (@MainActor () -> Void)?
  /// Whether a control is to be used with the keyboard as soon as that has come.
  var awaitsKeyboard = false
  /// What the app draws itself in the window; nil for nothing. It stays while the window is closed.
  public var content: PictureInPictureContent? {
    didSet {
      guard content !== oldValue else { return }
      oldValue?.changed = nil
      content?.changed = { [weak self] in
        self?.draw()
        self?.native?.flush()
      }
      showPlaces()
      draw()
      native?.flush()
    }
  }
  /// Returns the monitor to open on when none is remembered, which is that of the app's window.
  package var preferredMonitor: (() -> WindowMonitor?)?

  /// The renderers of the window's places. Each gets its tile when the place is shown for the first time.
  let slots = (0..<PictureInPictureLayout.maximumPlaceCount).map { _ in ExchangeableRenderer() }
  /// What is drawn over the pictures, for each slot.
  let overlays = (0..<PictureInPictureLayout.maximumPlaceCount).map { _ in WindowOverlay() }
  let gaps = WindowGaps()
  private let display: String?
  /// Who draws frames.
  let windowRenderer: WindowRenderer
  let placementPath: String?
  /// The places that are remembered for all monitors.
  var places: WindowPlaces
  /// The window's corner and size on its current monitor.
  var placement: WindowPlacement
  /// The name of the window's monitor. It is nil where the display server chooses the monitor, and before the window is
  /// open.
  var monitor: String?
  private(set) var isOpen = false
  private(set) var presentation: PictureInPicturePresentation?
  var native: (any NativePictureInPictureWindow)?
  /// The last size that the display server has reported, in pixels.
  var size = PictureSize(width: 0, height: 0)
  /// Whether the window has been given the shape of its picture.
  var isShaped = false
  /// The part of a step of the wheel that has been scrolled and has not changed the size yet. Down is positive.
  var scrollRest = 0.0
  lazy var pointer = WindowPointer(self)
  lazy var controls = OverlayControls { [weak self] in
    self?.draw()
  } focusChanged: { [weak self] in
    self?.focusChanged?()
  }
  /// Whether the window keeps the screen on while it can be seen.
  var isScreenKeptOn = false { didSet { native?.keepScreenOn(isScreenKeptOn) } }
  private let opening = Animation()
  /// How long the window's place and size stay the same before they count as those that the desktop has given it.
  static let settlingTime = Duration.milliseconds(300)
  var settling: Task<Void, Never>?
  /// Waits for the desktop's answer to a request for another size; nil when none is awaited.
  var awaitedSize: Task<Void, Never>?
  /// Whether the window should have another size than the one that is awaited.
  var isSizeStale = false
  /// Whether the user has moved the window through the desktop, so that it need not be in a corner.
  var isLoose = false
  /// The work area in which the window has got its place, in units.
  var placedIn: PictureRect?
  /// The rectangles of the places, in pixels, by their slots. They are on their way to those of the layout for a moment.
  var rectangles: [PictureRect?] = []
  let arranging = Animation()
  /// Whether the window filled its monitor when that was looked at last.
  var wasFullscreen = false
  /// Whether the places are on their way.
  var isArranging = false
  /// The corner of the small picture in the `speaker` layout, to which the user can drag it.
  var smallCorner = WindowCorner.bottomRight
  /// The texts, names and marks over the pictures as they were drawn last.
  var labels = LabelImages()

  /// Creates a window that is hidden until ``open(_:)`` is called.
  ///
  /// - Parameters:
  ///   - display: an X server, as in `DISPLAY`, on which the window is created. Nil uses the first ``Kind-swift.enum``
  ///     that the desktop supports.
  ///   - placement: the corner and size that the window has when none are remembered.
  ///   - placementPath: the file in which its monitor, corner and size are remembered; nil does not remember them.
  ///   - renderer: who draws frames.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when no display server can be reached.
  public init(
    display: String? = nil, placement: WindowPlacement = WindowPlacement(),
    placementPath: String? = WindowPlacement.defaultPath, renderer: WindowRenderer = .fromEnvironment
  ) throws(PipSinkError) {
    kind = if display == nil { try Kind.found() } else { .x11 }
    (self.display, windowRenderer) = (display, renderer)
    self.placementPath = placementPath
    places = placementPath.flatMap { WindowPlaces(from: $0) } ?? WindowPlaces(placement)
    self.placement = places.placement(on: places.monitor)
  }

  isolated deinit {
    noteChange()
    leaveStack()
    letGo()
  }

  // MARK: - PictureInPictureHost

  /// Why the window cannot be opened now, in a sentence for people, or nil when it can. Reading it creates the window, as
  /// ``open(_:)`` does, without showing it.
  public var unsupportedReason: String? {
    do throws(PipSinkError) {
      let native = try connected()
      if slots[0].tile == nil { slots[0].tile = try native.makeTile(decoration: overlays[0], renderer: windowRenderer) }
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// What the window cannot do on this desktop, such as staying above others, in a sentence for people, or nil when
  /// nothing is missing. Reading it may connect to the display server.
  public var limitation: String? {
    try? connected().limitation
  }

  /// Shows the window, on the monitor and in the corner that are remembered.
  ///
  /// - Parameter presentation: the streams to show, and the state of the controls.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when no display server can be reached.
  public func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError) {
    let native = try connected()
    kind.warnOnce(native.limitation)
    if slots[0].tile == nil { slots[0].tile = try native.makeTile(decoration: overlays[0], renderer: windowRenderer) }
    follow(native)
    isOpen = true
    chooseMonitor()
    update(presentation)
    chooseFreeCorner()
    native.describe(presentation.title)
    snap(to: placement.corner)
    let fades = native.isComposited && native.look.animates
    native.setOpacity(fades ? 0 : presentation.opacity)
    native.show()
    if fades {
      opening.run(from: 0, to: 1) { [weak self] part in
        guard let self, let opacity = self.presentation?.opacity else { return }
        self.native?.setOpacity(part * opacity)
      }
    }
    // Some window managers place a window when it is mapped.
    snap(to: placement.corner)
    native.flush()
    showPlaces()
  }

  /// Hides the window. It does nothing when the window is not open.
  public func close() {
    guard isOpen else { return }
    noteChange()
    settling?.cancel()
    (isOpen, settling) = (false, nil)
    forgetRequest()
    native?.setFullscreen(false)
    wasFullscreen = false
    // The desktop may have given the window another size for a while. It opens with the user's.
    isShaped = false
    leaveStack()
    leaveMonitor()
    pointer.cancel()
    controls.hideAtOnce()
    opening.stop()
    endArranging()
    (hasKeyboard, awaitsKeyboard) = (false, false)
    for slot in slots { slot.isShown = false }
    native?.hide()
  }

  /// Shows other streams or another state of the controls. It does nothing when the window is not open.
  public func update(_ presentation: PictureInPicturePresentation) {
    guard isOpen, let native else { return }
    let old = self.presentation
    self.presentation = presentation
    if old?.places.map(\.participant.name) != presentation.places.map(\.participant.name) {
      native.describe(presentation.title)
    }
    if let old, old.opacity != presentation.opacity { native.setOpacity(presentation.opacity) }
    if old?.isClickThrough != presentation.isClickThrough {
      native.setInputArea(presentation.isClickThrough ? ControlBars.handle : nil)
      if presentation.isClickThrough { controls.leave() }
    }
    if old?.layout != presentation.layout || old?.places.map(\.slot) != presentation.places.map(\.slot) {
      divide(isAnimated: slots[0].isShown)
      showPlaces()
    }
    if old?.aspectRatio != presentation.aspectRatio || !isShaped {
      resize(toWidth: placement.width)
      // A window that is being dragged goes to its corner when it is released.
      if !pointer.isActive { snap(to: placement.corner) }
    }
    if old != presentation { draw() }
    native.flush()
  }

  /// Returns a copy of the picture as it is shown, without the controls and at the window's size in pixels, or nil when
  /// the window shows no picture.
  public func image() -> BGRAImage? {
    guard let presentation, presentation.places.count > 1, size.isValid else { return slots[0].tile?.image() }
    let parts = zip(slots, rectangles).compactMap { slot, rectangle in
      rectangle.flatMap { rectangle in slot.tile?.image().map { ($0, rectangle) } }
    }
    return parts.isEmpty ? nil : BGRAImage(size: size, parts: parts)
  }

  /// The number of frames that have been converted for this window since it was last created on the display server.
  package var convertedFrameCount: UInt64 {
    slots.reduce(0) { $0 + ($1.tile?.convertedFrameCount ?? 0) }
  }

  // MARK: - The back-end's window

  private func connected() throws(PipSinkError) -> any NativePictureInPictureWindow {
    if let native {
      if !native.isBroken { return native }
      letGo()
    }
    let made = try makeNative { [weak self] in self?.handle($0) }
    native = made
    (isShaped, size) = (false, PictureSize(width: 0, height: 0))
    follow(made)
    made.keepScreenOn(isScreenKeptOn)
    return made
  }

  /// Draws what lies over the pictures as large, and in the way, as the user wants it now.
  ///
  /// - Returns: whether that is new.
  @discardableResult
  func follow(_ native: any NativePictureInPictureWindow) -> Bool {
    let look = native.look
    let scale = native.scale * look.textScale
    defer { (labels.look, controls.ground, controls.scale) = (look, look.controlsGround, scale) }
    return labels.look != look || controls.scale != scale
  }

  /// The name of the display server on which the window is.
  var serverName: String {
    let variable = kind == .x11 || kind == .xwayland ? "DISPLAY" : "WAYLAND_DISPLAY"
    return display ?? g_getenv(variable).map { String(cString: $0) } ?? ""
  }

  func makeNative(
    _ handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) throws(PipSinkError) -> any NativePictureInPictureWindow {
    try kind.makeWindow(display: display, size: placement.size, handler: handler)
  }

  /// Stops using the back-end's window and releases it.
  func letGo() {
    for slot in slots {
      slot.tile?.leaveWindow()
      slot.tile = nil
    }
    gaps.leaveWindow()
    native = nil
    presentation = nil
  }

  /// The size that the display server has reported last, in units.
  var sizeInUnits: PictureSize {
    let scale = native?.scale ?? 1
    return PictureSize(
      width: Int(nearest: Double(size.width) / scale), height: Int(nearest: Double(size.height) / scale))
  }
}
