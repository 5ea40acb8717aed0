import CWindows

/// The atoms of an X server: the numbers of the names that windows and window managers agree on (ICCCM, EWMH,
/// XSETTINGS, Startup Notification).
struct X11Atoms: Sendable {
  enum Name: String, CaseIterable {
    case utf8String = "UTF8_STRING"
    case wmProtocols = "WM_PROTOCOLS"
    case wmDeleteWindow = "WM_DELETE_WINDOW"
    case wmRole = "WM_WINDOW_ROLE"
    case wmState = "WM_STATE"
    case motifHints = "_MOTIF_WM_HINTS"
    case name = "_NET_WM_NAME"
    case iconName = "_NET_WM_ICON_NAME"
    case pid = "_NET_WM_PID"
    case ping = "_NET_WM_PING"
    case state = "_NET_WM_STATE"
    case stateAbove = "_NET_WM_STATE_ABOVE"
    case stateHidden = "_NET_WM_STATE_HIDDEN"
    case stateSticky = "_NET_WM_STATE_STICKY"
    case stateFullscreen = "_NET_WM_STATE_FULLSCREEN"
    case allowedActions = "_NET_WM_ALLOWED_ACTIONS"
    case actionFullscreen = "_NET_WM_ACTION_FULLSCREEN"
    case stateSkipTaskbar = "_NET_WM_STATE_SKIP_TASKBAR"
    case stateSkipPager = "_NET_WM_STATE_SKIP_PAGER"
    case windowType = "_NET_WM_WINDOW_TYPE"
    case windowTypeUtility = "_NET_WM_WINDOW_TYPE_UTILITY"
    case windowTypeNormal = "_NET_WM_WINDOW_TYPE_NORMAL"
    case activeWindow = "_NET_ACTIVE_WINDOW"
    case desktop = "_NET_WM_DESKTOP"
    case userTime = "_NET_WM_USER_TIME"
    case opacity = "_NET_WM_WINDOW_OPACITY"
    case workArea = "_NET_WORKAREA"
    case clientList = "_NET_CLIENT_LIST"
    case strut = "_NET_WM_STRUT_PARTIAL"
    case oldStrut = "_NET_WM_STRUT"
    case currentDesktop = "_NET_CURRENT_DESKTOP"
    case supported = "_NET_SUPPORTED"
    case supportingCheck = "_NET_SUPPORTING_WM_CHECK"
    case showingDesktop = "_NET_SHOWING_DESKTOP"
    case manager = "MANAGER"
    case settings = "_XSETTINGS_SETTINGS"
    case startupInfoBegin = "_NET_STARTUP_INFO_BEGIN"
    case startupInfo = "_NET_STARTUP_INFO"
  }

  private let values: [Name: UInt32]

  /// Asks the server for all atoms, and waits for it only once.
  init(_ connection: X11Connection) {
    let asked = Name.allCases.map { name in
      (name, xcb_intern_atom(connection.pointer, 0, UInt16(name.rawValue.utf8.count), name.rawValue))
    }
    var values: [Name: UInt32] = [:]
    for (name, cookie) in asked {
      guard let reply = connection.answer(cookie.sequence, as: xcb_intern_atom_reply_t.self) else { continue }
      values[name] = reply.pointee.atom
      free(reply)
    }
    self.values = values
  }

  /// The number of a name. It is 0, which is no atom, when the server has gone.
  subscript(_ name: Name) -> UInt32 { values[name] ?? 0 }
}

extension X11Connection {
  /// Returns the number of a name, or 0 when the server has gone. It waits for the server.
  func atom(_ name: String) -> UInt32 {
    let cookie = xcb_intern_atom(pointer, 0, UInt16(name.utf8.count), name)
    guard let reply = answer(cookie.sequence, as: xcb_intern_atom_reply_t.self) else { return 0 }
    defer { free(reply) }
    return reply.pointee.atom
  }

  /// Returns the bytes of a window's property, or nil where the window has no such property. It waits for the server.
  func property(_ atom: UInt32, of window: UInt32) -> [UInt8]? {
    // The limit counts four bytes each, and is larger than any property that is read here.
    let cookie = xcb_get_property(pointer, 0, window, atom, UInt32(XCB_GET_PROPERTY_TYPE_ANY.rawValue), 0, 1 << 20)
    guard let reply = answer(cookie.sequence, as: xcb_get_property_reply_t.self) else { return nil }
    defer { free(reply) }
    guard reply.pointee.type != 0, let value = xcb_get_property_value(reply) else { return nil }
    return [UInt8](UnsafeRawBufferPointer(start: value, count: Int(xcb_get_property_value_length(reply))))
  }

  /// Returns the 32-bit numbers of a window's property. It is empty where the window has no such property. It waits for
  /// the server.
  func numbers(_ atom: UInt32, of window: UInt32) -> [UInt32] {
    (property(atom, of: window) ?? []).withUnsafeBytes { bytes in
      (0..<bytes.count / 4).map { bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
    }
  }

  /// Sets a window's property to 32-bit numbers.
  func set(_ atom: UInt32, of window: UInt32, to numbers: [UInt32], type: UInt32) {
    xcb_change_property(
      pointer, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, atom, type, 32, UInt32(numbers.count), numbers)
  }

  /// Sets a window's property to a text.
  func set(_ atom: UInt32, of window: UInt32, to text: String, type: UInt32) {
    let bytes = Array(text.utf8)
    xcb_change_property(
      pointer, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, atom, type, 8, UInt32(bytes.count), bytes)
  }
}
