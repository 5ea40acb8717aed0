import CWindows
import Glibc
import PipSink

/// A window of its own on an X server, on a connection of its own: who ends that ends this window and nothing else.
@MainActor
final class X11Window {
  let id: UInt32
  let screen: X11Screen
  /// Pixels for each unit that windows are placed in.
  let scale: Int
  private let connection: X11Connection
  private let loop: X11EventLoop
  private let thread: WorkerThread?
  private let events: EventQueue

  /// Hands events to the main actor in their order.
  private final class EventQueue: Sendable {
    private let waiting = Locked<[X11WindowEvent]>([])
    private let handler: @MainActor @Sendable (X11WindowEvent) -> Void

    init(_ handler: @escaping @MainActor @Sendable (X11WindowEvent) -> Void) { self.handler = handler }

    func append(_ event: X11WindowEvent) {
      let isFirst = waiting.withLock { waiting in
        waiting.append(event)
        return waiting.count == 1
      }
      if isFirst { Task { @MainActor in self.deliver() } }
    }

    @MainActor
    private func deliver() {
      let events = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      for event in events { handler(event) }
    }
  }

  /// - Parameters:
  ///   - display: the server, as in DISPLAY; nil for that of the environment.
  ///   - handler: is told what happens to the window.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  init(
    display: String?, size: PictureSize, handler: @escaping @MainActor @Sendable (X11WindowEvent) -> Void
  ) throws(PipSinkError) {
    guard let connection = X11Connection(display), let screen = X11Screen(connection, number: connection.screenNumber)
    else {
      throw .system(.displayUnavailable(reason: "the X server \(display ?? "that DISPLAY names") cannot be reached"))
    }
    self.connection = connection
    self.screen = screen
    scale = Self.scale(screen.settings)
    let id = xcb_generate_id(connection.pointer)
    self.id = id
    let mask =
      XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_EXPOSURE.rawValue
      | XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue | XCB_EVENT_MASK_BUTTON_PRESS.rawValue
      | XCB_EVENT_MASK_BUTTON_RELEASE.rawValue | XCB_EVENT_MASK_POINTER_MOTION.rawValue
      | XCB_EVENT_MASK_ENTER_WINDOW.rawValue | XCB_EVENT_MASK_LEAVE_WINDOW.rawValue
      | XCB_EVENT_MASK_KEY_PRESS.rawValue
    // Black where no picture is.
    let values: [UInt32] = [0, UInt32(mask)]
    let creation = xcb_create_window_checked(
      connection.pointer, UInt8(XCB_COPY_FROM_PARENT), id, screen.root, 0, 0, UInt16(clamping: size.width * scale),
      UInt16(clamping: size.height * scale), 0, UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue),
      UInt32(XCB_COPY_FROM_PARENT), UInt32(XCB_CW_BACK_PIXEL.rawValue | XCB_CW_EVENT_MASK.rawValue), values)
    guard connection.errorCode(of: creation) == 0, !connection.isBroken else {
      throw .system(.displayUnavailable(reason: "the X server makes no window"))
    }
    var rootMask = UInt32(XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)
    xcb_change_window_attributes(connection.pointer, screen.root, UInt32(XCB_CW_EVENT_MASK.rawValue), &rootMask)
    xcb_randr_select_input(connection.pointer, id, UInt16(XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE.rawValue))
    let (queue, reader) = (EventQueue(handler), X11WindowEvents(screen, window: id))
    events = queue
    loop = X11EventLoop(connection) { event in
      guard let event = reader.meaning(of: event) else { return true }
      queue.append(event)
      if case .lost = event { return false }
      return true
    }
    thread = WorkerThread(name: "pip-x11-window") { [loop] in loop.run() }
    connection.flush()
  }

  deinit {
    loop.end()
    thread?.join()
    if !connection.isBroken {
      xcb_destroy_window(connection.pointer, id)
      connection.flush()
    }
  }

  private static func scale(_ settings: XSettings) -> Int {
    let forced = getenv("GDK_SCALE").flatMap { Int(String(cString: $0)) }
    return max(1, min(forced ?? settings.numbers["Gdk/WindowScalingFactor"] ?? 1, 8))
  }

  var isBroken: Bool { connection.isBroken }

  func flush() { connection.flush() }

  // MARK: - Properties

  /// What the window manager is to know of a window that is above all others, on every workspace, in no list of windows,
  /// without borders, and that takes no focus when it appears. Window managers forget some of it when a window is hidden.
  func describe(title: String, iconName: String, role: String) {
    let atoms = screen.atoms
    let (atom, cardinal) = (UInt32(XCB_ATOM_ATOM.rawValue), UInt32(XCB_ATOM_CARDINAL.rawValue))
    connection.set(screen.atoms[.name], of: id, to: title, type: screen.atoms[.utf8String])
    connection.set(UInt32(XCB_ATOM_WM_NAME.rawValue), of: id, to: title, type: screen.atoms[.utf8String])
    setIconName(iconName)
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
    connection.set(atoms[.windowType], of: id, to: [atoms[.windowTypeUtility]], type: atom)
    connection.set(
      atoms[.state], of: id,
      to: [.stateAbove, .stateSticky, .stateSkipTaskbar, .stateSkipPager].map { atoms[$0] }, type: atom)
    connection.set(atoms[.desktop], of: id, to: [.max], type: cardinal)
    connection.set(atoms[.userTime], of: id, to: [0], type: cardinal)
    // Flags: decorations; and none of them.
    connection.set(atoms[.motifHints], of: id, to: [2, 0, 0, 0, 0], type: atoms[.motifHints])
    // Flags: input and state; takes input, and is not minimised.
    let hints = UInt32(XCB_ATOM_WM_HINTS.rawValue)
    connection.set(hints, of: id, to: [3, 1, 1, 0, 0, 0, 0, 0, 0], type: hints)
    connection.flush()
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
  func setShape(minimum: PictureSize, aspectRatio: Double?) {
    // XSizeHints: flags, four numbers that count no more, least and greatest size, steps, least and greatest shape, the
    // base's size, gravity.
    var hints = [UInt32](repeating: 0, count: 18)
    // The program's place and size, the least size.
    hints[0] = 1 << 2 | 1 << 3 | 1 << 4
    hints[5] = UInt32(clamping: minimum.width * scale)
    hints[6] = UInt32(clamping: minimum.height * scale)
    if let aspectRatio {
      hints[0] |= 1 << 7
      // Fractions: the window's shape lies between them, so that no window manager takes a pixel for its sake.
      let numerator = aspectRatio * 65536
      let (least, greatest) = (Int(nearest: numerator.rounded(.down)), Int(nearest: numerator.rounded(.up)))
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
    configure([(XCB_CONFIG_WINDOW_X, x * scale), (XCB_CONFIG_WINDOW_Y, y * scale)])
  }

  func resize(to size: PictureSize) {
    configure([(XCB_CONFIG_WINDOW_WIDTH, size.width * scale), (XCB_CONFIG_WINDOW_HEIGHT, size.height * scale)])
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

  /// What panels leave free of its monitor, in units.
  var workArea: PictureRect {
    let area = screen.workArea(for: frameInPixels)
    return PictureRect(
      x: area.x / scale, y: area.y / scale, width: max(1, area.width / scale), height: max(1, area.height / scale))
  }
}
