import CWindows
import Glibc
import PipSink

/// A tile in a Wayland window. It is a subsurface over the window's surface, on which pictures can be shown from any
/// thread without waiting for the window.
///
/// Frames are converted straight into memory that the compositor reads. Those that are in memory that it can read already
/// are not even converted, and OpenGL draws if it was chosen. The compositor says when it wants the next picture
/// (wl_surface.frame); until then, only the newest one is kept. A compositor that does not say so for some time does not
/// show the window, and gets no more frames until it does.
///
/// Requests are made while the lock on the state is held, so that none is on its way when the surface is destroyed. Those
/// of OpenGL are not, and ``detach()`` waits for them.
final class WaylandTile: ImageTile {
  /// The time after which a compositor that has not answered counts as not showing the window. No compositor is known
  /// that shows fewer than four pictures a second.
  private static let patience = Duration.milliseconds(250)
  /// The number of unanswered questions after which no more are asked.
  private static let questionLimit = 8

  let globals: Globals
  let loop: WaylandEventLoop
  let decoration: any PictureDecoration
  /// Whether the window belongs to a toolkit.
  let isForeign: Bool
  let needsDisplay = NeedsDisplayHandler()
  private let screenTimes = ScreenTimeHandler()
  /// The wl_buffers for frames that the compositor reads itself; nil where none does.
  let memories: WaylandFrameMemories?
  let state = Locked(State())
  /// One image is shown, one is next, one is drawn, and one is about to be released. The lock is taken before the lock
  /// on ``state``.
  let pictures = Locked(TilePictures<WaylandImage>(limit: 4))

  /// - Parameters:
  ///   - globals: the compositor's objects.
  ///   - loop: the connection's event loop.
  ///   - decoration: what is drawn over the pictures.
  ///   - isForeign: whether the window belongs to a toolkit. Only its owner commits such a window, and it must not be
  ///     covered by opaque surfaces alone: compositors send no frame events to a covered surface, and toolkits wait for
  ///     these. So the lowest row is on a surface of its own, whose format has alpha although its pixels are opaque.
  init(
    _ globals: Globals, _ loop: WaylandEventLoop, decoration: any PictureDecoration, isForeign: Bool = false
  ) {
    (self.globals, self.loop, self.decoration, self.isForeign) = (globals, loop, decoration, isForeign)
    // The lowest row of a toolkit's window is a picture of its own.
    let formats = globals.viewporter == nil || isForeign ? nil : globals.frameFormats
    memories = formats.map { WaylandFrameMemories($0, loop, mayLookDifferent: globals.renderer == .direct) }
    loop.onLoss(ObjectIdentifier(self)) { [weak self] in self?.askForFrame() }
  }

  deinit {
    loop.forgetLoss(ObjectIdentifier(self))
    detach()
  }

  /// Asks the layer to render its newest frame again.
  func askForFrame() { needsDisplay() }

  // MARK: - The surface

  /// Attaches the tile to a window's surface, on top of what that has now, until ``detach()``.
  ///
  /// - Parameters:
  ///   - parent: the window's surface.
  ///   - outputsChanged: called on the connection's thread when the tile has appeared on a monitor or left it.
  ///   - scaleChanged: called on the connection's thread with the scale that the compositor prefers.
  func attach(
    to parent: WaylandReference<WLSurface>,
    outputsChanged: (@Sendable (_ output: WaylandReference<WLOutput>, _ isOn: Bool) -> Void)? = nil,
    scaleChanged: (@Sendable (Double) -> Void)? = nil
  ) {
    let isNew = SurfaceGate.shared.make {
      state.withLock { state in
        guard state.surface == nil, !state.isRevoked else { return false }
        state.surface = WaylandTileSurface(
          globals, over: parent, isForeign: isForeign, outputsChanged: outputsChanged, scaleChanged: scaleChanged)
        attachGraphics(&state)
        applyPlace(&state)
        return true
      }
    }
    if isNew { needsDisplay() }
  }

  /// Detaches the tile from its window. Afterwards no request about the window's surface is on its way. The tile's own
  /// surface lives on when OpenGL still draws on it after ``GLTileSurface/patience``.
  func detach() {
    let (surface, graphics, callback, questions) = state.withLock { state in
      defer {
        (state.surface, state.callback, state.next, state.shown) = (nil, nil, nil, nil)
        (state.asked, state.questions, state.drawing, state.isOwed) = (nil, [:], nil, false)
      }
      return (state.surface, state.graphics, state.callback, state.questions.values)
    }
    callback?.destroy()
    for question in questions { question.destroy() }
    if let graphics { graphics.end { surface?.destroy() } } else { surface?.destroy() }
    memories?.forget()
    pictures.withLock { $0.releaseFrame() }
  }

