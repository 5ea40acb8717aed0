import CWindows
import PipSink

/// Asks a compositor whether it shows a window, by the frame of a single transparent pixel that lies over it.
///
/// The pixel lies above all pictures in the window, since compositors may say nothing of the frames of what opaque ones
/// hide.
final class WaylandFrameProbe: Sendable {
  private let surface: WaylandProxy
  private let subsurface: WaylandProxy
  private let pixel: WaylandImage
  private let callback = Locked<WaylandProxy?>(nil)

  /// It is on top of the window's surfaces that are there now.
  ///
  /// - Parameter parent: the window's wl_surface, whose next commit shows the pixel.
  init?(_ globals: WaylandGlobals, over parent: OpaquePointer) {
    guard let compositor = globals.compositor, let memory = globals.sharedMemory,
      let pixel = WaylandImage(memory, size: PictureSize(width: 1, height: 1), isOpaque: false),
      let surface = compositor.make(.surface, 0, .new),
      let subsurface = globals.subcompositor?.make(
        .subsurface, 1, .new, .object(surface.pointer), .object(parent))
    else { return nil }
    pixel.pixels.initialize(repeating: 0, count: pixel.byteCount)
    (self.pixel, self.surface, self.subsurface) = (pixel, surface, subsurface)
    wl_subsurface_set_desync(subsurface.pointer)
    if let nothing = wl_compositor_create_region(compositor.pointer) {
      wl_surface_set_input_region(surface.pointer, nothing)
      wl_region_destroy(nothing)
    }
  }

  deinit {
    callback.withLock { $0 }?.destroy()
    subsurface.destroy()
    surface.destroy()
  }

  /// - Parameter shown: called on the connection's thread when the compositor has shown the pixel. It may take its
  ///   time; a second question before that is none.
  func ask(_ shown: @escaping @Sendable () -> Void) {
    callback.withLock { callback in
      guard callback == nil else { return }
      callback = surface.make(.callback, 3, .new, destructor: nil) { [weak self] _, _ in
        self?.callback.withLock { $0 = nil }
        shown()
      }
      pixel.attach(to: surface)
      wl_surface_commit(surface.pointer)
    }
  }
}

/// Tells by the frames of a window whether its compositor shows it: one that does asks for them again and again.
///
/// A video that plays has frames by itself. While there are none, one of a single pixel is asked for; where that does
/// not come either, nobody can see the window until it does.
///
/// Its state is the connection's thread's, which its closures are called on.
final class WaylandFrameWatch: Sendable {
  private struct State {
    var probe: WaylandFrameProbe?
    /// Whether the compositor has read what the probe has asked.
    var question: WaylandProxy?
    var last = MonotonicTime.now
    var isMissing = false
    var isOver = false
  }

  /// How long there may be no frame before one is asked for, and how long the answer may take from the moment when the
  /// compositor has read the question: one that is busy shows nothing meanwhile, and reads nothing either.
  private static let (pause, patience) = (Duration.milliseconds(50), Duration.milliseconds(75))

  private let loop: WaylandEventLoop
  private let state: Locked<State>
  private let changed: @Sendable (_ isMissing: Bool) -> Void

  /// - Parameter changed: called when frames begin or end to be missing.
  init(_ loop: WaylandEventLoop, _ probe: WaylandFrameProbe, changed: @escaping @Sendable (_ isMissing: Bool) -> Void) {
    (self.loop, self.changed) = (loop, changed)
    state = Locked(State(probe: probe))
    look(in: Self.pause)
  }

  /// Nothing is asked any more. From any thread, before the window's surface goes.
  func end() {
    let (probe, question) = state.withLock { state in
      defer { (state.isOver, state.probe, state.question) = (true, nil, nil) }
      return (state.probe, state.question)
    }
    question?.destroy()
    withExtendedLifetime(probe) {}
  }

  /// Goes on with a probe that lies above what has come to the window since it was made. From any thread.
  func replaceProbe(_ probe: WaylandFrameProbe) {
    let old = state.withLock { state -> WaylandFrameProbe? in
      guard !state.isOver else { return nil }
      defer { (state.probe, state.last) = (probe, .now) }
      return state.probe
    }
    guard old != nil else { return }
    // What the old one was asked is not answered any more.
    probe.ask { [weak self] in self?.noteFrame() }
    loop.flush()
    look(in: Self.pause)
  }

  /// There was a frame of the window.
  func noteFrame() {
    let (wasMissing, isOver) = state.withLock { state in
      defer { (state.last, state.isMissing) = (.now, false) }
      return (state.isMissing && !state.isOver, state.isOver)
    }
    if !isOver { look(in: Self.pause) }
    if wasMissing { changed(false) }
  }

  /// Each frame puts it off, so that a video that plays wakes nobody.
  private func look(in delay: Duration) {
    loop.perform(after: delay, insteadOf: ObjectIdentifier(self)) { [weak self] in self?.look() }
  }

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

  /// The compositor has read the question.
  private func wait(since last: MonotonicTime) {
    let isAnswered = state.withLock { state in
      state.question = nil
      return state.last != last
    }
    guard !isAnswered else { return }
    loop.perform(after: Self.patience, insteadOf: ObjectIdentifier(self)) { [weak self] in self?.judge(last) }
  }

  /// While frames are missing the next one says so by itself.
  private func judge(_ last: MonotonicTime) {
    let isNew = state.withLock { state in
      guard !state.isOver, state.last == last, !state.isMissing else { return false }
      state.isMissing = true
      return true
    }
    if isNew { changed(true) }
  }
}
