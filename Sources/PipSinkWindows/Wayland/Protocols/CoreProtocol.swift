import CWindows

// The core protocol (wayland.xml), of which libwayland has its own description.

enum WLDisplay: WaylandInterface {
  struct Requests {
    let sync = WaylandCreation<WLCallback>("sync")
    let getRegistry = WaylandCreation<WLRegistry>("get_registry")
  }
  static let table = WaylandTable(pipsink_wl_display(), Requests())
}

enum WLRegistry: WaylandInterface {
  struct Requests { let bind = WaylandBinding() }
  struct Events {
    /// The object's number, its interface, and the interface's version.
    let global = WaylandEvent<UInt32, String, UInt32>("global")
    let globalRemove = WaylandEvent<UInt32>("global_remove")
  }
  static let table = WaylandTable(pipsink_wl_registry(), Requests(), Events())
}

enum WLCallback: WaylandInterface {
  struct Requests {}
  struct Events { let done = WaylandEvent<UInt32>("done") }
  static let table = WaylandTable(pipsink_wl_callback(), Requests(), Events())
}

enum WLCompositor: WaylandInterface {
  struct Requests {
    let createSurface = WaylandCreation<WLSurface>("create_surface")
    let createRegion = WaylandCreation<WLRegion>("create_region")
  }
  static let table = WaylandTable(pipsink_wl_compositor(), Requests())
}

enum WLRegion: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    /// X, y, width and height.
    let add = WaylandRequest<Int, Int, Int, Int>("add")
  }
  static let table = WaylandTable(pipsink_wl_region(), Requests())
}

enum WLSurface: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    /// The buffer, or nil for none, and its place relative to the last one's, which is always 0.
    let attach = WaylandRequest<WaylandReference<WLBuffer>?, Int, Int>("attach")
    /// X, y, width and height, in units.
    let damage = WaylandRequest<Int, Int, Int, Int>("damage")
    let frame = WaylandCreation<WLCallback>("frame")
    let setOpaqueRegion = WaylandRequest<WaylandReference<WLRegion>?>("set_opaque_region")
    let setInputRegion = WaylandRequest<WaylandReference<WLRegion>?>("set_input_region")
    let commit = WaylandBareRequest("commit")
    let setBufferTransform = WaylandRequest<Int>("set_buffer_transform", since: 2)
    let setBufferScale = WaylandRequest<Int>("set_buffer_scale", since: 3)
  }
  struct Events {
    let enter = WaylandEvent<WaylandReference<WLOutput>?>("enter")
    let leave = WaylandEvent<WaylandReference<WLOutput>?>("leave")
  }
  static let table = WaylandTable(pipsink_wl_surface(), Requests(), Events())

  /// Returns a closure that sets the handlers of a surface's events.
  ///
  /// - Parameter changed: called when the surface has appeared on an output, or has left it; nil for no handlers.
  static func handlers(
    _ changed: (@Sendable (_ output: WaylandReference<WLOutput>, _ isOn: Bool) -> Void)?
  ) -> (WaylandHandlers<WLSurface>) -> Void {
    { events in
      guard let changed else { return }
      events.enter { output in if let output { changed(output, true) } }
      events.leave { output in if let output { changed(output, false) } }
    }
  }
}

extension WaylandReference<WLSurface> {
  /// Makes the compositor show the surface's new state.
  func commit() { WLSurface.table.requests.commit.send(to: pointer) }
}

enum WLSubcompositor: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    /// The surface, and its parent.
    let getSubsurface = WaylandCreation<WLSubsurface, WaylandReference<WLSurface>, WaylandReference<WLSurface>>(
      "get_subsurface")
  }
  static let table = WaylandTable(pipsink_wl_subcompositor(), Requests())
}

enum WLSubsurface: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let setPosition = WaylandRequest<Int, Int>("set_position")
    let placeAbove = WaylandRequest<WaylandReference<WLSurface>>("place_above")
    let placeBelow = WaylandRequest<WaylandReference<WLSurface>>("place_below")
    let setSync = WaylandBareRequest("set_sync")
    let setDesync = WaylandBareRequest("set_desync")
  }
  static let table = WaylandTable(pipsink_wl_subsurface(), Requests())
}

// MARK: - Shared memory

enum WLShm: WaylandInterface {
  struct Format: WaylandChoice {
    let rawValue: UInt32
    static let argb8888 = Format(rawValue: 0)
    static let xrgb8888 = Format(rawValue: 1)
  }
  struct Requests {
    /// The memory, and its size in bytes.
    let createPool = WaylandCreation<WLShmPool, WaylandDescriptor, Int>("create_pool")
  }
  static let table = WaylandTable(pipsink_wl_shm(), Requests())
}

enum WLShmPool: WaylandInterface {
  struct Requests {
    /// The offset of the first byte, the width, the height and the stride.
    let createBuffer = WaylandCreation<WLBuffer, Int, Int, Int, Int, WLShm.Format>("create_buffer")
    let destroy = WaylandDestructor()
  }
  static let table = WaylandTable(pipsink_wl_shm_pool(), Requests())
}

enum WLBuffer: WaylandInterface {
  struct Requests { let destroy = WaylandDestructor() }
  struct Events { let release = WaylandBareEvent("release") }
  static let table = WaylandTable(pipsink_wl_buffer(), Requests(), Events())
}

// MARK: - Outputs

