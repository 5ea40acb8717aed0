import CWindows
import Glibc
import PipSink

/// A window of its own on an X server, on a connection of its own: who ends that ends this window and nothing else.
@MainActor
class X11Window: NativeWindow {
  let id: UInt32
  let screen: X11Screen
  /// A whole number: window managers know nothing else.
  let scale: Double
  /// In pixels.
  final var size = PictureSize(width: 0, height: 0)
  let connection: X11Connection
  private let display: String?
  private let tileWindows = X11TileWindows()
  private let handler: @MainActor @Sendable (WindowEvent) -> Void
  private let reader: X11WindowEvents
  private var loop: X11EventLoop?
  private var thread: WorkerThread?

  /// - Parameters:
  ///   - display: the server, as in DISPLAY; nil for that of the environment.
  ///   - size: in units.
  ///   - handler: is told what happens to the window.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
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
    let scale = Self.scale(screen.settings)
    self.scale = Double(scale)
    let id = xcb_generate_id(connection.pointer)
    self.id = id
    let mask =
      XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_EXPOSURE.rawValue
      | XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue | XCB_EVENT_MASK_BUTTON_PRESS.rawValue
      | XCB_EVENT_MASK_BUTTON_RELEASE.rawValue | XCB_EVENT_MASK_POINTER_MOTION.rawValue
      | XCB_EVENT_MASK_ENTER_WINDOW.rawValue | XCB_EVENT_MASK_LEAVE_WINDOW.rawValue
      | XCB_EVENT_MASK_KEY_PRESS.rawValue | XCB_EVENT_MASK_FOCUS_CHANGE.rawValue
      | XCB_EVENT_MASK_VISIBILITY_CHANGE.rawValue
    // Black where no picture is.
    let values: [UInt32] = [0, UInt32(mask)]
    let creation = xcb_create_window_checked(
      connection.pointer, UInt8(XCB_COPY_FROM_PARENT), id, screen.root, 0, 0, UInt16(clamping: size.width * scale),
      UInt16(clamping: size.height * scale), 0, UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue),
      UInt32(XCB_COPY_FROM_PARENT), UInt32(XCB_CW_BACK_PIXEL.rawValue | XCB_CW_EVENT_MASK.rawValue), values)
    guard connection.errorCode(of: creation) == 0, !connection.isBroken else {
      throw connection.windowRefusal
    }
    // That the screen's monitors are others is told as the root window's configuration, too.
    var rootMask = UInt32(XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue | XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue)
    xcb_change_window_attributes(connection.pointer, screen.root, UInt32(XCB_CW_EVENT_MASK.rawValue), &rootMask)
    xcb_randr_select_input(connection.pointer, id, UInt16(XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE.rawValue))
    let reader = X11WindowEvents(screen, window: id)
    self.reader = reader
    let queue = WindowEventQueue<WindowEvent> { [weak self] in self?.handle($0) }
    let loop = X11EventLoop(connection) { [tileWindows] event in
      if let event, tileWindows.note(event) { return true }
      let wasMapped = reader.signs.withLock { $0.isMapped }
      let meaning = reader.meaning(of: event)
      let isMapped = reader.signs.withLock { $0.isMapped }
      if isMapped != wasMapped { tileWindows.note(isMapped: isMapped) }
      guard let event = meaning else { return true }
      queue.append(event)
      if case .lost = event { return false }
      return true
    }
    self.loop = loop
    thread = WorkerThread(name: "pip-x11-window") { loop.run() }
    connection.flush()
  }

  deinit {
    loop?.end()
    thread?.join()
    if !connection.isBroken {
      xcb_destroy_window(connection.pointer, id)
      connection.flush()
      connection.linger()
    }
  }

  /// What the server has said of whether the window can be seen.
  var signs: BackgroundSigns { reader.signs.withLock { $0 } }

  /// Told of each event, in their order.
  func handle(_ event: WindowEvent) {
    if case .resized(let size) = event { self.size = size }
    handler(event)
  }

  private static func scale(_ settings: XSettings) -> Int {
    let forced = getenv("GDK_SCALE").flatMap { Int(String(cString: $0)) }
    return max(1, min(forced ?? settings.numbers["Gdk/WindowScalingFactor"] ?? 1, 8))
  }

  var isBroken: Bool { connection.isBroken }

  func flush() { connection.flush() }

  // MARK: - Properties

  /// What window managers are told of every window.
  func setProperties(title: String, role: String) {
    let atoms = screen.atoms
    let (atom, cardinal) = (UInt32(XCB_ATOM_ATOM.rawValue), UInt32(XCB_ATOM_CARDINAL.rawValue))
    connection.set(screen.atoms[.name], of: id, to: title, type: screen.atoms[.utf8String])
    connection.set(UInt32(XCB_ATOM_WM_NAME.rawValue), of: id, to: title, type: screen.atoms[.utf8String])
    let text = UInt32(XCB_ATOM_STRING.rawValue)
    connection.set(atoms[.wmRole], of: id, to: role, type: text)
    let program = g_get_prgname().map { String(cString: $0) } ?? "pipsink"
    let name = String(program.split(separator: "/").last ?? "pipsink")
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
    // Flags: input and state; takes input, and is not minimised.
    let hints = UInt32(XCB_ATOM_WM_HINTS.rawValue)
    connection.set(hints, of: id, to: [3, 1, 1, 0, 0, 0, 0, 0, 0], type: hints)
  }

  func setIconName(_ name: String) {
    connection.set(screen.atoms[.iconName], of: id, to: name, type: screen.atoms[.utf8String])
    connection.set(UInt32(XCB_ATOM_WM_ICON_NAME.rawValue), of: id, to: name, type: screen.atoms[.utf8String])
  }

  /// Which sizes the window manager is to give the window.
  ///
  /// - Parameters:
  ///   - minimum: in units.
  ///   - aspectRatio: width divided by height; nil for any.
  ///   - size: in pixels, one that has the shape but for a part of a pixel, and that the window manager is to leave alone.
  func setShape(minimum: PictureSize, aspectRatio: Double?, size: PictureSize?) {
    // XSizeHints: flags, four numbers that count no more, least and greatest size, steps, least and greatest shape, the
    // base's size, gravity.
    var hints = [UInt32](repeating: 0, count: 18)
    // The program's place and size, the least size.
    hints[0] = 1 << 2 | 1 << 3 | 1 << 4
    hints[5] = UInt32(clamping: minimum.width * Int(scale))
    hints[6] = UInt32(clamping: minimum.height * Int(scale))
    if let aspectRatio {
      hints[0] |= 1 << 7
      // Fractions: the shape that is wanted and the window's own lie between them, so that no window manager takes a pixel
      // for its sake.
      let own = size.map { Double($0.width) / Double(max(1, $0.height)) } ?? aspectRatio
      let least = Int(nearest: (min(aspectRatio, own) * 65536).rounded(.down))
      let greatest = Int(nearest: (max(aspectRatio, own) * 65536).rounded(.up))
      hints.replaceSubrange(11..<15, with: [UInt32(clamping: least), 65536, UInt32(clamping: greatest), 65536])
    }
    connection.set(
      UInt32(XCB_ATOM_WM_NORMAL_HINTS.rawValue), of: id, to: hints, type: UInt32(XCB_ATOM_WM_SIZE_HINTS.rawValue))
  }

  /// How much of the window a compositing manager shows.
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

  var isMinimized: Bool {
    connection.numbers(screen.atoms[.state], of: id).contains(screen.atoms[.stateHidden])
  }

  // MARK: - Place

  func map() { xcb_map_window(connection.pointer, id) }

  /// Takes the window away, and says so to the window manager, which may have minimised it (ICCCM 4.1.4).
  func unmap() {
    xcb_unmap_window(connection.pointer, id)
    var event = xcb_unmap_notify_event_t()
    event.response_type = UInt8(XCB_UNMAP_NOTIFY)
    event.event = screen.root
    event.window = id
    let mask = XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue
    var bytes = [CChar](repeating: 0, count: 32)
    withUnsafeBytes(of: event) { event in
      for (index, byte) in event.enumerated() where index < bytes.count { bytes[index] = CChar(bitPattern: byte) }
    }
    xcb_send_event(connection.pointer, 0, screen.root, UInt32(mask), bytes)
    connection.flush()
  }

  /// In units.
  func move(toX x: Int, y: Int) {
    configure([(XCB_CONFIG_WINDOW_X, x * Int(scale)), (XCB_CONFIG_WINDOW_Y, y * Int(scale))])
  }

  /// In pixels.
  func resize(to size: PictureSize) {
    configure([(XCB_CONFIG_WINDOW_WIDTH, size.width), (XCB_CONFIG_WINDOW_HEIGHT, size.height)])
  }

  private func configure(_ values: [(xcb_config_window_t, Int)]) {
    let mask = values.reduce(0) { $0 | $1.0.rawValue }
    let numbers = values.map { UInt32(bitPattern: Int32(clamping: $0.1)) }
    xcb_configure_window(connection.pointer, id, UInt16(mask), numbers)
    connection.flush()
  }

  /// Where the window is on the screen, in pixels; nil when it or its server has gone. Waits for the server.
  var frameInPixels: PictureRect? {
    let (place, size) = (
      xcb_translate_coordinates(connection.pointer, id, screen.root, 0, 0), xcb_get_geometry(connection.pointer, id)
    )
    let (origin, geometry) = connection.answer {
      (xcb_translate_coordinates_reply($0, place, nil), xcb_get_geometry_reply($0, size, nil))
    }
    defer {
      free(origin)
      free(geometry)
    }
    guard let origin, let geometry else { return nil }
    return PictureRect(
      x: Int(origin.pointee.dst_x), y: Int(origin.pointee.dst_y), width: Int(geometry.pointee.width),
      height: Int(geometry.pointee.height))
  }

  /// A part of the screen, from its pixels.
  func units(_ area: PictureRect) -> PictureRect {
    let scale = Int(scale)
    return PictureRect(
      x: area.x / scale, y: area.y / scale, width: max(1, area.width / scale), height: max(1, area.height / scale))
  }

  // MARK: - Places for pictures

  func makeTile(decoration: WindowOverlay) throws(PipSinkError) -> any WindowTile {
    let tile = try X11Tile(connection, parent: id, display: display, decoration: decoration)
    tileWindows.add(tile)
    return tile
  }

  func remove(_ tile: any WindowTile) {
    tile.leaveWindow()
    if let tile = tile as? X11Tile { tileWindows.remove(tile.window) }
  }

  var animates: Bool { screen.settings.numbers["Gtk/EnableAnimations"] != 0 && DesktopSettings.wantsAnimations }
}
