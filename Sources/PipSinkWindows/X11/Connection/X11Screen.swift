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
  private let size: PictureSize

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
  func workArea(in monitor: PictureRect) -> PictureRect {
    // _NET_WORKAREA has four numbers for each desktop: x, y, width and height (EWMH).
    let areas = connection.numbers(atoms[.workArea], of: root).map { Int(Int32(bitPattern: $0)) }
    let desktop = Int(connection.numbers(atoms[.currentDesktop], of: root).first ?? 0)
    guard areas.count >= 4 * (desktop + 1) else { return monitor }
    let numbers = areas[4 * desktop..<4 * desktop + 4].map { $0 }
    let free = PictureRect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    return monitor.intersection(free) ?? monitor
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

  /// The desktop's settings (XSETTINGS). They are empty where no program provides them.
  var settings: XSettings {
    let manager = owner("_XSETTINGS_S\(number)")
    guard manager != 0, let bytes = connection.property(atoms[.settings], of: manager) else { return XSettings([]) }
    return XSettings(bytes)
  }

  private func owner(_ selection: String) -> UInt32 {
    let cookie = xcb_get_selection_owner(connection.pointer, connection.atom(selection))
    guard let reply = connection.answer(cookie.sequence, as: xcb_get_selection_owner_reply_t.self) else { return 0 }
    defer { free(reply) }
    return reply.pointee.owner
  }
}