  var rectangle: PictureRect? {
    get { state.withLock { $0.rectangle } }
    set {
      let (scale, origin) = state.withLock { ($0.scale, $0.origin) }
      var place = newValue.map { Place(pixels: $0, scale: scale) }
      place?.units.x += origin.x
      place?.units.y += origin.y
      set(newValue, place: place)
    }
  }

  /// Sets the number of pixels in a unit of the window. It counts when ``rectangle`` is set the next time.
  func setScale(_ scale: Double) { state.withLock { $0.scale = scale } }

  /// Sets the position in units of the tile's window in the surface that the tile is attached to. It counts when
  /// ``rectangle`` is set the next time.
  func setOrigin(x: Int, y: Int) { state.withLock { $0.origin = (x, y) } }

  /// Moves and resizes the tile.
  ///
  /// - Parameters:
  ///   - rectangle: the rectangle in the window, in pixels, by which the decoration is drawn; nil hides the tile.
  ///   - place: the same rectangle for the compositor.
  func set(_ rectangle: PictureRect?, place: Place?) {
    let isNew = state.withLock { state in
      guard state.rectangle != rectangle || state.place != place else { return false }
      (state.rectangle, state.place) = (rectangle, place)
      applyPlace(&state)
      return true
    }
    if isNew { needsDisplay() }
  }

  /// Sets the tile's opacity, from 0 to `UInt32.max`, where the compositor supports that (wp_alpha_modifier).
  func setOpacity(_ opacity: UInt32) {
    state.withLock { state in
      state.opacity = opacity
      // Without a picture there is nothing to change. The next one gets the opacity.
      guard state.shown != nil, state.drawing == nil, state.surface?.setOpacity(opacity) == true else { return }
      state.surface?.commit()
    }
  }

  /// Tells the compositor the tile's place.
  func applyPlace(_ state: inout State) {
    guard state.surface != nil else { return }
    let isShown = state.shown != nil && state.drawing == nil
    if let place = state.place {
      state.surface?.move(to: place, stretches: isShown && globals.viewporter != nil)
    } else {
      state.callback?.destroy()
      if isShown { state.surface?.hide() }
      (state.callback, state.shown, state.next, state.asked, state.isOwed) = (nil, nil, nil, nil, false)
    }
    loop.flush()
  }

  // MARK: - The rhythm of the pictures

  /// Sends a picture to the compositor, and asks it to say when it wants the next one. If the tile has another size now
  /// than the picture was made for, nothing happens.
  func commit(_ next: Next, _ state: inout State) {
    guard let place = state.place, place.pixels == next.size else { return }
    prepare(next, at: place, &state)
    state.surface?.commit()
    (state.shown, state.next, state.isOwed) = (next.picture, nil, false)
    loop.flush()
  }

  /// Makes the requests about a picture that come before its commit.
  func prepare(_ next: Next, at place: Place, _ state: inout State) {
    state.surface?.attach(next.picture, at: place, scale: state.scale)
    _ = state.surface?.setOpacity(state.opacity)
    if state.callback == nil {
      state.callback = state.surface?.requestFrame { [weak self] in self?.didShow() }
      state.calledAt = .now
    }
    if let times = next.times { askForScreenTime(of: times, &state) }
  }

  /// Sends a picture to the compositor now, or as soon as that wants the next one.
  func send(_ next: Next, _ state: inout State) {
    state.asked = nil
    guard state.surface != nil else { return }
    if state.callback == nil, state.drawing == nil { commit(next, &state) } else { state.next = next }
  }

  /// Asks when the picture that is committed next is on the screen.
  private func askForScreenTime(of frame: ScreenTime.Frame, _ state: inout State) {
    guard screenTimes.isWanted, let presentation = globals.presentation,
      state.questions.count < Self.questionLimit
    else { return }
    state.questionCount += 1
    let (number, handedOverAt) = (state.questionCount, MonotonicTime.now)
    state.questions[number] = state.surface?.askForScreenTime(presentation) { [weak self] answer in
      guard let self else { return }
      let question = self.state.withLock { $0.questions.removeValue(forKey: number) }
      guard question != nil, let answer else { return }
      screenTimes(
        ScreenTime(
          frame: frame, handedOverAt: handedOverAt, shownAt: answer.shownAt, refreshInterval: answer.refreshInterval))
    }
  }

