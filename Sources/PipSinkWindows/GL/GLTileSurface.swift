import Logging
import PipSink

/// Draws a tile's frames with OpenGL ES, until that has failed too often.
///
/// OpenGL may wait for the display server without a limit. So no lock is held meanwhile, and only the thread that presents
/// the frames draws. Whoever takes the window away waits for it no longer than ``patience``.
final class GLTileSurface: Sendable {
  private struct State {
    var surface: GLWindowSurface?
    /// The decoration that was drawn last.
    var layer: DecorationLayer?
    /// Whether a thread uses the surface, or makes it.
    var isBusy = false
    var hasEnded = false
    /// How often drawing has failed since a frame was last drawn.
    var failureCount = 0
    var isAnnounced = false
    /// What is done when the thread that draws has released the surface, because nobody waits for that any more.
    var afterwards: [@Sendable () -> Void] = []
  }

  /// After as many failures in a row the processor draws all frames.
  private static let failureLimit = 3
  private static let patience = Duration.milliseconds(1500)
  private static let logger = Logger(label: "pipsink.windows")

  private let make: @Sendable (_ size: PictureSize) throws(PipSinkError) -> GLWindowSurface
  private let state: Locked<State>

  /// - Parameters:
  ///   - former: what has drawn the tile's frames on another window, whose failures count.
  ///   - make: makes the surface for frames of a size in pixels, on the thread that shows the first frame.
  init(
    following former: GLTileSurface? = nil,
    _ make: @escaping @Sendable (_ size: PictureSize) throws(PipSinkError) -> GLWindowSurface
  ) {
    var first = State()
    if let former {
      (first.failureCount, first.isAnnounced) = former.state.withLock { ($0.failureCount, $0.isAnnounced) }
    }
    (self.make, state) = (make, Locked(first))
  }

  /// Whether drawing has failed so often that it is not tried any more.
  var hasFailed: Bool { state.withLock { $0.failureCount >= Self.failureLimit } }

  /// Draws a frame and shows it.
  ///
  /// - Parameters:
  ///   - sampleBuffer: the frame.
  ///   - gravity: how the frame is fitted into the window.
  ///   - area: the window's rectangle in its parent, in pixels.
  ///   - decoration: what is drawn over the frame.
  /// - Returns: `.leftOut` after ``end(_:)``.
  func show(
    _ sampleBuffer: SampleBuffer, gravity: VideoGravity, in area: PictureRect, under decoration: any PictureDecoration
  ) -> FrameOutcome {
    let reason = state.withLock { state -> FrameOutcome? in
      if state.hasEnded { return .leftOut }
      guard !state.isBusy, state.failureCount < Self.failureLimit else { return .needsImage }
      state.isBusy = true
      return nil
    }
    if let reason { return reason }
    var (surface, layer) = state.withLock { ($0.surface, $0.layer) }
    defer { giveBack(surface, layer) }
    do {
      let used = try surface ?? make(area.size)
      surface = used
      guard used.canShow(sampleBuffer) else { return .needsImage }
      if !decoration.isShown(in: area) {
        layer = nil
      } else if layer?.area != area || layer?.revision != decoration.revision {
        layer = DecorationLayer(decoration, in: area)
      }
      try used.show(sampleBuffer, gravity: gravity, size: area.size, under: layer)
      noteShown(by: used)
      return .shown(by: .openGL)
    } catch {
      surface?.destroy()
      surface = nil
      noteFailure("\(error)")
      return .needsImage
    }
  }

  /// Stops drawing on the window, and releases the surface.
  ///
  /// - Parameter release: destroys the window, if that has to wait for the surface.
  /// - Returns: false when a frame was still being drawn at the end of ``patience``. The thread that draws it then
  ///   releases the surface, and calls `release`.
  @discardableResult
  func end(_ release: @escaping @Sendable () -> Void = {}) -> Bool {
    state.withLock { $0.hasEnded = true }
    _ = state.wait(until: .now.advanced(by: Self.patience)) { $0.isBusy ? nil : true }
    let surface = state.withLock { state -> GLWindowSurface?? in
      guard !state.isBusy else {
        state.afterwards.append(release)
        return nil
      }
      defer { state.surface = nil }
      return .some(state.surface)
    }
    guard let surface else { return false }
    surface?.destroy()
    release()
    return true
  }

  private func giveBack(_ surface: GLWindowSurface?, _ layer: DecorationLayer?) {
    let (unused, afterwards) = state.withLock { state in
      (state.isBusy, state.layer, state.surface) = (false, layer, surface)
      // Whoever still waits releases the surface.
      guard !state.afterwards.isEmpty else { return (GLWindowSurface?.none, state.afterwards) }
      defer { (state.surface, state.afterwards) = (nil, []) }
      return (surface, state.afterwards)
    }
    unused?.destroy()
    for work in afterwards { work() }
    state.wakeAll()
  }

  private func noteShown(by surface: GLWindowSurface) {
    let isFirst = state.withLock { state in
      defer { (state.failureCount, state.isAnnounced) = (0, true) }
      return !state.isAnnounced
    }
    if isFirst { Self.logger.info("OpenGL ES draws frames: \(surface.context.rendererName)") }
  }

  private func noteFailure(_ reason: String) {
    let count = state.withLock { state in
      state.failureCount += 1
      return state.failureCount
    }
    let isLast = count == Self.failureLimit
    let drawn = isLast ? "all frames from now on" : "this frame"
    Self.logger.notice("OpenGL ES has failed, so that the processor draws \(drawn): \(reason)")
  }
}
