import CWindows
import PipSink

/// A subsurface over a window's surface. It accepts no input, so the window gets the pointer and touches.
struct WaylandSubsurface: Sendable {
  let surface: WaylandProxy
  private let compositor: WaylandProxy
  private let subsurface: WaylandProxy
  private let viewport: WaylandProxy?
  private let fractionalScale: WaylandProxy?

  /// Creates a subsurface on top of what the window has now.
  ///
  /// - Parameters:
  ///   - globals: the compositor's objects.
  ///   - parent: the window's wl_surface. The subsurface is added to it with its next commit.
  ///   - outputsChanged: called on the connection's thread when the surface has appeared on a monitor or left it, with
  ///     the address of its wl_output.
  ///   - scaleChanged: called on the connection's thread with the scale that the compositor prefers.
  /// - Returns: nil when libwayland cannot allocate memory.
  init?(
    _ globals: WaylandTile.Globals, over parent: OpaquePointer,
    outputsChanged: (@Sendable (_ output: UInt, _ isOn: Bool) -> Void)? = nil,
    scaleChanged: (@Sendable (Double) -> Void)? = nil
  ) {
    let handler = outputsChanged.map { WaylandProxy.outputsHandler($0) }
    guard let surface = globals.compositor.make(.surface, 0, .new, handler: handler),
      let subsurface = globals.subcompositor.make(.subsurface, 1, .new, .object(surface.pointer), .object(parent))
    else { return nil }
    (self.surface, self.subsurface, compositor) = (surface, subsurface, globals.compositor)
    viewport = globals.viewporter?.make(.viewport, 1, .new, .object(surface.pointer))
    fractionalScale = scaleChanged.flatMap { scaleChanged in
      globals.fractionalScaleManager?.make(.fractionalScale, 1, .new, .object(surface.pointer)) { _, arguments in
        scaleChanged(Double(arguments.uint(0)) / 120)
      }
    }
    wl_subsurface_set_desync(subsurface.pointer)
    WaylandRegion.with(nil, compositor) { wl_surface_set_input_region(surface.pointer, $0) }
  }

  /// Moves the subsurface to a position in the window, in units. This takes effect with the window's next commit.
  func move(toX x: Int, y: Int) {
    wl_subsurface_set_position(subsurface.pointer, Int32(clamping: x), Int32(clamping: y))
  }

  /// Sets the size that the subsurface has from its next commit on.
  ///
  /// - Parameters:
  ///   - units: the size in the window.
  ///   - pixels: the size of the picture that is attached for that commit.
  func setSize(_ units: PictureSize, pixels: PictureSize) {
    guard units.width > 0, units.height > 0 else { return }
    if let viewport {
      viewport.send(2, .int(units.width), .int(units.height))
    } else if surface.version >= 3 {
      // Without wp_viewporter, the number of pixels in a unit is a whole number.
      wl_surface_set_buffer_scale(surface.pointer, Int32(max(1, pixels.width / units.width)))
    }
  }

  /// Says which part of the subsurface, from its upper left corner, has no transparent pixels, so that the compositor
  /// need not draw what that part covers. This takes effect with the next commit.
  ///
  /// - Parameter size: the part's size, in the window's units; nil for no part.
  func setOpaque(_ size: PictureSize?) {
    WaylandRegion.with(size, compositor) { wl_surface_set_opaque_region(surface.pointer, $0) }
  }

  /// Hides the subsurface until something is attached to it again.
  func hide() {
    wl_surface_attach(surface.pointer, nil, 0, 0)
    wl_surface_commit(surface.pointer)
  }

  func destroy() {
    for object in [fractionalScale, viewport, subsurface, surface] { object?.destroy() }
  }
}
