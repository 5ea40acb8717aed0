import CWindows
import Glibc
import PipSink

/// An X server's screen: its monitors and their work areas, its window manager, and the desktop's settings. Its
/// properties ask the server and wait for the answer.
struct X11Screen: Sendable {
  let connection: X11Connection
  let atoms: X11Atoms
  let root: UInt32
  let number: Int32
  let size: PictureSize

  /// - Parameters:
  ///   - connection: the connection to the server.
  ///   - number: the screen's number, for instance ``X11Connection/screenNumber``.
  /// - Returns: nil when the server has gone.
  init?(_ connection: X11Connection, number: Int32) {
    guard let setup = xcb_get_setup(connection.pointer) else { return nil }
    var screens = xcb_setup_roots_iterator(setup)
    for _ in 0..<number where screens.rem > 1 { xcb_screen_next(&screens) }
    guard let screen = screens.data?.pointee else { return nil }
    self.connection = connection
    self.number = number
    atoms = X11Atoms(connection)
    root = screen.root
    size = PictureSize(width: Int(screen.width_in_pixels), height: Int(screen.height_in_pixels))
  }

  /// The monitors with their areas in pixels, the primary one first (RandR 1.5). Where the server does not know
  /// monitors, the whole screen is one.
  var monitors: [WindowMonitor] {
    let whole = [
      WindowMonitor(name: "screen", area: PictureRect(x: 0, y: 0, width: size.width, height: size.height))
    ]
    guard connection.monitorEventBase != nil,
      let reply = connection.answer(
        xcb_randr_get_monitors(connection.pointer, root, 1).sequence, as: xcb_randr_get_monitors_reply_t.self)
    else { return whole }
    defer { free(reply) }
    var monitors: [(isPrimary: Bool, name: UInt32, area: PictureRect)] = []
    var iterator = xcb_randr_get_monitors_monitors_iterator(reply)
    while iterator.rem > 0, let monitor = iterator.data?.pointee {
      let area = PictureRect(
        x: Int(monitor.x), y: Int(monitor.y), width: Int(monitor.width), height: Int(monitor.height))
      if area.width > 0, area.height > 0 { monitors.append((monitor.primary != 0, monitor.name, area)) }
      xcb_randr_monitor_info_next(&iterator)
    }
    guard !monitors.isEmpty else { return whole }
    return (monitors.filter(\.isPrimary) + monitors.filter { !$0.isPrimary }).map { monitor in
      WindowMonitor(name: connection.name(ofAtom: monitor.name), area: monitor.area)
    }
  }

  /// Returns the part of a monitor that panels leave free, in pixels.
  ///
  /// - Parameters:
  ///   - monitor: the monitor's area.
  ///   - isAlone: whether it is the only monitor.
  func workArea(in monitor: PictureRect, isAlone: Bool) -> PictureRect {
    let desktop = Int(connection.numbers(atoms[.currentDesktop], of: root).first ?? 0)
    // mutter tells the work area of each monitor, from panels that are no windows of the X server.
    let areas = rectangles(connection.atom("_GTK_WORKAREAS_D\(desktop)"))
    if let own = areas.first(where: { monitor.intersection($0) == $0 }) { return own }
    let panels = panels
    let free = panels.reduce(monitor) { $1.free(of: $0, on: monitor) }
    // _NET_WORKAREA has a rectangle for each desktop (EWMH), but it is the same for all monitors: a panel of one takes
    // its room from all, or from none.
    let all = rectangles(atoms[.workArea])
    guard isAlone || panels.isEmpty, all.indices.contains(desktop) else { return free }
    return free.intersection(all[desktop]) ?? free
  }

  /// Returns the rectangles in a property of the root window: x, y, width and height of each.
  private func rectangles(_ atom: UInt32) -> [PictureRect] {
    let numbers = connection.numbers(atom, of: root).map { Int(Int32(bitPattern: $0)) }
    return stride(from: 0, to: numbers.count - 3, by: 4).map {
      PictureRect(x: numbers[$0], y: numbers[$0 + 1], width: numbers[$0 + 2], height: numbers[$0 + 3])
    }
  }

