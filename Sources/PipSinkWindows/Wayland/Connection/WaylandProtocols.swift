/// The protocols that windows use besides the core protocol, in the versions that are used here. The position of a
/// request or event in these lists is its number.
extension WaylandInterface {
  // MARK: - xdg-shell

  /// Objects of this interface are never created. It is only needed as the type of an argument.
  private static let positioner = WaylandInterface("xdg_positioner", version: 6, requests: [Message("destroy")])
  private static let popup = WaylandInterface("xdg_popup", version: 6, requests: [Message("destroy")])

  static let toplevel = WaylandInterface(
    "xdg_toplevel", version: 6,
    requests: [
      // The argument of set_parent is a toplevel, whose interface is only being created here. No parent is ever set.
      Message("destroy"), Message("set_parent", "?o"), Message("set_title", "s"), Message("set_app_id", "s"),
      Message("show_window_menu", "ouii", [seat, nil, nil, nil]), Message("move", "ou", [seat, nil]),
      Message("resize", "ouu", [seat, nil, nil]), Message("set_max_size", "ii"), Message("set_min_size", "ii"),
      Message("set_maximized"), Message("unset_maximized"), Message("set_fullscreen", "?o", [output]),
      Message("unset_fullscreen"), Message("set_minimized"),
    ],
    events: [
      Message("configure", "iia"), Message("close"), Message("configure_bounds", "4ii"),
      Message("wm_capabilities", "5a"),
    ])

  static let xdgSurface = WaylandInterface(
    "xdg_surface", version: 6,
    requests: [
      Message("destroy"), Message("get_toplevel", "n", [toplevel]),
      Message("get_popup", "n?oo", [popup, nil, positioner]),
      Message("set_window_geometry", "iiii"), Message("ack_configure", "u"),
    ], events: [Message("configure", "u")])

  static let shell = WaylandInterface(
    "xdg_wm_base", version: 6,
    requests: [
      Message("destroy"), Message("create_positioner", "n", [positioner]),
      Message("get_xdg_surface", "no", [xdgSurface, surface]), Message("pong", "u"),
    ], events: [Message("ping", "u")])

  // MARK: - Other roles of windows, and decorations

  static let layerSurface = WaylandInterface(
    "zwlr_layer_surface_v1", version: 4,
    requests: [
      Message("set_size", "uu"), Message("set_anchor", "u"), Message("set_exclusive_zone", "i"),
      Message("set_margin", "iiii"), Message("set_keyboard_interactivity", "u"), Message("get_popup", "o", [popup]),
      Message("ack_configure", "u"), Message("destroy"), Message("set_layer", "2u"),
    ], events: [Message("configure", "uuu"), Message("closed")])

  static let layerShell = WaylandInterface(
    "zwlr_layer_shell_v1", version: 4,
    requests: [
      Message("get_layer_surface", "no?ous", [layerSurface, surface, output, nil, nil]), Message("destroy", "3"),
    ])

  static let pip = WaylandInterface(
    "xx_pip_v1", version: 1,
    requests: [
      Message("destroy"), Message("set_app_id", "s"), Message("set_origin", "o", [surface]),
      Message("set_origin_rect", "iiuu"), Message("move", "ou", [seat, nil]),
      Message("resize", "ouu", [seat, nil, nil]),
    ], events: [Message("closed"), Message("configure_bounds", "ii"), Message("configure_size", "ii")])

  static let pipShell = WaylandInterface(
    "xx_pip_shell_v1", version: 1,
    requests: [Message("destroy"), Message("get_pip", "no", [pip, xdgSurface])])

  static let decoration = WaylandInterface(
    "zxdg_toplevel_decoration_v1", version: 1,
    requests: [Message("destroy"), Message("set_mode", "u"), Message("unset_mode")], events: [Message("configure", "u")]
  )

  static let decorationManager = WaylandInterface(
    "zxdg_decoration_manager_v1", version: 1,
    requests: [Message("destroy"), Message("get_toplevel_decoration", "no", [decoration, toplevel])])

  static let tagManager = WaylandInterface(
    "xdg_toplevel_tag_manager_v1", version: 1,
    requests: [
      Message("destroy"), Message("set_toplevel_tag", "os", [toplevel, nil]),
      Message("set_toplevel_description", "os", [toplevel, nil]),
    ])

  // MARK: - Scale and opacity of surfaces

  static let viewport = WaylandInterface(
    "wp_viewport", version: 1,
    requests: [Message("destroy"), Message("set_source", "ffff"), Message("set_destination", "ii")])

  static let viewporter = WaylandInterface(
    "wp_viewporter", version: 1, requests: [Message("destroy"), Message("get_viewport", "no", [viewport, surface])])

  static let fractionalScale = WaylandInterface(
    "wp_fractional_scale_v1", version: 1, requests: [Message("destroy")], events: [Message("preferred_scale", "u")])

  static let fractionalScaleManager = WaylandInterface(
    "wp_fractional_scale_manager_v1", version: 1,
    requests: [Message("destroy"), Message("get_fractional_scale", "no", [fractionalScale, surface])])

  static let alphaModifierSurface = WaylandInterface(
    "wp_alpha_modifier_surface_v1", version: 1, requests: [Message("destroy"), Message("set_multiplier", "u")])

  static let alphaModifier = WaylandInterface(
    "wp_alpha_modifier_v1", version: 1,
    requests: [Message("destroy"), Message("get_surface", "no", [alphaModifierSurface, surface])])

  // MARK: - Outputs, pointers, activation

  static let xdgOutput = WaylandInterface(
    "zxdg_output_v1", version: 3, requests: [Message("destroy")],
    events: [
      Message("logical_position", "ii"), Message("logical_size", "ii"), Message("done"), Message("name", "2s"),
      Message("description", "2s"),
    ])

  static let xdgOutputManager = WaylandInterface(
    "zxdg_output_manager_v1", version: 3,
    requests: [Message("destroy"), Message("get_xdg_output", "no", [xdgOutput, output])])

  static let cursorShapeDevice = WaylandInterface(
    "wp_cursor_shape_device_v1", version: 1, requests: [Message("destroy"), Message("set_shape", "uu")])

  static let cursorShapeManager = WaylandInterface(
    "wp_cursor_shape_manager_v1", version: 1,
    requests: [
      Message("destroy"), Message("get_pointer", "no", [cursorShapeDevice, wlPointer]),
      // The tools of tablets are never used.
      Message("get_tablet_tool_v2", "no", [cursorShapeDevice, nil]),
    ])

  static let relativePointer = WaylandInterface(
    "zwp_relative_pointer_v1", version: 1, requests: [Message("destroy")],
    events: [Message("relative_motion", "uuffff")])

  static let relativePointerManager = WaylandInterface(
    "zwp_relative_pointer_manager_v1", version: 1,
    requests: [Message("destroy"), Message("get_relative_pointer", "no", [relativePointer, wlPointer])])

  static let activationToken = WaylandInterface(
    "xdg_activation_token_v1", version: 1,
    requests: [
      Message("set_serial", "uo", [nil, seat]), Message("set_app_id", "s"), Message("set_surface", "o", [surface]),
      Message("commit"), Message("destroy"),
    ], events: [Message("done", "s")])

  static let activation = WaylandInterface(
    "xdg_activation_v1", version: 1,
    requests: [
      Message("destroy"), Message("get_activation_token", "n", [activationToken]),
      Message("activate", "so", [nil, surface]),
    ])
}