  /// Called when the compositor has shown the last picture and wants the next one.
  private func didShow() {
    let (mustAsk, frameShown) = state.withLock { state in
      state.callback = nil
      let mustAsk = state.surface != nil && (isSilent(state) || state.isOwed)
      state.isOwed = false
      if state.drawing == nil, let next = state.next { commit(next, &state) }
      return (mustAsk, state.frameShown)
    }
    if mustAsk { needsDisplay() }
    frameShown?()
  }

  /// Whether the compositor has not shown the last picture yet.
  var isWaiting: Bool { state.withLock { $0.callback != nil } }

  /// Sets a handler that is called, on the connection's thread, after each picture that the compositor has shown.
  func onFrameShown(_ handler: (@Sendable () -> Void)?) { state.withLock { $0.frameShown = handler } }

  /// Whether the compositor has not answered for so long that it does not show the window.
  private func isSilent(_ state: State) -> Bool { state.calledAt.advanced(by: Self.patience) < .now }

  /// Called when the compositor has finished reading an image.
  private func didRelease() {
    let wasStarved = state.exchange(\.isStarved, false)
    if wasStarved { needsDisplay() }
  }

  // MARK: - WindowTile

  /// Stops using the window. Afterwards the tile uses the connection only for work that its thread has already been
  /// given.
  @discardableResult
  func leaveWindow() -> Bool {
    state.withLock { $0.isRevoked = true }
    detach()
    pictures.withLock { $0.forget() }
    return true
  }

  // MARK: - VideoRenderer

  var renderSize: PictureSize? { state.withLock { $0.place?.pixels } }

  /// It is also true when the compositor has gone, so that the next frame reports that.
  var isVisible: Bool {
    if loop.isLost { return true }
    let shown = state.withLock { state -> PictureRect? in
      guard state.surface != nil, let rectangle = state.rectangle, !state.isRevoked else { return nil }
      // A picture is already waiting for the moment when the window is visible again.
      return state.callback != nil && (state.next != nil || state.isOwed) && isSilent(state) ? nil : rectangle
    }
    guard let shown else { return false }
    return !decoration.hides(shown)
  }

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { needsDisplay.set(handler) }

  func setScreenTimeHandler(_ handler: (@Sendable (ScreenTime) -> Void)?) { screenTimes.set(handler) }

  // MARK: - ImageTile

  func area() throws(RenderingError) -> PictureRect? {
    guard !loop.isLost else {
      throw RenderingError(code: .rendererLost, reason: "the Wayland compositor has gone")
    }
    return state.withLock { state in
      guard state.surface != nil, let rectangle = state.rectangle, let pixels = state.place?.pixels, pixels.isValid
      else {
        return nil
      }
      return PictureRect(x: rectangle.x, y: rectangle.y, width: pixels.width, height: pixels.height)
    }
  }

  func freeImage(
    of size: PictureSize, in pictures: inout TilePictures<WaylandImage>
  ) throws(RenderingError) -> WaylandImage? {
    let (next, place) = state.withLock { ($0.next?.picture.image, $0.place) }
    let rows = place.map { WaylandTileSurface.edgeRows($0, isForeign: isForeign) } ?? 0
    return try pictures.freeImage(of: size, except: next) { () throws(RenderingError) in
      let image = WaylandImage(globals.sharedMemory, size: size, edgeRows: rows) { [weak self] in self?.didRelease() }
      guard let image else { throw RenderingError(.frame(.outOfMemory(byteCount: size.width * size.height * 4))) }
      return image
    }
  }

  func send(_ image: WaylandImage, at size: PictureSize, showing frame: ScreenTime.Frame?) {
    state.withLock { send(Next(picture: .image(image), size: size, times: frame), &$0) }
  }

  func mayShow(_ sampleBuffer: SampleBuffer) -> Bool { mayDraw || mayShowDirectly(sampleBuffer) }

  func show(_ sampleBuffer: SampleBuffer, gravity: VideoGravity, in area: PictureRect) -> FrameOutcome {
    if mayDraw { return draw(sampleBuffer, gravity: gravity, in: area) }
    return showDirectly(sampleBuffer, gravity: gravity, in: area) ? .shown(by: .displayServer) : .needsImage
  }

  /// The lowest row of a toolkit's window is a picture of its own, whose size would differ.
  var serverEnlarges: Bool { globals.enlarges && !isForeign }

  /// The picture is left out. It is requested again when the compositor releases an image.
  func waitForFreeImage() -> Bool {
    state.withLock { $0.isStarved = true }
    // The compositor may have released one just before.
    return pictures.withLock { pictures in
      let next = state.withLock { $0.next?.picture.image }
      return pictures.images.contains { $0 !== next && !$0.isBusy }
    }
  }

  func didFail(_ error: RenderingError, isRedraw: Bool) {}
}
