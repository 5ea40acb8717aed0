import CWindows
import Glibc
import PipSink

/// A tile in a Wayland window. It is a subsurface over the window's surface, on which pictures can be shown from any
/// thread without waiting for the window.
///
/// Frames are converted straight into memory that the compositor reads. The compositor says when it wants the next
/// picture (wl_surface.frame); until then, only the newest one is kept. A compositor that does not say so for some time
/// does not show the window, and gets no more frames until it does.
///
/// Requests are made while the lock on the state is held, so that none is on its way when the surface is destroyed.
final class WaylandTile: WindowTile {
  /// The compositor's objects of a tile that is attached to a window.
  private struct Surface {
    /// The window's wl_surface.
    let parent: OpaquePointer
    let main: WaylandSubsurface
    /// The lowest row of a tile that must not cover its window completely.
    let edge: WaylandSubsurface?
    let alpha: WaylandProxy?
    var callback: WaylandProxy?
    /// The time when ``callback`` was requested.
    var asked: MonotonicTime = .now
    var shownPlace: Place?
    var opacity: UInt32 = .max
  }

  private struct State {
    var surface: Surface?
    var frame: PictureRect?
    var place: Place?
    /// The number of pixels in a unit of the window.
    var scale = 1.0
    /// The position in units of the tile's window in the surface that it is attached to.
    var origin = (x: 0, y: 0)
    var opacity: UInt32 = .max
    /// The image that the compositor got last.
    var shown: WaylandImage?
    /// The image that the compositor gets next.
    var next: WaylandImage?
    var isRevoked = false
    /// Whether a picture could not be drawn because the compositor reads all images.
    var isStarved = false
    var needsDisplay: (@Sendable () -> Void)?
    var frameShown: (@Sendable () -> Void)?
  }

  /// The time after which a compositor that has not answered counts as not showing the window. No compositor is known
  /// that shows fewer than four pictures a second.
  private static let patience = Duration.milliseconds(250)

  private let globals: Globals
  private let loop: WaylandEventLoop
  private let decoration: (any PictureDecoration)?
  /// Whether the window belongs to a toolkit.
  private let isForeign: Bool
  private let state = Locked(State())
  /// Used by the presenting thread. The lock is needed because the decoration is redrawn from other threads. It is
  /// taken before the lock on ``state``.
  private let pictures = Locked(WaylandPictures())

  /// - Parameters:
  ///   - globals: the compositor's objects.
  ///   - loop: the connection's event loop.
  ///   - decoration: what is drawn over the pictures.
  ///   - isForeign: whether the window belongs to a toolkit. Only its owner commits such a window, and it must not be
  ///     covered by opaque surfaces alone: compositors send no frame events to a covered surface, and toolkits wait for
  ///     these. So the lowest row is on a surface of its own, whose format has alpha although its pixels are opaque.
  init(
    _ globals: Globals, _ loop: WaylandEventLoop, decoration: (any PictureDecoration)?, isForeign: Bool = false
  ) {
    (self.globals, self.loop, self.decoration, self.isForeign) = (globals, loop, decoration, isForeign)
    loop.onLoss(ObjectIdentifier(self)) { [weak self] in self?.askForFrame() }
  }

  deinit {
    loop.forgetLoss(ObjectIdentifier(self))
    detach()
  }

  /// Asks the layer to render its newest frame again.
  func askForFrame() { state.withLock { $0.needsDisplay }?() }

  // MARK: - The surface

