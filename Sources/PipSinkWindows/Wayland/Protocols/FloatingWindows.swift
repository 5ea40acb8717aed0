// Windows above all others: wlroots' layer-shell, and the experimental protocol for picture-in-picture (xx-pip).

enum ZWLRLayerShell: WaylandInterface {
  struct ShellLayer: WaylandChoice {
    let rawValue: UInt32
    static let overlay = ShellLayer(rawValue: 3)
  }
  struct Requests {
    /// The surface, its output, its layer, and its purpose.
    let getLayerSurface = WaylandCreation<
      ZWLRLayerSurface, WaylandReference<WLSurface>, WaylandReference<WLOutput>?, ShellLayer, String
    >("get_layer_surface")
    let destroy = WaylandDestructor(since: 3)
  }
  static let table = WaylandTable("zwlr_layer_shell_v1", version: 4, Requests())
}

enum ZWLRLayerSurface: WaylandInterface {
  struct Anchor: WaylandFlags {
    let rawValue: UInt32
    static let top = Anchor(rawValue: 1)
    static let bottom = Anchor(rawValue: 2)
    static let left = Anchor(rawValue: 4)
    static let right = Anchor(rawValue: 8)
  }
  struct KeyboardInteractivity: WaylandChoice {
    let rawValue: UInt32
    static let none = KeyboardInteractivity(rawValue: 0)
    static let exclusive = KeyboardInteractivity(rawValue: 1)
    /// Since version 4.
    static let onDemand = KeyboardInteractivity(rawValue: 2)
  }
  struct Requests {
    let setSize = WaylandRequest<UInt32, UInt32>("set_size")
    let setAnchor = WaylandRequest<Anchor>("set_anchor")
    let setExclusiveZone = WaylandRequest<Int>("set_exclusive_zone")
    /// Top, right, bottom and left, in units.
    let setMargin = WaylandRequest<Int, Int, Int, Int>("set_margin")
    let setKeyboardInteractivity = WaylandRequest<KeyboardInteractivity>("set_keyboard_interactivity")
    let getPopup = WaylandRequest<WaylandReference<XDGPopup>>("get_popup")
    let ackConfigure = WaylandRequest<UInt32>("ack_configure")
    let destroy = WaylandDestructor()
    let setLayer = WaylandRequest<ZWLRLayerShell.ShellLayer>("set_layer", since: 2)
  }
  struct Events {
    /// The serial, and the size in units.
    let configure = WaylandEvent<UInt32, UInt32, UInt32>("configure")
    let closed = WaylandBareEvent("closed")
  }
  static let table = WaylandTable("zwlr_layer_surface_v1", version: 4, Requests(), Events())
}

enum XXPipShell: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getPip = WaylandCreation<XXPip, WaylandReference<XDGSurface>>("get_pip")
  }
  static let table = WaylandTable("xx_pip_shell_v1", version: 1, Requests())
}

enum XXPip: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let setAppID = WaylandRequest<String>("set_app_id")
    let setOrigin = WaylandRequest<WaylandReference<WLSurface>>("set_origin")
    let setOriginRect = WaylandRequest<Int, Int, UInt32, UInt32>("set_origin_rect")
    let move = WaylandRequest<WaylandReference<WLSeat>, UInt32>("move")
    let resize = WaylandRequest<WaylandReference<WLSeat>, UInt32, ResizeEdge>("resize")
  }
  struct Events {
    let closed = WaylandBareEvent("closed")
    let configureBounds = WaylandEvent<Int, Int>("configure_bounds")
    let configureSize = WaylandEvent<Int, Int>("configure_size")
  }
  static let table = WaylandTable("xx_pip_v1", version: 1, Requests(), Events())
}