enum WLOutput: WaylandInterface {
  struct Mode: WaylandFlags {
    let rawValue: UInt32
    static let current = Mode(rawValue: 1)
  }
  struct Requests { let release = WaylandDestructor("release", since: 3) }
  struct Events {
    /// The position, the size in millimetres, the order of subpixels, the maker, the model, and the transform.
    let geometry = WaylandEvent<Int, Int, Int, Int, Int, String, String, Int>("geometry")
    /// The flags, the size in pixels, and the refresh rate in thousandths of a hertz.
    let mode = WaylandEvent<Mode, Int, Int, Int>("mode")
    let done = WaylandBareEvent("done", since: 2)
    let scale = WaylandEvent<Int>("scale", since: 2)
    let name = WaylandEvent<String>("name", since: 4)
    let description = WaylandEvent<String>("description", since: 4)
  }
  static let table = WaylandTable(pipsink_wl_output(), version: 4, Requests(), Events())
}

// MARK: - Input

enum WLSeat: WaylandInterface {
  struct Capability: WaylandFlags {
    let rawValue: UInt32
    static let pointer = Capability(rawValue: 1)
    static let keyboard = Capability(rawValue: 2)
    static let touch = Capability(rawValue: 4)
  }
  struct Requests {
    let getPointer = WaylandCreation<WLPointer>("get_pointer")
    let getKeyboard = WaylandCreation<WLKeyboard>("get_keyboard")
    let getTouch = WaylandCreation<WLTouch>("get_touch")
    let release = WaylandDestructor("release", since: 5)
  }
  struct Events {
    let capabilities = WaylandEvent<Capability>("capabilities")
    let name = WaylandEvent<String>("name", since: 2)
  }
  static let table = WaylandTable(pipsink_wl_seat(), version: 8, Requests(), Events())
}

/// Whether a button or a key is held.
struct WLButtonState: WaylandChoice {
  let rawValue: UInt32
  static let pressed = WLButtonState(rawValue: 1)
}

enum WLPointer: WaylandInterface {
  struct Axis: WaylandChoice {
    let rawValue: UInt32
    static let vertical = Axis(rawValue: 0)
  }
  struct Requests {
    /// The serial of the event `enter`, the image, and its hot spot in units.
    let setCursor = WaylandRequest<UInt32, WaylandReference<WLSurface>?, Int, Int>("set_cursor")
    let release = WaylandDestructor("release", since: 3)
  }
  struct Events {
    /// The serial, the surface, and the place in it.
    let enter = WaylandEvent<UInt32, WaylandReference<WLSurface>?, Double, Double>("enter")
    let leave = WaylandEvent<UInt32, WaylandReference<WLSurface>?>("leave")
    /// The time in milliseconds, and the place in the surface.
    let motion = WaylandEvent<UInt32, Double, Double>("motion")
    /// The serial, the time in milliseconds, Linux's code of the button, and its state.
    let button = WaylandEvent<UInt32, UInt32, UInt32, WLButtonState>("button")
    /// The time in milliseconds, the axis, and the distance in units.
    let axis = WaylandEvent<UInt32, Axis, Double>("axis")
    let frame = WaylandBareEvent("frame", since: 5)
    let axisSource = WaylandEvent<UInt32>("axis_source", since: 5)
    let axisStop = WaylandEvent<UInt32, Axis>("axis_stop", since: 5)
    /// The axis, and the steps of the wheel.
    let axisDiscrete = WaylandEvent<Axis, Int>("axis_discrete", since: 5)
    /// The axis, and the steps of the wheel in parts of 120.
    let axisValue120 = WaylandEvent<Axis, Int>("axis_value120", since: 8)
  }
  static let table = WaylandTable(pipsink_wl_pointer(), Requests(), Events())
}

enum WLKeyboard: WaylandInterface {
  struct KeymapFormat: WaylandChoice {
    let rawValue: UInt32
    static let xkbV1 = KeymapFormat(rawValue: 1)
  }
  struct Requests { let release = WaylandDestructor("release", since: 3) }
  struct Events {
    /// The format, the file, and its size in bytes.
    let keymap = WaylandEvent<KeymapFormat, WaylandDescriptor, UInt32>("keymap")
    /// The serial, the surface, and the keys that are held.
    let enter = WaylandEvent<UInt32, WaylandReference<WLSurface>?, [UInt32]>("enter")
    let leave = WaylandEvent<UInt32, WaylandReference<WLSurface>?>("leave")
    /// The serial, the time in milliseconds, Linux's code of the key, and its state.
    let key = WaylandEvent<UInt32, UInt32, UInt32, WLButtonState>("key")
    /// The serial, the modifiers that are held, latched and locked, and the number of the layout.
    let modifiers = WaylandEvent<UInt32, UInt32, UInt32, UInt32, UInt32>("modifiers")
    /// The repetitions in a second, and the time before the first one in milliseconds.
    let repeatInfo = WaylandEvent<Int, Int>("repeat_info", since: 4)
  }
  static let table = WaylandTable(pipsink_wl_keyboard(), Requests(), Events())
}

enum WLTouch: WaylandInterface {
  struct Requests { let release = WaylandDestructor("release", since: 3) }
  struct Events {
    /// The serial, the time in milliseconds, the surface, the finger, and its place in the surface.
    let down = WaylandEvent<UInt32, UInt32, WaylandReference<WLSurface>?, Int, Double, Double>("down")
    /// The serial, the time in milliseconds, and the finger.
    let up = WaylandEvent<UInt32, UInt32, Int>("up")
    /// The time in milliseconds, the finger, and its place in the surface.
    let motion = WaylandEvent<UInt32, Int, Double, Double>("motion")
    let frame = WaylandBareEvent("frame")
    let cancel = WaylandBareEvent("cancel")
  }
  static let table = WaylandTable(pipsink_wl_touch(), Requests(), Events())
}
