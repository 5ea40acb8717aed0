// Windows (xdg-shell), and what belongs to them: their borders (xdg-decoration), their purpose (xdg-toplevel-tag), and
// how they are brought to the user (xdg-activation).

/// The edges of a window that the user drags.
struct ResizeEdge: WaylandFlags {
  let rawValue: UInt32
  static let top = ResizeEdge(rawValue: 1)
  static let bottom = ResizeEdge(rawValue: 2)
  static let left = ResizeEdge(rawValue: 4)
  static let right = ResizeEdge(rawValue: 8)

  /// Two edges that meet in a corner.
  static func corner(isTop: Bool, isLeft: Bool) -> ResizeEdge { [isTop ? .top : .bottom, isLeft ? .left : .right] }
}

enum XDGWMBase: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let createPositioner = WaylandCreation<XDGPositioner>("create_positioner")
    let getXDGSurface = WaylandCreation<XDGSurface, WaylandReference<WLSurface>>("get_xdg_surface")
    let pong = WaylandRequest<UInt32>("pong")
  }
  struct Events { let ping = WaylandEvent<UInt32>("ping") }
  static let table = WaylandTable("xdg_wm_base", version: 6, Requests(), Events())
}

/// Objects of this interface are never created. It is only the type of arguments.
enum XDGPositioner: WaylandInterface {
  struct Requests { let destroy = WaylandDestructor() }
  static let table = WaylandTable("xdg_positioner", version: 6, Requests())
}

/// Objects of this interface are never created. It is only the type of arguments.
enum XDGPopup: WaylandInterface {
  struct Requests { let destroy = WaylandDestructor() }
  static let table = WaylandTable("xdg_popup", version: 6, Requests())
}

enum XDGSurface: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getToplevel = WaylandCreation<XDGToplevel>("get_toplevel")
    let getPopup = WaylandCreation<XDGPopup, WaylandUnused?, WaylandReference<XDGPositioner>>("get_popup")
    /// X, y, width and height, in units.
    let setWindowGeometry = WaylandRequest<Int, Int, Int, Int>("set_window_geometry")
    let ackConfigure = WaylandRequest<UInt32>("ack_configure")
  }
  struct Events { let configure = WaylandEvent<UInt32>("configure") }
  static let table = WaylandTable("xdg_surface", version: 6, Requests(), Events())
}

enum XDGToplevel: WaylandInterface {
  /// A state of the window, of which the event `configure` has a list.
  enum State: UInt32 {
    case maximized = 1
    case fullscreen, resizing, activated, tiledLeft, tiledRight, tiledTop, tiledBottom, suspended

    static let tiled: Set<State> = [.tiledLeft, .tiledRight, .tiledTop, .tiledBottom]
  }
  struct Requests {
    let destroy = WaylandDestructor()
    let setParent = WaylandRequest<WaylandUnused?>("set_parent")
    let setTitle = WaylandRequest<String>("set_title")
    let setAppID = WaylandRequest<String>("set_app_id")
    /// The seat, the serial of the user's action, and the place in units.
    let showWindowMenu = WaylandRequest<WaylandReference<WLSeat>, UInt32, Int, Int>("show_window_menu")
    let move = WaylandRequest<WaylandReference<WLSeat>, UInt32>("move")
    let resize = WaylandRequest<WaylandReference<WLSeat>, UInt32, ResizeEdge>("resize")
    let setMaxSize = WaylandRequest<Int, Int>("set_max_size")
    let setMinSize = WaylandRequest<Int, Int>("set_min_size")
    let setMaximized = WaylandBareRequest("set_maximized")
    let unsetMaximized = WaylandBareRequest("unset_maximized")
    let setFullscreen = WaylandRequest<WaylandReference<WLOutput>?>("set_fullscreen")
    let unsetFullscreen = WaylandBareRequest("unset_fullscreen")
    let setMinimized = WaylandBareRequest("set_minimized")
  }
  struct Events {
    /// The size in units, which is 0 where the window chooses it, and the states.
    let configure = WaylandEvent<Int, Int, [UInt32]>("configure")
    let close = WaylandBareEvent("close")
    let configureBounds = WaylandEvent<Int, Int>("configure_bounds", since: 4)
    let wmCapabilities = WaylandEvent<[UInt32]>("wm_capabilities", since: 5)
  }
  static let table = WaylandTable("xdg_toplevel", version: 6, Requests(), Events())
}

// MARK: - Borders

enum ZXDGDecorationManager: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getToplevelDecoration = WaylandCreation<ZXDGToplevelDecoration, WaylandReference<XDGToplevel>>(
      "get_toplevel_decoration")
  }
  static let table = WaylandTable("zxdg_decoration_manager_v1", version: 1, Requests())
}

enum ZXDGToplevelDecoration: WaylandInterface {
  /// Who draws the border.
  struct Mode: WaylandChoice {
    let rawValue: UInt32
    static let clientSide = Mode(rawValue: 1)
    static let serverSide = Mode(rawValue: 2)
  }
  struct Requests {
    let destroy = WaylandDestructor()
    let setMode = WaylandRequest<Mode>("set_mode")
    let unsetMode = WaylandBareRequest("unset_mode")
  }
  struct Events { let configure = WaylandEvent<Mode>("configure") }
  static let table = WaylandTable("zxdg_toplevel_decoration_v1", version: 1, Requests(), Events())
}

// MARK: - The purpose of windows

enum XDGToplevelTagManager: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let setToplevelTag = WaylandRequest<WaylandReference<XDGToplevel>, String>("set_toplevel_tag")
    let setToplevelDescription = WaylandRequest<WaylandReference<XDGToplevel>, String>("set_toplevel_description")
  }
  static let table = WaylandTable("xdg_toplevel_tag_manager_v1", version: 1, Requests())
}

// MARK: - Activation

enum XDGActivation: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getActivationToken = WaylandCreation<XDGActivationToken>("get_activation_token")
    /// The token, and the window's surface.
    let activate = WaylandRequest<String, WaylandReference<WLSurface>>("activate")
  }
  static let table = WaylandTable("xdg_activation_v1", version: 1, Requests())
}

enum XDGActivationToken: WaylandInterface {
  struct Requests {
    let setSerial = WaylandRequest<UInt32, WaylandReference<WLSeat>>("set_serial")
    let setAppID = WaylandRequest<String>("set_app_id")
    let setSurface = WaylandRequest<WaylandReference<WLSurface>>("set_surface")
    let commit = WaylandBareRequest("commit")
    let destroy = WaylandDestructor()
  }
  struct Events { let done = WaylandEvent<String>("done") }
  static let table = WaylandTable("xdg_activation_token_v1", version: 1, Requests(), Events())
}

extension WaylandObject where Interface == XDGToplevel {
  /// Asks the compositor to show the window on the whole monitor, or in its own size again.
  func fillMonitor(_ isFullscreen: Bool) {
    if isFullscreen { self.setFullscreen(nil) } else { self.unsetFullscreen() }
  }
}
