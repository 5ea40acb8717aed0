import CWindows
import Glibc
import PipSink

/// A window on an X server: what the app's window and picture-in-picture windows have in common.
///
/// Each window has a connection of its own. When the user kills that through the window manager, the program loses this
/// window and nothing else.
@MainActor
class X11Window: NativeWindow {
  let id: UInt32
  let screen: X11Screen
  /// The number of pixels in a unit. It is always a whole number on X11, and follows the desktop's settings.
  var scale: Double { Double(reader.settings.withLock { $0.scale }) }
  /// The window's size in pixels, as the server has reported it.
  final var size = PictureSize(width: 0, height: 0)
  /// The place and size that were asked for last, in pixels.
  private(set) final var asked: PictureRect
  /// Whether the window was asked to be shown, and not to be hidden since.
  final var isShown = false
  final var fullscreen = FullscreenState()
  /// The part of the window that takes the pointer, in units; nil for all of it.
  private var inputArea: PictureRect?
  let connection: X11Connection
  private let display: String?
  private let tileWindows = X11TileWindows()
  private let handler: @MainActor @Sendable (WindowEvent) -> Void
  private let reader: X11WindowEvents
  private var loop: X11EventLoop?

  /// Creates a window that is hidden until ``map()``.
  ///
  /// - Parameters:
  ///   - display: the server, as in `DISPLAY`; nil for the one that the environment names.
  ///   - size: the window's first size, in units.
  ///   - handler: called with the window's events.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the X server cannot be reached.
  init(
    display: String?, size: PictureSize,
    handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) throws(PipSinkError) {
    guard let connection = X11Connection(display), let screen = X11Screen(connection, number: connection.screenNumber)
    else {
      throw .system(.displayUnavailable(reason: "the X server \(display ?? "that DISPLAY names") cannot be reached"))
    }
    self.connection = connection
    self.screen = screen
    self.display = display
    self.handler = handler
    let id = xcb_generate_id(connection.pointer)
    self.id = id
    let reader = X11WindowEvents(screen, window: id)
    self.reader = reader
    let scale = reader.settings.withLock { $0.scale }
    asked = PictureRect(x: 0, y: 0, width: size.width * scale, height: size.height * scale)
    let mask =
      XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_EXPOSURE.rawValue
      | XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue | XCB_EVENT_MASK_BUTTON_PRESS.rawValue
      | XCB_EVENT_MASK_BUTTON_RELEASE.rawValue | XCB_EVENT_MASK_POINTER_MOTION.rawValue
      | XCB_EVENT_MASK_ENTER_WINDOW.rawValue | XCB_EVENT_MASK_LEAVE_WINDOW.rawValue
      | XCB_EVENT_MASK_KEY_PRESS.rawValue | XCB_EVENT_MASK_KEY_RELEASE.rawValue
      | XCB_EVENT_MASK_FOCUS_CHANGE.rawValue | XCB_EVENT_MASK_VISIBILITY_CHANGE.rawValue
    // The background is black where there is no picture.
    let values: [UInt32] = [0, UInt32(mask)]
    let creation = xcb_create_window_checked(
      connection.pointer, UInt8(XCB_COPY_FROM_PARENT), id, screen.root, 0, 0, UInt16(clamping: size.width * scale),
      UInt16(clamping: size.height * scale), 0, UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue),
      UInt32(XCB_COPY_FROM_PARENT), UInt32(XCB_CW_BACK_PIXEL.rawValue | XCB_CW_EVENT_MASK.rawValue), values)
    let errorCode = connection.errorCode(of: creation)
    guard errorCode == 0, !connection.isBroken else { throw connection.windowRefusal(errorCode) }
    // A change of the screen's monitors is also reported as a new configuration of the root window.
    var rootMask = UInt32(XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue | XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue)
    xcb_change_window_attributes(connection.pointer, screen.root, UInt32(XCB_CW_EVENT_MASK.rawValue), &rootMask)
    if connection.monitorEventBase != nil {
      xcb_randr_select_input(connection.pointer, id, UInt16(XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE.rawValue))
    }
    let queue = WindowEventQueue<WindowEvent> { [weak self] in self?.handle($0) }
    let loop = X11EventLoop(connection) { [tileWindows] event in
      if let event, tileWindows.note(event) { return true }
      let wasMapped = reader.signs.withLock { $0.isMapped }
      let meaning = reader.meaning(of: event)
      let isMapped = reader.signs.withLock { $0.isMapped }
      if isMapped != wasMapped {
        tileWindows.note(isMapped: isMapped)
        if isMapped { SurfaceGate.shared.open(for: connection) }
      }
      guard let event = meaning else { return true }
      queue.append(event)
      if case .lost = event { return false }
      return true
    }
    self.loop = loop
    _ = WorkerThread(name: "pip-x11-window") { loop.run() }
    connection.flush()
  }

  deinit {
    loop?.end()
    if !connection.isBroken {
      xcb_destroy_window(connection.pointer, id)
      connection.flush()
      connection.linger()
    }
  }

  /// What the server has reported about whether the user can see the window.
  var signs: BackgroundSigns { reader.signs.withLock { $0 } }

  /// The upper left corner on the screen that was reported last, in pixels, or nil where none was.
  var reportedOrigin: SIMD2<Int>? { reader.origin.withLock { $0 } }

  /// Called with each event, in their order. Subclasses override it to handle events first.
  func handle(_ event: WindowEvent) {
    switch event {
    case .resized(let size): self.size = size
    case .stateChanged:
      if isShown {
        fullscreen.note(
          report: connection.numbers(screen.atoms[.state], of: id).contains(screen.atoms[.stateFullscreen]))
      }
      if inputArea != nil { applyInputArea() }
    default: break
    }
    handler(event)
  }

  var isBroken: Bool { connection.isBroken }

  func flush() { connection.flush() }

  // MARK: - Properties

  /// Sets the title (ICCCM 4.1.2.1, EWMH).
  func setName(_ name: String) {
    connection.set(screen.atoms[.name], of: id, to: name, type: screen.atoms[.utf8String])
    connection.set(UInt32(XCB_ATOM_WM_NAME.rawValue), of: id, to: name, type: screen.atoms[.utf8String])
  }

  /// Sets the other properties that every window has (ICCCM, EWMH).
  ///
  /// - Parameter takesFocus: whether the window manager may give the window the keyboard by itself.
  func setProperties(role: String, takesFocus: Bool) {
    let atoms = screen.atoms
    let (atom, cardinal) = (UInt32(XCB_ATOM_ATOM.rawValue), UInt32(XCB_ATOM_CARDINAL.rawValue))
    let text = UInt32(XCB_ATOM_STRING.rawValue)
    connection.set(atoms[.wmRole], of: id, to: role, type: text)
    let name = WindowIdentity.programName
    connection.set(
      UInt32(XCB_ATOM_WM_CLASS.rawValue), of: id, to: "\(name)\0\(name.prefix(1).uppercased())\(name.dropFirst())\0",
      type: text)
    var host = [CChar](repeating: 0, count: 256)
    if gethostname(&host, host.count - 1) == 0 {
      let bytes = host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      connection.set(
        UInt32(XCB_ATOM_WM_CLIENT_MACHINE.rawValue), of: id, to: String(decoding: bytes, as: UTF8.self), type: text)
    }
    connection.set(atoms[.pid], of: id, to: [UInt32(getpid())], type: cardinal)
    connection.set(atoms[.wmProtocols], of: id, to: [atoms[.wmDeleteWindow], atoms[.ping]], type: atom)
    setTakesFocus(takesFocus)
  }

  /// Says whether the window manager may give the window the keyboard by itself.
  func setTakesFocus(_ takesFocus: Bool) {
    // WM_HINTS (ICCCM 4.1.2.4): the flags for input and state are set; the window starts in the normal state.
    let hints = UInt32(XCB_ATOM_WM_HINTS.rawValue)
    connection.set(hints, of: id, to: [3, takesFocus ? 1 : 0, 1, 0, 0, 0, 0, 0, 0], type: hints)
  }

  /// Sets the name that lists of windows may show instead of the title (ICCCM 4.1.2.2, EWMH).
  func setIconName(_ name: String) {
    connection.set(screen.atoms[.iconName], of: id, to: name, type: screen.atoms[.utf8String])
    connection.set(UInt32(XCB_ATOM_WM_ICON_NAME.rawValue), of: id, to: name, type: screen.atoms[.utf8String])
  }

  /// Tells the window manager which sizes the window may have (WM_NORMAL_HINTS, ICCCM 4.1.2.3).
  ///
  /// - Parameters:
  ///   - minimum: the smallest size, in units.
  ///   - aspectRatio: width divided by height; nil allows any shape.
  func setShape(minimum: PictureSize, aspectRatio: Double?) {
    // The 18 numbers are: flags, place and size, smallest and largest size, steps, smallest and largest aspect ratio as
    // fractions, base size, gravity. Place and size are obsolete, but some window managers read them.
    var hints = [UInt32](repeating: 0, count: 18)
    let numbers = [asked.x, asked.y, asked.width, asked.height].map { UInt32(bitPattern: Int32(clamping: $0)) }
    hints.replaceSubrange(1..<5, with: numbers)
    // PPosition, PSize and PMinSize.
    hints[0] = 1 << 2 | 1 << 3 | 1 << 4
    hints[5] = UInt32(clamping: minimum.width * Int(scale))
    hints[6] = UInt32(clamping: minimum.height * Int(scale))
    if let aspectRatio {
      hints[0] |= 1 << 7
      // PAspect. Both the wanted aspect ratio and that of the size in whole pixels are between the two fractions, so
      // that no window manager changes the size by a pixel to reach the ratio.
      let own = Double(asked.width) / Double(max(1, asked.height))
      let least = Int(nearest: (min(aspectRatio, own) * 65536).rounded(.down))
      let greatest = Int(nearest: (max(aspectRatio, own) * 65536).rounded(.up))
      hints.replaceSubrange(11..<15, with: [UInt32(clamping: least), 65536, UInt32(clamping: greatest), 65536])
    }
    connection.set(
      UInt32(XCB_ATOM_WM_NORMAL_HINTS.rawValue), of: id, to: hints, type: UInt32(XCB_ATOM_WM_SIZE_HINTS.rawValue))
  }

  /// Sets the opacity with which a compositing manager shows the window, from 0 to 1 (`_NET_WM_WINDOW_OPACITY`).
  func setOpacity(_ opacity: Double) {
    let atom = screen.atoms[.opacity]
    if opacity >= 1 {
      xcb_delete_property(connection.pointer, id, atom)
    } else {
      let value = UInt32(max(0, opacity) * Double(UInt32.max))
      connection.set(atom, of: id, to: [value], type: UInt32(XCB_ATOM_CARDINAL.rawValue))
    }
    connection.flush()
  }

  /// Whether the window manager has minimised the window (EWMH). Reading it waits for the server.
  var isMinimized: Bool {
    connection.numbers(screen.atoms[.state], of: id).contains(screen.atoms[.stateHidden])
  }

  // MARK: - Fullscreen

  /// Whether the window fills its monitor, as was requested last.
  final var isFullscreen: Bool { fullscreen.isOn }

  /// Fills the monitor, or has the size from before, once the window is shown.
  func setFullscreen(_ isFullscreen: Bool) {
    guard fullscreen.request(isFullscreen), isShown else { return }
    // EWMH, _NET_WM_STATE: 1 adds a state and 0 removes it; the fourth number says that an application asks for it.
    screen.send(.state, about: id, (isFullscreen ? 1 : 0, screen.atoms[.stateFullscreen], 0, 1, 0))
  }

  // MARK: - Input

  /// Sets the part of the window that takes the pointer, in units; nil for all of it. The rest lets it through to the
  /// windows below. It has no effect on servers without the extension SHAPE.
  func setInputArea(_ area: PictureRect?) {
    guard area != inputArea, connection.hasShapes else { return }
    inputArea = area
    applyInputArea()
  }

  /// Tells the server and the window manager the part that takes the pointer. Openbox gives its frame that part only when
  /// it changes, and not when the window is shown with it. So it is repeated when the window manager changes the state.
  private func applyInputArea() {
    let (set, input) = (xcb_shape_op_t(XCB_SHAPE_SO_SET.rawValue), xcb_shape_kind_t(XCB_SHAPE_SK_INPUT.rawValue))
    if let area = inputArea {
      let scale = Int(scale)
      var rectangle = xcb_rectangle_t(
        x: Int16(clamping: area.x * scale), y: Int16(clamping: area.y * scale),
        width: UInt16(clamping: area.width * scale), height: UInt16(clamping: area.height * scale))
      let order = UInt8(XCB_CLIP_ORDERING_UNSORTED.rawValue)
      xcb_shape_rectangles(connection.pointer, set, input, order, id, 0, 0, 1, &rectangle)
    } else {
      // Without a mask the window takes the pointer everywhere.
      xcb_shape_mask(connection.pointer, set, input, id, 0, 0, 0)
    }
    connection.flush()
  }

  // MARK: - Place

  /// Shows the window.
  func map() { xcb_map_window(connection.pointer, id) }

  /// Hides the window, and tells the window manager so even if that has minimised the window (ICCCM 4.1.4).
  func unmap() {
    xcb_unmap_window(connection.pointer, id)
    var event = xcb_unmap_notify_event_t()
    event.response_type = UInt8(XCB_UNMAP_NOTIFY)
    event.event = screen.root
    event.window = id
    screen.sendToRoot(event)
    connection.flush()
  }

  /// Moves the window's upper left corner to a position on the screen, in units.
  func move(toX x: Int, y: Int) {
    asked = PictureRect(x: x * Int(scale), y: y * Int(scale), width: asked.width, height: asked.height)
    configure([(XCB_CONFIG_WINDOW_X, asked.x), (XCB_CONFIG_WINDOW_Y, asked.y)])
  }

  /// Resizes the window to a size in pixels.
  func resize(to size: PictureSize) {
    asked = PictureRect(x: asked.x, y: asked.y, width: size.width, height: size.height)
    willResize()
    configure([(XCB_CONFIG_WINDOW_WIDTH, size.width), (XCB_CONFIG_WINDOW_HEIGHT, size.height)])
  }

  /// Called before the server is asked for ``asked``. Subclasses override it.
  func willResize() {}

  private func configure(_ values: [(xcb_config_window_t, Int)]) {
    let mask = values.reduce(0) { $0 | $1.0.rawValue }
    let numbers = values.map { UInt32(bitPattern: Int32(clamping: $0.1)) }
    xcb_configure_window(connection.pointer, id, UInt16(mask), numbers)
    connection.flush()
  }

  /// The window's rectangle on the screen, in pixels, or nil when the window or its server has gone. Reading it waits
  /// for the server.
  var rectangleInPixels: PictureRect? { screen.rectangle(of: id) }

  /// Converts a rectangle on the screen from pixels to units.
  func units(_ area: PictureRect) -> PictureRect {
    let scale = Int(scale)
    return PictureRect(
      x: area.x / scale, y: area.y / scale, width: max(1, area.width / scale), height: max(1, area.height / scale))
  }

  // MARK: - Tiles

  func makeTile(decoration: WindowOverlay, renderer: WindowRenderer) throws(PipSinkError) -> any WindowTile {
    let tile = try X11Tile(connection, parent: id, display: display, decoration: decoration, renderer: renderer)
    tileWindows.add(tile)
    return tile
  }

  func remove(_ tile: any WindowTile) {
    tile.leaveWindow()
    if let tile = tile as? X11Tile { tileWindows.remove(tile.window) }
  }

  var look: DesktopLook {
    var look = DesktopSettings.look
    let settings = reader.settings.withLock { $0 }
    if !settings.animates { look.animates = false }
    if let textScale = settings.textScale { look.textScale = textScale }
    return look
  }
}
