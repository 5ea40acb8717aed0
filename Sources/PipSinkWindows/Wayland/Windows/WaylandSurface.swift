import PipSink

/// The surface of one of PipSink's windows while the window is shown. It is black, has the size that the compositor has
/// agreed to, and is below the window's tiles.
@MainActor
final class WaylandSurface {
  let surface: WaylandObject<WLSurface>
  private let globals: WaylandGlobals
  private let viewport: WaylandObject<WPViewport>?
  private let fractionalScale: WaylandObject<WPFractionalScale>?
  private let alpha: WaylandObject<WPAlphaModifierSurface>?
  /// Keeps the screen on while the compositor shows the surface; nil while it may go off.
  private var idleInhibitor: WaylandObject<ZWPIdleInhibitor>?
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
  ///   - outputsChanged: called on the connection's thread when the surface has entered or left a monitor.
  /// - Returns: nil when the compositor has gone or libwayland cannot allocate memory.
  init?(
    _ globals: WaylandGlobals, input: WaylandInput, scaleChanged: @escaping @Sendable (Double) -> Void,
    outputsChanged: @escaping @Sendable (_ output: WaylandReference<WLOutput>, _ isOn: Bool) -> Void
  ) {
    guard
      let surface = SurfaceGate.shared.make({
        globals.compositor?.createSurface(handlers: WLSurface.handlers(outputsChanged))
      }),
      let memory = globals.sharedMemory
    else { return nil }
    (self.surface, self.globals, self.input) = (surface, globals, input)
    viewport = globals.viewporter?.getViewport(surface.reference)
    fractionalScale = globals.fractionalScaleManager?.getFractionalScale(
      surface.reference, handlers: WPFractionalScale.handlers(scaleChanged))
    alpha = globals.alphaModifier?.getSurface(surface.reference)
    background = WaylandImage(memory, size: PictureSize(width: 1, height: 1))
    if let background { FrameCanvas.clear(background.pixels, stride: background.stride, size: background.size) }
    globals.setInput(input, of: surface.reference)
  }

  /// Sets the size that the compositor has agreed to, in units. It takes effect with the next commit.
  func setSize(_ size: PictureSize) {
    self.size = size
    setOpaque()
    if let viewport, let background {
      background.attach(to: surface)
      viewport.setDestination(max(1, size.width), max(1, size.height))
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
    alpha.setMultiplier(opacity)
    self.opacity = opacity
    setOpaque()
  }

  /// Sets the part of the surface that takes the pointer, in units; nil for all of it. It takes effect with the next
  /// commit.
  func setInputArea(_ area: PictureRect?) {
    guard let area else { return surface.setInputRegion(nil) }
    globals.compositor?.withRegion(area) { surface.setInputRegion($0) }
  }

  /// Keeps the screen on while the compositor shows the surface, where the compositor offers that, or lets it go off.
  func keepScreenOn(_ isKeptOn: Bool) {
    guard isKeptOn != (idleInhibitor != nil) else { return }
    idleInhibitor?.destroy()
    idleInhibitor = isKeptOn ? globals.idleInhibitManager?.createInhibitor(surface.reference) : nil
  }

  /// Tells the compositor whether the surface has no transparent pixels, so that it need not draw what is below.
  private func setOpaque() {
    globals.compositor?.withRegion(opacity == .max ? size : nil) { surface.setOpaqueRegion($0) }
  }

  /// Makes the compositor show the surface's new state.
  func commit() { surface.commit() }

  /// Destroys the surface. The object that has given it its role must have been destroyed before.
  func destroy() {
    globals.setInput(nil, of: surface.reference)
    for object: WaylandProxy? in [idleInhibitor, alpha, fractionalScale, viewport, surface] { object?.destroy() }
  }
}
