// Pictures in memory that devices share: linux-dmabuf, and how their values become colours: color-representation.

enum ZWPLinuxDMABuf: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let createParams = WaylandCreation<ZWPLinuxBufferParams>("create_params")
  }
  struct Events {
    /// The DRM code of a format.
    let format = WaylandEvent<UInt32>("format")
    /// The DRM code of a format, and a modifier for it (its upper and its lower half). Version 4 has tables instead.
    let modifier = WaylandEvent<UInt32, UInt32, UInt32>("modifier", since: 3)
  }
  static let table = WaylandTable("zwp_linux_dmabuf_v1", version: 3, Requests(), Events())
}

enum ZWPLinuxBufferParams: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    /// The DMABuf, the number of the plane, its offset and stride in bytes, and the modifier (its upper and its lower
    /// half).
    let add = WaylandRequest<WaylandDescriptor, UInt32, UInt32, UInt32, UInt32, UInt32>("add")
    /// The size in pixels, the DRM code of the format, and flags.
    let create = WaylandRequest<Int, Int, UInt32, UInt32>("create")
  }
  struct Events {
    let created = WaylandEvent<WaylandNew<WLBuffer>>("created")
    let failed = WaylandBareEvent("failed")
  }
  static let table = WaylandTable("zwp_linux_buffer_params_v1", version: 3, Requests(), Events())
}

enum WPColorRepresentationManager: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getSurface = WaylandCreation<WPColorRepresentationSurface, WaylandReference<WLSurface>>("get_surface")
  }
  struct Events {
    let supportedAlphaMode = WaylandEvent<UInt32>("supported_alpha_mode")
    let supportedCoefficientsAndRanges = WaylandEvent<
      WPColorRepresentationSurface.Coefficients, WPColorRepresentationSurface.Range
    >("supported_coefficients_and_ranges")
    let done = WaylandBareEvent("done")
  }
  static let table = WaylandTable("wp_color_representation_manager_v1", version: 1, Requests(), Events())
}

enum WPColorRepresentationSurface: WaylandInterface {
  struct Coefficients: WaylandChoice, Hashable {
    let rawValue: UInt32
    static let bt709 = Coefficients(rawValue: 2)
    static let bt601 = Coefficients(rawValue: 4)
    static let bt2020 = Coefficients(rawValue: 6)
  }
  struct Range: WaylandChoice, Hashable {
    let rawValue: UInt32
    static let full = Range(rawValue: 1)
    static let limited = Range(rawValue: 2)
  }
  struct Requests {
    let destroy = WaylandDestructor()
    let setAlphaMode = WaylandRequest<UInt32>("set_alpha_mode")
    let setCoefficientsAndRange = WaylandRequest<Coefficients, Range>("set_coefficients_and_range")
  }
  static let table = WaylandTable("wp_color_representation_surface_v1", version: 1, Requests())
}
