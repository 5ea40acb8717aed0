import CWindows
import PipSink

/// The surface of one of PipSink's windows while the window is shown. It is black, has the size that the compositor has
/// agreed to, and is below the window's tiles.
@MainActor
final class WaylandSurface {
  let surface: WaylandProxy
  private let globals: WaylandGlobals
  private let viewport: WaylandProxy?
  private let fractionalScale: WaylandProxy?
  private let alpha: WaylandProxy?
  private let input: WaylandInput
  private let background: WaylandImage?
  private var buffers: [WaylandImage] = []
  /// The size in units, or nil before the compositor has agreed to one.
  private var size: PictureSize?
  private var opacity = UInt32.max

  /// - Parameters:
  ///   - globals: the compositor's objects.
  ///   - input: gets the user's input on the surface.
  ///   - scaleChanged: called on the connection's thread with the scale that the compositor prefers.
  ///   - outputsChanged: called on the connection's thread when the surface has entered or left a monitor, with the
  ///     address of its wl_output.
  /// - Returns: nil when the compositor has gone or libwayland cannot allocate memory.
  init?(
    _ globals: WaylandGlobals, input: WaylandInput, scaleChanged: @escaping @Sendable (Double) -> Void,
    outputsChanged: @escaping @Sendable (_ output: UInt, _ isOn: Bool) -> Void
  ) {
    guard
      let surface = SurfaceGate.shared.make({
        globals.compositor?.make(.surface, 0, .new, handler: WaylandProxy.outputsHandler(outputsChanged))
      }),
      let memory = globals.sharedMemory
    else { return nil }
    (self.surface, self.globals, self.input) = (surface, globals, input)
    viewport = globals.viewporter?.make(.viewport, 1, .new, .object(surface.pointer))
    fractionalScale = globals.fractionalScaleManager?.make(
      .fractionalScale, 1, .new, .object(surface.pointer),
      handler: { _, arguments in scaleChanged(Double(arguments.uint(0)) / 120) })
    alpha = globals.alphaModifier?.make(.alphaModifierSurface, 1, .new, .object(surface.pointer))
    background = WaylandImage(memory, size: PictureSize(width: 1, height: 1))
    if let background { FrameCanvas.clear(background.pixels, stride: background.stride, size: background.size) }
    globals.setInput(input, of: surface.pointer)
  }

  /// Sets the size that the compositor has agreed to, in units. It takes effect with the next commit.
  func setSize(_ size: PictureSize) {
    self.size = size
    setOpaque()
    if let viewport, let background {
      background.attach(to: surface)
      viewport.send(2, .int(max(1, size.width)), .int(max(1, size.height)))
      return
    }
    // Without wp_viewporter the buffer has a pixel for each unit.
    guard let memory = globals.sharedMemory, let image = WaylandImage(memory, size: size) else { return }
    FrameCanvas.clear(image.pixels, stride: image.stride, size: size)
    image.attach(to: surface)
    buffers = buffers.filter(\.isBusy) + [image]
  }

  /// Sets the surface's opacity, from 0 to `UInt32.max`, where the compositor supports that (wp_alpha_modifier). It
  /// takes effect with the next commit.
  func setOpacity(_ opacity: UInt32) {
    guard let alpha, opacity != self.opacity else { return }
    alpha.send(1, .uint(opacity))
    self.opacity = opacity
    setOpaque()
  }

  /// Tells the compositor whether the surface has no transparent pixels, so that it need not draw what is below.
  private func setOpaque() {
    guard let compositor = globals.compositor else { return }
    WaylandRegion.with(opacity == .max ? size : nil, compositor) {
      wl_surface_set_opaque_region(surface.pointer, $0)
    }
  }

  /// Makes the compositor show the surface's new state.
  func commit() { wl_surface_commit(surface.pointer) }

  /// Destroys the surface. The object that has given it its role must have been destroyed before.
  func destroy() {
    globals.setInput(nil, of: surface.pointer)
    for object in [alpha, fractionalScale, viewport, surface] { object?.destroy() }
  }
}
