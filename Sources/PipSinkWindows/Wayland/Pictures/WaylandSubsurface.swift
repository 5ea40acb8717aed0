import CWindows
import PipSink

/// A surface of our own over a window's, which takes no pointer and no touch: the window gets those.
struct WaylandSubsurface: Sendable {
  let surface: WaylandProxy
  private let subsurface: WaylandProxy
  private let viewport: WaylandProxy?
  private let fractionalScale: WaylandProxy?

  /// - Parameters:
  ///   - parent: the window's wl_surface. It shows the new one, on top, from its next commit on.
  ///   - entered: called on the connection's thread with the address of a wl_output that it has come to.
  ///   - scaleChanged: called there with the scale that the compositor prefers.
  /// - Returns: nil when libwayland has no memory.
  init?(
    _ globals: WaylandTile.Globals, over parent: OpaquePointer, entered: (@Sendable (UInt) -> Void)? = nil,
    scaleChanged: (@Sendable (Double) -> Void)? = nil
  ) {
    var handler: WaylandProxy.Handler?
    if let entered {
      handler = { event, arguments in
        if event == 0 { entered(UInt(bitPattern: arguments.object(0))) }
      }
    }
    guard let surface = globals.compositor.make(.surface, 0, .new, handler: handler),
      let subsurface = globals.subcompositor.make(.subsurface, 1, .new, .object(surface.pointer), .object(parent))
    else { return nil }
    (self.surface, self.subsurface) = (surface, subsurface)
    viewport = globals.viewporter?.make(.viewport, 1, .new, .object(surface.pointer))
    fractionalScale = scaleChanged.flatMap { scaleChanged in
      globals.fractionalScaleManager?.make(.fractionalScale, 1, .new, .object(surface.pointer)) { _, arguments in
        scaleChanged(Double(arguments.uint(0)) / 120)
      }
    }
    wl_subsurface_set_desync(subsurface.pointer)
    if let nothing = wl_compositor_create_region(globals.compositor.pointer) {
      wl_surface_set_input_region(surface.pointer, nothing)
      wl_region_destroy(nothing)
    }
  }

  /// In the window, in units. The window's next commit shows it.
  func move(toX x: Int, y: Int) {
    wl_subsurface_set_position(subsurface.pointer, Int32(clamping: x), Int32(clamping: y))
  }

  /// - Parameters:
  ///   - units: what the next commit covers of the window.
  ///   - pixels: of what is attached then.
  func setSize(_ units: PictureSize, pixels: PictureSize) {
    guard units.width > 0, units.height > 0 else { return }
    if let viewport {
      viewport.send(2, .int(units.width), .int(units.height))
    } else if surface.version >= 3 {
      // Pixels are a whole number for each unit where nothing scales surfaces.
      wl_surface_set_buffer_scale(surface.pointer, Int32(max(1, pixels.width / units.width)))
    }
  }

  func hide() {
    wl_surface_attach(surface.pointer, nil, 0, 0)
    wl_surface_commit(surface.pointer)
  }

  func destroy() {
    for object in [fractionalScale, viewport, subsurface, surface] { object?.destroy() }
  }
}
