import CWindows
import PipSink

/// A subsurface over a window's surface. It accepts no input, so the window gets the pointer and touches.
struct WaylandSubsurface: Sendable {
  let surface: WaylandObject<WLSurface>
  private let compositor: WaylandObject<WLCompositor>
  private let subsurface: WaylandObject<WLSubsurface>
  private let viewport: WaylandObject<WPViewport>?
  private let fractionalScale: WaylandObject<WPFractionalScale>?

  /// Creates a subsurface on top of what the window has now.
  ///
  /// - Parameters:
  ///   - globals: the compositor's objects.
  ///   - parent: the window's wl_surface. The subsurface is added to it with its next commit.
  ///   - outputsChanged: called on the connection's thread when the surface has appeared on a monitor or left it.
  ///   - scaleChanged: called on the connection's thread with the scale that the compositor prefers.
  /// - Returns: nil when libwayland cannot allocate memory.
  init?(
    _ globals: WaylandTile.Globals, over parent: WaylandReference<WLSurface>,
    outputsChanged: (@Sendable (_ output: WaylandReference<WLOutput>, _ isOn: Bool) -> Void)? = nil,
    scaleChanged: (@Sendable (Double) -> Void)? = nil
  ) {
    guard let surface = globals.compositor.createSurface(handlers: WLSurface.handlers(outputsChanged)),
      let subsurface = globals.subcompositor.getSubsurface(surface.reference, parent)
    else { return nil }
    (self.surface, self.subsurface, compositor) = (surface, subsurface, globals.compositor)
    viewport = globals.viewporter?.getViewport(surface.reference)
    fractionalScale = scaleChanged.flatMap {
      globals.fractionalScaleManager?.getFractionalScale(surface.reference, handlers: WPFractionalScale.handlers($0))
    }
    subsurface.setDesync()
    compositor.withRegion(PictureRect?.none) { surface.setInputRegion($0) }
  }

  /// Moves the subsurface to a position in the window, in units. This takes effect with the window's next commit.
  func move(toX x: Int, y: Int) {
    subsurface.setPosition(x, y)
  }

  /// Sets the size that the subsurface has from its next commit on.
  ///
  /// - Parameters:
  ///   - units: the size in the window.
  ///   - pixels: the size of the picture that is attached for that commit.
  func setSize(_ units: PictureSize, pixels: PictureSize) {
    guard units.width > 0, units.height > 0 else { return }
    if let viewport {
      viewport.setDestination(units.width, units.height)
    } else if surface.setBufferScale.isSupported {
      // Without wp_viewporter, the number of pixels in a unit is a whole number.
      surface.setBufferScale(max(1, pixels.width / units.width))
    }
  }

  /// Puts the subsurface directly over another one of the window. This takes effect with the window's next commit.
  func place(above other: WaylandReference<WLSurface>) { subsurface.placeAbove(other) }

  /// Sets the part of the attached picture that is shown, in pixels; nil shows all of it. This takes effect with the next
  /// commit.
  func setSource(_ part: PictureRect?) {
    let numbers = part.map { [$0.x, $0.y, $0.width, $0.height].map(Double.init) } ?? [-1, -1, -1, -1]
    viewport?.setSource(numbers[0], numbers[1], numbers[2], numbers[3])
  }

  /// Says which part of the subsurface, from its upper left corner, has no transparent pixels, so that the compositor
  /// need not draw what that part covers. This takes effect with the next commit.
  ///
  /// - Parameter size: the part's size, in the window's units; nil for no part.
  func setOpaque(_ size: PictureSize?) {
    compositor.withRegion(size) { surface.setOpaqueRegion($0) }
  }

  /// Hides the subsurface until something is attached to it again.
  func hide() {
    surface.attach(nil, 0, 0)
    surface.commit()
  }

  func destroy() {
    for object: WaylandProxy? in [fractionalScale, viewport, subsurface, surface] { object?.destroy() }
  }
}
