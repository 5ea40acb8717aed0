// What surfaces, outputs and pointers have besides the core protocol: viewporter, fractional-scale, alpha-modifier,
// idle-inhibit, presentation-time, xdg-output, cursor-shape and relative-pointer.

enum WPViewporter: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getViewport = WaylandCreation<WPViewport, WaylandReference<WLSurface>>("get_viewport")
  }
  static let table = WaylandTable("wp_viewporter", version: 1, Requests())
}

enum WPViewport: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let setSource = WaylandRequest<Double, Double, Double, Double>("set_source")
    /// The size in units.
    let setDestination = WaylandRequest<Int, Int>("set_destination")
  }
  static let table = WaylandTable("wp_viewport", version: 1, Requests())
}

enum WPFractionalScaleManager: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getFractionalScale = WaylandCreation<WPFractionalScale, WaylandReference<WLSurface>>("get_fractional_scale")
  }
  static let table = WaylandTable("wp_fractional_scale_manager_v1", version: 1, Requests())
}

enum WPFractionalScale: WaylandInterface {
  struct Requests { let destroy = WaylandDestructor() }
  struct Events {
    /// The scale in parts of 120.
    let preferredScale = WaylandEvent<UInt32>("preferred_scale")
  }
  static let table = WaylandTable("wp_fractional_scale_v1", version: 1, Requests(), Events())

  /// Returns a closure that sets the handler of the event.
  ///
  /// - Parameter changed: called with the number of pixels in a unit.
  static func handlers(_ changed: @escaping @Sendable (Double) -> Void) -> (WaylandHandlers<WPFractionalScale>) -> Void
  {
    { events in events.preferredScale { changed(Double($0) / 120) } }
  }
}

enum WPAlphaModifier: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getSurface = WaylandCreation<WPAlphaModifierSurface, WaylandReference<WLSurface>>("get_surface")
  }
  static let table = WaylandTable("wp_alpha_modifier_v1", version: 1, Requests())
}

enum WPAlphaModifierSurface: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    /// The opacity, from 0 to `UInt32.max`.
    let setMultiplier = WaylandRequest<UInt32>("set_multiplier")
  }
  static let table = WaylandTable("wp_alpha_modifier_surface_v1", version: 1, Requests())
}

enum ZWPIdleInhibitManager: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let createInhibitor = WaylandCreation<ZWPIdleInhibitor, WaylandReference<WLSurface>>("create_inhibitor")
  }
  static let table = WaylandTable("zwp_idle_inhibit_manager_v1", version: 1, Requests())
}

enum ZWPIdleInhibitor: WaylandInterface {
  struct Requests { let destroy = WaylandDestructor() }
  static let table = WaylandTable("zwp_idle_inhibitor_v1", version: 1, Requests())
}

enum WPPresentation: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let feedback = WaylandCreation<WPPresentationFeedback, WaylandReference<WLSurface>>("feedback", newObject: .last)
  }
  struct Events {
    /// The number of a clock of the system.
    let clockID = WaylandEvent<UInt32>("clock_id")
  }
  static let table = WaylandTable("wp_presentation", version: 1, Requests(), Events())
}

enum WPPresentationFeedback: WaylandInterface {
  struct Requests {}
  struct Events {
    let syncOutput = WaylandEvent<WaylandReference<WLOutput>?>("sync_output")
    /// The time in seconds (their upper and their lower half) and nanoseconds, the time to the next refresh in
    /// nanoseconds, the number of the refresh (its upper and its lower half), and how the time is known.
    let presented = WaylandEvent<UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32>("presented")
    let discarded = WaylandBareEvent("discarded")
  }
  static let table = WaylandTable("wp_presentation_feedback", version: 1, Requests(), Events())
}

// MARK: - Outputs

enum ZXDGOutputManager: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getXDGOutput = WaylandCreation<ZXDGOutput, WaylandReference<WLOutput>>("get_xdg_output")
  }
  static let table = WaylandTable("zxdg_output_manager_v1", version: 3, Requests())
}

enum ZXDGOutput: WaylandInterface {
  struct Requests { let destroy = WaylandDestructor() }
  struct Events {
    let logicalPosition = WaylandEvent<Int, Int>("logical_position")
    let logicalSize = WaylandEvent<Int, Int>("logical_size")
    let done = WaylandBareEvent("done")
    let name = WaylandEvent<String>("name", since: 2)
    let description = WaylandEvent<String>("description", since: 2)
  }
  static let table = WaylandTable("zxdg_output_v1", version: 3, Requests(), Events())
}

// MARK: - Pointers

enum WPCursorShapeManager: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getPointer = WaylandCreation<WPCursorShapeDevice, WaylandReference<WLPointer>>("get_pointer")
    let getTabletTool = WaylandCreation<WPCursorShapeDevice, WaylandUnused>("get_tablet_tool_v2")
  }
  static let table = WaylandTable("wp_cursor_shape_manager_v1", version: 1, Requests())
}

enum WPCursorShapeDevice: WaylandInterface {
  struct Shape: WaylandChoice {
    let rawValue: UInt32
    static let `default` = Shape(rawValue: 1)
    static let neswResize = Shape(rawValue: 28)
    static let nwseResize = Shape(rawValue: 29)
  }
  struct Requests {
    let destroy = WaylandDestructor()
    /// The serial of the event `enter`, and the shape.
    let setShape = WaylandRequest<UInt32, Shape>("set_shape")
  }
  static let table = WaylandTable("wp_cursor_shape_device_v1", version: 1, Requests())
}

enum ZWPRelativePointerManager: WaylandInterface {
  struct Requests {
    let destroy = WaylandDestructor()
    let getRelativePointer = WaylandCreation<ZWPRelativePointer, WaylandReference<WLPointer>>("get_relative_pointer")
  }
  static let table = WaylandTable("zwp_relative_pointer_manager_v1", version: 1, Requests())
}

enum ZWPRelativePointer: WaylandInterface {
  struct Requests { let destroy = WaylandDestructor() }
  struct Events {
    /// The time in microseconds (its upper and its lower half), the movement in units, and the movement without
    /// acceleration.
    let relativeMotion = WaylandEvent<UInt32, UInt32, Double, Double, Double, Double>("relative_motion")
  }
  static let table = WaylandTable("zwp_relative_pointer_v1", version: 1, Requests(), Events())
}
