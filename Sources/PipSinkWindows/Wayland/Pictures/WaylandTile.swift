import CWindows
import Glibc
import PipSink

/// A place for pictures in a Wayland window: a surface of its own over the window's (wl_subsurface), which shows what
/// it is given from any thread, past whatever the window waits for.
///
/// Frames are converted straight into memory that the compositor reads. The compositor says when it wants the next
/// picture (wl_surface.frame); of those that come before, the newest is sent then. A compositor that says nothing for
/// some time does not show the window, and gets no frames until it does.
///
/// Requests are made with the lock on the surface held, so that none is on its way when the surface goes.
final class WaylandTile: WindowTile {
  private struct Surface {
    /// The window's wl_surface, as long as this is attached to it.
    let parent: OpaquePointer
    let main: WaylandSubsurface
    /// The lowest row of a tile that may not hide its window altogether.
    let edge: WaylandSubsurface?
    let alpha: WaylandProxy?
    var callback: WaylandProxy?
    /// Since when ``callback`` is waited for.
    var asked: MonotonicTime = .now
    var shownPlace: Place?
    var opacity: UInt32 = .max
  }

  private struct State {
    var surface: Surface?
    var frame: PictureRect?
    var place: Place?
    /// Pixels for each unit of the window.
    var scale = 1.0
    var origin = (x: 0, y: 0)
    var opacity: UInt32 = .max
    /// What the compositor has, or had last.
    var shown: WaylandImage?
    /// What comes next.
    var next: WaylandImage?
    var isRevoked = false
    /// Whether a picture could not be drawn because the compositor reads all memory that there is.
    var isStarved = false
    var needsDisplay: (@Sendable () -> Void)?
    var frameShown: (@Sendable () -> Void)?
  }

  /// After how long without an answer a compositor does not show the window. Those that show less than four pictures a
  /// second are not known.
  private static let patience = Duration.milliseconds(250)

  private let globals: Globals
  private let loop: WaylandEventLoop
  private let decoration: (any PictureDecoration)?
  /// Whether the window is somebody else's.
  private let isForeign: Bool
  private let state = Locked(State())
  /// Of the presenting thread; the lock is there for what is drawn meanwhile, and is taken before ``state``'s.
  private let pictures = Locked(WaylandPictures())

  /// - Parameter isForeign: whether it is for a window of somebody else's. Such a window is committed by its owner
  ///   alone, and is not hidden altogether: compositors tell a surface that opaque ones hide nothing of its frames, and
  ///   toolkits wait for those. So the lowest row is on a surface that could be seen through, and is not.
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

  /// Has the newest frame shown again.
  func askForFrame() { state.withLock { $0.needsDisplay }?() }

  // MARK: - The surface

  /// Puts it over a window's surface, on top of what is there, until ``detach()``.
  ///
  /// - Parameters:
  ///   - entered: called on the connection's thread with the address of a wl_output that it has come to.
  ///   - scaleChanged: called there with the scale that the compositor prefers.
  func attach(
    to parent: OpaquePointer, entered: (@Sendable (UInt) -> Void)? = nil,
    scaleChanged: (@Sendable (Double) -> Void)? = nil
  ) {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.surface == nil, !state.isRevoked,
        let main = WaylandSubsurface(globals, over: parent, entered: entered, scaleChanged: scaleChanged)
      else { return nil }
      state.surface = Surface(
        parent: parent, main: main, edge: isForeign ? WaylandSubsurface(globals, over: parent) : nil,
        alpha: globals.alphaModifier?.make(.alphaModifierSurface, 1, .new, .object(main.surface.pointer)))
      applyPlace(&state)
      return state.needsDisplay
    }
    handler?()
  }

  /// Takes it away from its window. Nothing of it is on its way to the window's surface afterwards.
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

  /// Pixels for each unit of the window; what ``frame`` means from here on.
  func setScale(_ scale: Double) { state.withLock { $0.scale = scale } }

  /// Where the tile's window begins in the surface that it is attached to, in units; for ``frame`` from here on.
  func setOrigin(x: Int, y: Int) { state.withLock { $0.origin = (x, y) } }

  /// - Parameters:
  ///   - frame: in the window, in pixels; what lies over the pictures counts by them.
  ///   - place: the same for the compositor.
  func set(_ frame: PictureRect?, place: Place?) {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.frame != frame || state.place != place else { return nil }
      (state.frame, state.place) = (frame, place)
      applyPlace(&state)
      return state.needsDisplay
    }
    handler?()
  }

  /// How much of it is shown, where the compositor can do that.
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

  /// A picture of another size is stretched until there is a new one.
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

  /// Of the picture: those of the window's lowest row.
  private func edgeRows(_ place: Place) -> Int {
    guard isForeign, place.units.height > 1 else { return 0 }
    return max(1, min(place.pixels.height / place.units.height, place.pixels.height - 1))
  }

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

  /// The compositor has shown what it has.
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

  /// Whether the compositor has not shown yet what it has.
  var isWaiting: Bool { state.withLock { $0.surface?.callback != nil } }

  /// Calls `handler`, on the connection's thread, after each frame that the compositor has shown.
  func onFrameShown(_ handler: (@Sendable () -> Void)?) { state.withLock { $0.frameShown = handler } }

  private func isSilent(_ surface: Surface) -> Bool { surface.asked.advanced(by: Self.patience) < .now }

  private func didRelease() {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      defer { state.isStarved = false }
      return state.isStarved ? state.needsDisplay : nil
    }
    handler?()
  }

  // MARK: - WindowTile

  var convertedFrameCount: UInt64 { pictures.withLock { $0.convertedCount } }

  /// Nothing of it uses the connection afterwards, but what it has given the connection's thread to do.
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
      guard pictures.canRedraw(area.size), let image = freeImage(area.size, &pictures) else { return }
      pictures.redraw(on: image, decoration, in: area)
      submit(image)
    }
  }

  // MARK: - VideoRenderer

  /// Where pictures go in the window, in pixels; nil while they go nowhere.
  private var area: PictureRect? {
    state.withLock { state in
      guard state.surface != nil, let frame = state.frame, let pixels = state.place?.pixels, pixels.isValid else {
        return nil
      }
      return PictureRect(x: frame.x, y: frame.y, width: pixels.width, height: pixels.height)
    }
  }

  var renderSize: PictureSize? { state.withLock { $0.place?.pixels } }

  /// Also when the compositor has gone, so that the next frame finds out.
  var isVisible: Bool {
    if loop.isLost { return true }
    let shown = state.withLock { state -> PictureRect? in
      guard let surface = state.surface, let frame = state.frame, !state.isRevoked else { return nil }
      // There is a picture for when it is seen again.
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
        // The compositor reads all there are, and says when it does not any more.
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
    }
  }

  func rebuild() { pictures.withLock { $0.forget() } }

  // MARK: - Drawing

  private func freeImage(_ size: PictureSize, _ pictures: inout WaylandPictures) -> WaylandImage? {
    let (next, rows) = state.withLock { ($0.next, $0.place.map { edgeRows($0) } ?? 0) }
    let image = pictures.free(size, next: next) {
      WaylandImage(globals.sharedMemory, size: size, edgeRows: rows) { [weak self] in self?.didRelease() }
    }
    if image == nil { state.withLock { $0.isStarved = true } }
    return image
  }

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