  /// Attaches the tile to a window's surface, on top of what that has now, until ``detach()``.
  ///
  /// - Parameters:
  ///   - parent: the window's wl_surface.
  ///   - outputsChanged: called on the connection's thread when the tile has appeared on a monitor or left it, with the
  ///     address of its wl_output.
  ///   - scaleChanged: called on the connection's thread with the scale that the compositor prefers.
  func attach(
    to parent: OpaquePointer, outputsChanged: (@Sendable (_ output: UInt, _ isOn: Bool) -> Void)? = nil,
    scaleChanged: (@Sendable (Double) -> Void)? = nil
  ) {
    let handler = SurfaceGate.shared.make {
      state.withLock { state -> (@Sendable () -> Void)? in
        guard state.surface == nil, !state.isRevoked,
          let main = WaylandSubsurface(
            globals, over: parent, outputsChanged: outputsChanged, scaleChanged: scaleChanged)
        else { return nil }
        state.surface = Surface(
          parent: parent, main: main, edge: isForeign ? WaylandSubsurface(globals, over: parent) : nil,
          alpha: globals.alphaModifier?.make(.alphaModifierSurface, 1, .new, .object(main.surface.pointer)))
        applyPlace(&state)
        return state.needsDisplay
      }
    }
    handler?()
  }

  /// Detaches the tile from its window. Afterwards no request about the window's surface is on its way.
  func detach() {
    let surface = state.withLock { state in
      defer { (state.surface, state.next, state.shown) = (nil, nil, nil) }
      return state.surface
    }
    surface?.callback?.destroy()
    surface?.alpha?.destroy()
    surface?.edge?.destroy()
    surface?.main.destroy()
  }

  var frame: PictureRect? {
    get { state.withLock { $0.frame } }
    set {
      let (scale, origin) = state.withLock { ($0.scale, $0.origin) }
      var place = newValue.map { Place(pixels: $0, scale: scale) }
      place?.units.x += origin.x
      place?.units.y += origin.y
      set(newValue, place: place)
    }
  }

  /// Sets the number of pixels in a unit of the window. It counts when ``frame`` is set the next time.
  func setScale(_ scale: Double) { state.withLock { $0.scale = scale } }

  /// Sets the position in units of the tile's window in the surface that the tile is attached to. It counts when
  /// ``frame`` is set the next time.
  func setOrigin(x: Int, y: Int) { state.withLock { $0.origin = (x, y) } }