  /// Whether a compositing manager runs, which can show half-transparent windows. It owns the selection `_NET_WM_CM_Sn`
  /// (EWMH).
  var isComposited: Bool { owner("_NET_WM_CM_S\(number)") != 0 }

  /// The window manager's name, or nil where none runs or it does not tell its name (EWMH).
  var windowManagerName: String? {
    guard let window = connection.numbers(atoms[.supportingCheck], of: root).first, window != 0,
      let name = connection.property(atoms[.name], of: window)
    else { return nil }
    return String(decoding: name, as: UTF8.self)
  }

  /// Whether the window manager lists a feature in `_NET_SUPPORTED` (EWMH).
  func supports(_ name: X11Atoms.Name) -> Bool {
    connection.numbers(atoms[.supported], of: root).contains(atoms[name])
  }

  /// The number of pixels in a unit: what GDK_SCALE forces, or what the desktop's settings say (XSETTINGS), or else the
  /// resolution of texts (`Xft.dpi` in the root window's resources), of which 96 is the usual one.
  func scale(_ settings: XSettings) -> Int {
    let forced = getenv("GDK_SCALE").flatMap { Int(String(cString: $0)) }
    let resources = String(
      decoding: connection.property(UInt32(XCB_ATOM_RESOURCE_MANAGER.rawValue), of: root) ?? [], as: UTF8.self)
    let line = resources.split(separator: "\n").last { $0.hasPrefix("Xft.dpi:") }
    let resolution = (line?.dropFirst(8)).flatMap { Double($0.filter { !$0.isWhitespace }) }
    // Half a unit more than a whole number is not rounded up: the window would cover too much.
    let rounded = resolution.map { Int(clamping: Int64(max(0, min($0, 960)) / 96 + 0.49)) }
    return max(1, min(forced ?? settings.numbers["Gdk/WindowScalingFactor"] ?? rounded ?? 1, 8))
  }

  /// The desktop's settings (XSETTINGS). They are empty where no program provides them. From now on, the connection gets
  /// the events of the window that has them.
  func watchSettings() -> (owner: UInt32, settings: XSettings) {
    let owner = owner("_XSETTINGS_S\(number)")
    guard owner != 0 else { return (0, XSettings([])) }
    var mask = UInt32(XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue | XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue)
    xcb_change_window_attributes(connection.pointer, owner, UInt32(XCB_CW_EVENT_MASK.rawValue), &mask)
    return (owner, XSettings(connection.property(atoms[.settings], of: owner) ?? []))
  }

  /// Sends a message to the window manager, through the root window (EWMH).
  func send(_ message: X11Atoms.Name, about window: UInt32, _ values: (UInt32, UInt32, UInt32, UInt32, UInt32)) {
    var event = xcb_client_message_event_t()
    event.response_type = UInt8(XCB_CLIENT_MESSAGE)
    event.format = 32
    event.window = window
    event.type = atoms[message]
    event.data.data32 = values
    sendToRoot(event)
    connection.flush()
  }

  /// Sends an event of at most 32 bytes to the root window, from where the window manager and the desktop read it.
  ///
  /// - Parameters:
  ///   - event: a structure of XCB.
  ///   - mask: which clients get the event; by default the window manager.
  func sendToRoot<Event>(
    _ event: Event,
    mask: UInt32 = UInt32(
      XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue)
  ) {
    // XCB reads 32 bytes, whatever the event.
    var bytes = [CChar](repeating: 0, count: 32)
    bytes.withUnsafeMutableBytes { bytes in withUnsafeBytes(of: event) { bytes.copyMemory(from: $0) } }
    xcb_send_event(connection.pointer, 0, root, mask, bytes)
  }

  private func owner(_ selection: String) -> UInt32 {
    let cookie = xcb_get_selection_owner(connection.pointer, connection.atom(selection))
    guard let reply = connection.answer(cookie.sequence, as: xcb_get_selection_owner_reply_t.self) else { return 0 }
    defer { free(reply) }
    return reply.pointee.owner
  }
}
