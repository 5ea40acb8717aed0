import PipSink

/// Frames that OpenGL draws.
///
/// OpenGL attaches what it has drawn to the surface and commits that itself, on the presenting thread, and may wait for
/// the compositor. So the lock is not held meanwhile. All that belongs to the commit is requested before, and what other
/// threads have wanted of the surface meanwhile is done afterwards.
extension WaylandTile {
  /// Whether OpenGL draws the frames. Without wp_viewporter, and in a toolkit's windows, whose lowest row is a picture of
  /// its own, the processor does.
  var mayDraw: Bool {
    globals.renderer == .openGL && state.withLock { $0.graphics.map { !$0.hasFailed } ?? false }
  }

  /// Makes what draws on the surface, if that was chosen. Nothing is opened before the first frame.
  func attachGraphics(_ state: inout State) {
    guard globals.renderer == .openGL, globals.viewporter != nil, !isForeign, let surface = state.surface else {
      return
    }
    let (loop, native) = (loop, surface.native)
    state.graphics = GLTileSurface(following: state.graphics) { size throws(PipSinkError) in
      try GLWindowSurface(GLDisplay(.wayland(loop)), .wayland(native.pointer, size: size))
    }
  }

  /// Draws a frame with what is over it. If the compositor does not want one yet, the layer is asked for its newest one
  /// as soon as it does.
  func draw(_ sampleBuffer: SampleBuffer, gravity: VideoGravity, in area: PictureRect) -> FrameOutcome {
    let frame = ScreenTime.Frame(sampleBuffer)
    // Before anybody wants another decoration over the frame, it must be known that there is no image of it.
    pictures.withLock { $0.show(sampleBuffer, gravity: gravity, at: area.size) }
    guard let turn = state.withLock({ begin(frame, at: area.size, &$0) }) else { return .leftOut }
    let outcome = turn.graphics.show(sampleBuffer, gravity: gravity, in: area, under: decoration)
    let mustAsk = state.withLock { end(turn, isDrawn: outcome == .shown(by: .openGL), &$0) }
    loop.flush()
    if mustAsk { needsDisplay() }
    return outcome
  }

  /// A frame that is being drawn.
  private struct Turn {
    let graphics: GLTileSurface
    let place: Place
    let callback: WaylandProxy?
    /// The number of the question when the frame is on the screen, if that is asked.
    let question: UInt?
  }

  /// Makes the requests that come before the commit of a drawn frame.
  ///
  /// - Returns: nil when the frame is not drawn now.
  private func begin(_ frame: ScreenTime.Frame?, at size: PictureSize, _ state: inout State) -> Turn? {
    // The layer is asked again after a change of the size.
    guard let graphics = state.graphics, state.surface != nil, let place = state.place, place.pixels == size else {
      return nil
    }
    guard state.callback == nil, state.drawing == nil else {
      (state.next, state.isOwed) = (nil, true)
      return nil
    }
    let count = state.questionCount
    prepare(Next(picture: .drawn, size: size, times: frame), at: place, &state)
    (state.drawing, state.isOwed) = (graphics, false)
    return Turn(
      graphics: graphics, place: place, callback: state.callback,
      question: state.questionCount == count ? nil : state.questionCount)
  }

  /// Does what other threads have wanted meanwhile.
  ///
  /// - Returns: whether the layer has to be asked for its newest frame.
  private func end(_ turn: Turn, isDrawn: Bool, _ state: inout State) -> Bool {
    // The tile may have left its window, and may have another one.
    guard state.drawing === turn.graphics else { return false }
    state.drawing = nil
    if isDrawn {
      state.shown = .drawn
    } else {
      // There was no commit, so no answers come.
      if let callback = state.callback, callback === turn.callback {
        callback.destroy()
        state.callback = nil
      }
      if let question = turn.question { state.questions.removeValue(forKey: question)?.destroy() }
    }
    if state.place != turn.place { applyPlace(&state) }
    if state.shown != nil, state.surface?.setOpacity(state.opacity) == true { state.surface?.commit() }
    guard state.callback == nil else { return false }
    if let next = state.next { commit(next, &state) }
    defer { state.isOwed = false }
    return state.isOwed
  }
}