  /// Moves and resizes the tile.
  ///
  /// - Parameters:
  ///   - frame: the rectangle in the window, in pixels, by which the decoration is drawn; nil hides the tile.
  ///   - place: the same rectangle for the compositor.
  func set(_ frame: PictureRect?, place: Place?) {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.frame != frame || state.place != place else { return nil }
      (state.frame, state.place) = (frame, place)
      applyPlace(&state)
      return state.needsDisplay
    }
    handler?()
  }

  /// Sets the tile's opacity, from 0 to `UInt32.max`, where the compositor supports that (wp_alpha_modifier).
  func setOpacity(_ opacity: UInt32) {
    state.withLock { state in
      state.opacity = opacity
      guard let surface = state.surface, surface.alpha != nil, state.shown != nil else { return }
      applyOpacity(&state)
      wl_surface_commit(surface.main.surface.pointer)
    }
  }

  private func applyOpacity(_ state: inout State) {
    guard let surface = state.surface, let alpha = surface.alpha, surface.opacity != state.opacity else { return }
    alpha.send(1, .uint(state.opacity))
    state.surface?.opacity = state.opacity
  }

  /// Tells the compositor the tile's place. A picture of another size is stretched until there is a new one.
  private func applyPlace(_ state: inout State) {
    guard let surface = state.surface else { return }
    guard let place = state.place else {
      surface.callback?.destroy()
      state.surface?.callback = nil
      state.surface?.shownPlace = nil
      let wasShown = state.shown != nil
      (state.shown, state.next) = (nil, nil)
      guard wasShown else { return }
      surface.main.hide()
      surface.edge?.hide()
      return loop.flush()
    }
    surface.main.move(toX: place.units.x, y: place.units.y)
    surface.edge?.move(toX: place.units.x, y: place.units.y + place.units.height - 1)
    if state.shown != nil, globals.viewporter != nil, surface.shownPlace?.units.size != place.units.size {
      setDestination(&state)
      wl_surface_commit(surface.main.surface.pointer)
      if let edge = surface.edge { wl_surface_commit(edge.surface.pointer) }
    }
    if !isForeign { wl_surface_commit(surface.parent) }
    loop.flush()
  }

  /// Sets the surfaces' sizes for their next commits.
  private func setDestination(_ state: inout State) {
    guard let surface = state.surface, let place = state.place, surface.shownPlace != place else { return }
    let edge = surface.edge == nil ? 0 : 1
    var (units, pixels) = (place.units.size, place.pixels)
    (units.height, pixels.height) = (units.height - edge, pixels.height - edgeRows(place))
    surface.main.setSize(units, pixels: pixels)
    surface.edge?.setSize(
      PictureSize(width: units.width, height: 1), pixels: PictureSize(width: pixels.width, height: edgeRows(place)))
    state.surface?.shownPlace = place
  }

  /// The number of the picture's rows that are in the lowest row of the window's units.
  private func edgeRows(_ place: Place) -> Int {
    guard isForeign, place.units.height > 1 else { return 0 }
    return max(1, min(place.pixels.height / place.units.height, place.pixels.height - 1))
  }

  /// Sends an image to the compositor, and asks it to say when it wants the next one.
  private func commit(_ image: WaylandImage, _ state: inout State) {
    guard let surface = state.surface, let place = state.place, place.pixels == image.size else { return }
    setDestination(&state)
    applyOpacity(&state)
    if let edge = surface.edge, image.edgeRows > 0 {
      image.attachEdge(to: edge.surface)
      wl_surface_commit(edge.surface.pointer)
    }
    image.attach(to: surface.main.surface)
    if surface.callback == nil {
      state.surface?.callback = surface.main.surface.make(.callback, 3, .new, destructor: nil) { [weak self] _, _ in
        self?.didShow()
      }
      state.surface?.asked = .now
    }
    wl_surface_commit(surface.main.surface.pointer)
    (state.shown, state.next) = (image, nil)
    loop.flush()
  }

  /// Called when the compositor has shown the last picture and wants the next one.
  private func didShow() {
    let (handler, frameShown) = state.withLock { state -> ((@Sendable () -> Void)?, (@Sendable () -> Void)?) in
      state.surface?.callback = nil
      let wasHidden = state.surface.map { isSilent($0) } ?? false
      if let next = state.next { commit(next, &state) }
      return (wasHidden ? state.needsDisplay : nil, state.frameShown)
    }
    handler?()
    frameShown?()
  }

  /// Whether the compositor has not shown the last picture yet.
  var isWaiting: Bool { state.withLock { $0.surface?.callback != nil } }

  /// Sets a handler that is called, on the connection's thread, after each picture that the compositor has shown.
  func onFrameShown(_ handler: (@Sendable () -> Void)?) { state.withLock { $0.frameShown = handler } }

  /// Whether the compositor has not answered for so long that it does not show the window.
  private func isSilent(_ surface: Surface) -> Bool { surface.asked.advanced(by: Self.patience) < .now }

  /// Called when the compositor has finished reading an image.
  private func didRelease() {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      defer { state.isStarved = false }
      return state.isStarved ? state.needsDisplay : nil
    }
    handler?()
  }

  // MARK: - WindowTile

  var convertedFrameCount: UInt64 { pictures.withLock { $0.convertedCount } }

  /// Stops using the window. Afterwards the tile uses the connection only for work that its thread has already been
  /// given.
  @discardableResult
  func leaveWindow() -> Bool {
    state.withLock { $0.isRevoked = true }
    detach()
    pictures.withLock { $0.forget() }
    return true
  }

  func image() -> BGRAImage? { pictures.withLock { $0.copy() } }

  func redraw() {
    guard let decoration, let area else { return }
    pictures.withLock { pictures in
      let isHidden = decoration.hides(area)
      guard pictures.canRedraw(area.size, isHidden: isHidden), let image = freeImage(area.size, &pictures) else {
        return
      }
      pictures.redraw(on: image, decoration, in: area)
      submit(image)
      if isHidden { pictures.releaseHiddenPicture() }
    }
  }

  // MARK: - VideoRenderer

  /// The rectangle that pictures fill in the window, in pixels, or nil while none are shown.
  private var area: PictureRect? {
    state.withLock { state in
      guard state.surface != nil, let frame = state.frame, let pixels = state.place?.pixels, pixels.isValid else {
        return nil
      }
      return PictureRect(x: frame.x, y: frame.y, width: pixels.width, height: pixels.height)
    }
  }

  var renderSize: PictureSize? { state.withLock { $0.place?.pixels } }

  /// It is also true when the compositor has gone, so that the next frame reports that.
  var isVisible: Bool {
    if loop.isLost { return true }
    let shown = state.withLock { state -> PictureRect? in
      guard let surface = state.surface, let frame = state.frame, !state.isRevoked else { return nil }
      // A picture is already waiting for the moment when the window is visible again.
      return surface.callback != nil && state.next != nil && isSilent(surface) ? nil : frame
    }
    guard let shown else { return false }
    return decoration?.hides(shown) != true
  }

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { state.withLock { $0.needsDisplay = handler } }

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    guard !loop.isLost else {
      throw RenderingError(code: .surfaceLost, reason: "the Wayland compositor has gone")
    }
    guard let area else { return }
    try pictures.withLock { pictures throws(RenderingError) in
      guard let image = freeImage(area.size, &pictures) else {
        // The compositor reads all images. The frame is requested again when it releases one.
        if pictures.isFull { return }
        throw RenderingError(.frame(.outOfMemory(byteCount: area.width * area.height * 4)))
      }
      try pictures.draw(sampleBuffer, gravity: gravity, on: image, decoration, in: area)
      submit(image)
    }
  }

  func removeImage() {
    pictures.withLock { pictures in
      pictures.forgetPicture()
      guard let area, let image = freeImage(area.size, &pictures) else { return }
      pictures.redraw(on: image, decoration, in: area)
      submit(image)
      if decoration?.hides(area) == true { pictures.releaseHiddenPicture() }
    }
  }

  func rebuild() { pictures.withLock { $0.forget() } }

  // MARK: - Drawing

  /// Returns an image that can be drawn on, or nil when the compositor reads all of them.
  private func freeImage(_ size: PictureSize, _ pictures: inout WaylandPictures) -> WaylandImage? {
    let (next, rows) = state.withLock { ($0.next, $0.place.map { edgeRows($0) } ?? 0) }
    let image = pictures.free(size, next: next) {
      WaylandImage(globals.sharedMemory, size: size, edgeRows: rows) { [weak self] in self?.didRelease() }
    }
    if image == nil { state.withLock { $0.isStarved = true } }
    return image
  }

  /// Sends an image to the compositor now, or as soon as that wants the next one.
  private func submit(_ image: WaylandImage) {
    state.withLock { state in
      guard let surface = state.surface else { return }
      if surface.callback == nil { commit(image, &state) } else { state.next = image }
    }
  }
}

extension WaylandTile {
  /// The compositor's global objects that tiles need. Those that are optional are nil where the compositor lacks them.
  struct Globals: Sendable {
    let compositor: WaylandProxy
    let subcompositor: WaylandProxy
    let sharedMemory: WaylandProxy
    let viewporter: WaylandProxy?
    let fractionalScaleManager: WaylandProxy?
    let alphaModifier: WaylandProxy?

    /// - Returns: nil when a required object is missing, for instance because the compositor has gone.
    init?(_ globals: WaylandGlobals) {
      guard let compositor = globals.compositor, let subcompositor = globals.subcompositor,
        let sharedMemory = globals.sharedMemory
      else { return nil }
      (self.compositor, self.subcompositor, self.sharedMemory) = (compositor, subcompositor, sharedMemory)
      (viewporter, alphaModifier) = (globals.viewporter, globals.alphaModifier)
      fractionalScaleManager = globals.fractionalScaleManager
    }
  }
}
