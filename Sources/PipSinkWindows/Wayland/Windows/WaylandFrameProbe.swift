import CWindows
import PipSink

/// Finds out whether the compositor shows a window, by the frame events of a transparent pixel over the window
/// (wl_surface.frame).
///
/// The pixel is above all pictures in the window, because compositors may send no frame events to surfaces that opaque
/// ones cover.
final class WaylandFrameProbe: Sendable {
  private let surface: WaylandObject<WLSurface>
  private let subsurface: WaylandObject<WLSubsurface>
  private let pixel: WaylandImage
  private let callback = Locked<WaylandProxy?>(nil)

  /// Creates the pixel on top of the surfaces that the window has now.
  ///
  /// - Parameters:
  ///   - globals: the compositor's objects.
  ///   - parent: the window's surface. Its next commit adds the pixel to the window.
  /// - Returns: nil when libwayland or the system cannot allocate memory.
  init?(_ globals: WaylandGlobals, over parent: WaylandReference<WLSurface>) {
    guard let compositor = globals.compositor, let memory = globals.sharedMemory,
      let pixel = WaylandImage(memory, size: PictureSize(width: 1, height: 1), isOpaque: false),
      let surface = SurfaceGate.shared.make({ compositor.createSurface() }),
      let subsurface = globals.subcompositor?.getSubsurface(surface.reference, parent)
    else { return nil }
    pixel.pixels.initialize(repeating: 0, count: pixel.byteCount)
    (self.pixel, self.surface, self.subsurface) = (pixel, surface, subsurface)
    subsurface.setDesync()
    compositor.withRegion(PictureRect?.none) { surface.setInputRegion($0) }
  }

  deinit {
    callback.withLock { $0 }?.destroy()
    subsurface.destroy()
    surface.destroy()
  }

  /// Asks the compositor to say when it has shown the pixel. A second call before the answer has no effect.
  ///
  /// - Parameter shown: called on the connection's thread once the compositor has shown the pixel. It is not called
  ///   while the window is not visible.
  func ask(_ shown: @escaping @Sendable () -> Void) {
    callback.withLock { callback in
      guard callback == nil else { return }
      callback = surface.frame { events in
        events.done { [weak self] _ in
          self?.callback.withLock { $0 = nil }
          shown()
        }
      }
      pixel.attach(to: surface)
      surface.commit()
    }
  }
}

/// Watches whether the compositor shows a window, by the window's frame events.
///
/// A video that plays has frame events anyway. While there are none, a frame event of the ``WaylandFrameProbe`` is
/// requested. If that does not come either, the window is not visible until it comes.
///
/// Its closures are called on the connection's thread.
final class WaylandFrameWatch: Sendable {
  private struct State {
    var probe: WaylandFrameProbe?
    /// The callback that says that the compositor has read the probe's request.
    var question: WaylandProxy?
    var last = MonotonicTime.now
    var isMissing = false
    var isOver = false
  }

  /// The time without a frame event after which the probe is asked, and the time that its answer may take once the
  /// compositor has read the request. A compositor that is busy does not read requests, so the second time does not
  /// run.
  private static let (pause, patience) = (Duration.milliseconds(50), Duration.milliseconds(75))

  private let loop: WaylandEventLoop
  private let state: Locked<State>
  private let changed: @Sendable (_ isMissing: Bool) -> Void

  /// Starts watching.
  ///
  /// - Parameters:
  ///   - loop: the connection's event loop.
  ///   - probe: the pixel over the window.
  ///   - changed: called when the compositor stops or resumes showing the window.
  init(_ loop: WaylandEventLoop, _ probe: WaylandFrameProbe, changed: @escaping @Sendable (_ isMissing: Bool) -> Void) {
    (self.loop, self.changed) = (loop, changed)
    state = Locked(State(probe: probe))
    look(in: Self.pause)
  }

  /// Stops watching. It can be called on any thread, before the window's surface is destroyed.
  func end() {
    let (probe, question) = state.withLock { state in
      defer { (state.isOver, state.probe, state.question) = (true, nil, nil) }
      return (state.probe, state.question)
    }
    question?.destroy()
    withExtendedLifetime(probe) {}
  }

  /// Continues with a new probe, which is above the surfaces that the window has got in the meantime. It can be called
  /// on any thread.
  func replaceProbe(_ probe: WaylandFrameProbe) {
    let old = state.withLock { state -> WaylandFrameProbe? in
      guard !state.isOver else { return nil }
      defer { (state.probe, state.last) = (probe, .now) }
      return state.probe
    }
    guard old != nil else { return }
    // The old probe will not answer any more.
    probe.ask { [weak self] in self?.noteFrame() }
    loop.flush()
    look(in: Self.pause)
  }

  /// Records a frame event of the window.
  func noteFrame() {
    let (wasMissing, isOver) = state.withLock { state in
      defer { (state.last, state.isMissing) = (.now, false) }
      return (state.isMissing && !state.isOver, state.isOver)
    }
    if !isOver { look(in: Self.pause) }
    if wasMissing { changed(false) }
  }

  /// Asks the probe after some time. Each frame event postpones that, so a video that plays causes no additional work.
  private func look(in delay: Duration) {
    loop.perform(after: delay, insteadOf: ObjectIdentifier(self)) { [weak self] in self?.look() }
  }

  /// Asks the probe, and asks the compositor to say when it has read that.
  private func look() {
    let (probe, last) = state.withLock { ($0.isOver ? nil : $0.probe, $0.last) }
    guard let probe else { return }
    probe.ask { [weak self] in self?.noteFrame() }
    let question = loop.ask { [weak self] in self?.wait(since: last) }
    let isOver = state.withLock { state in
      if !state.isOver { state.question = question }
      return state.isOver
    }
    if isOver { question?.destroy() }
    loop.flush()
  }

  /// Called when the compositor has read the probe's request.
  private func wait(since last: MonotonicTime) {
    let isAnswered = state.withLock { state in
      state.question = nil
      return state.last != last
    }
    guard !isAnswered else { return }
    loop.perform(after: Self.patience, insteadOf: ObjectIdentifier(self)) { [weak self] in self?.judge(last) }
  }

  /// Reports that frames are missing, if none has come since `last`. The next frame event reports their return.
  private func judge(_ last: MonotonicTime) {
    let isNew = state.withLock { state in
      guard !state.isOver, state.last == last, !state.isMissing else { return false }
      state.isMissing = true
      return true
    }
    if isNew { changed(true) }
  }
}
