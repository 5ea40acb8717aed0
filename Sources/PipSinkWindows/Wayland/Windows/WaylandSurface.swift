import CWindows
import PipSink

/// The surface of a window of our own, as long as the window is shown: black, as large as the compositor has agreed to,
/// with the tiles of the window over it.
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

  /// - Parameters:
  ///   - input: gets what the user does on the surface.
  ///   - scaleChanged: called on the connection's thread with the scale that the compositor prefers.
  ///   - outputsChanged: called there when the surface is on other monitors: with the address of one of libwayland's
  ///     objects, and whether it has come.
  init?(
    _ globals: WaylandGlobals, input: WaylandInput, scaleChanged: @escaping @Sendable (Double) -> Void,
    outputsChanged: @escaping @Sendable (_ output: UInt, _ isOn: Bool) -> Void
  ) {
    guard
      let surface = globals.compositor?.make(
        .surface, 0, .new,
        handler: { event, arguments in
          // Enter and leave; what comes later has other arguments.
          if event <= 1 { outputsChanged(UInt(bitPattern: arguments.object(0)), event == 0) }
        }), let memory = globals.sharedMemory
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

  /// Makes it as large as the compositor has agreed to, in units. A commit shows it.
  func setSize(_ size: PictureSize) {
    if let viewport, let background {
      background.attach(to: surface)
      viewport.send(2, .int(max(1, size.width)), .int(max(1, size.height)))
      return
    }
    // Without a scaler a pixel for each unit.
    guard let memory = globals.sharedMemory, let image = WaylandImage(memory, size: size) else { return }
    FrameCanvas.clear(image.pixels, stride: image.stride, size: size)
    image.attach(to: surface)
    buffers = buffers.filter(\.isBusy) + [image]
  }

  /// A commit shows it.
  func setOpacity(_ opacity: UInt32) { alpha?.send(1, .uint(opacity)) }

  func commit() { wl_surface_commit(surface.pointer) }

  /// Takes it away; what has given it a role has gone before.
  func destroy() {
    globals.setInput(nil, of: surface.pointer)
    for object in [alpha, fractionalScale, viewport, surface] { object?.destroy() }
  }
}
