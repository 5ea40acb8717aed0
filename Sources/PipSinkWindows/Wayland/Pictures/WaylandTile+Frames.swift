import PipSink

/// Frames that the compositor reads itself.
extension WaylandTile {
  /// The compositor may read the frame where it is, because its memory is shared by devices and it is shown as it is.
  func mayShowDirectly(_ sampleBuffer: SampleBuffer) -> Bool {
    memories != nil && sampleBuffer.pixelBuffer.dmabufMemory != nil && sampleBuffer.orientation == .upright
      && sampleBuffer.colorBalance == .neutral
  }

  /// Has the compositor read a frame.
  ///
  /// - Returns: false when the program has to draw it.
  func showDirectly(_ sampleBuffer: SampleBuffer, gravity: VideoGravity, in area: PictureRect) -> Bool {
    let isDecorated = decoration.isShown(in: area)
    let (drawn, opacity) = state.withLock { ($0.decoration, $0.opacity) }
    // A picture and what is over it are as transparent as one.
    guard !isDecorated || opacity == .max, let memories,
      let source = gravity.source(of: sampleBuffer, filling: area.size),
      let memory = memories.memory(of: sampleBuffer, answered: { [weak self] in self?.didAnswer($0) }),
      memory.answer != .refused
    else { return false }
    var layer: DecorationLayer?
    if isDecorated {
      let isSame = drawn?.area == area && drawn?.revision == decoration.revision
      layer = isSame ? drawn : DecorationLayer(decoration, in: area)
    }
    let frame = WaylandFrame(sampleBuffer, memory, source: source, under: layer)
    return pictures.withLock { pictures in
      guard send(frame, at: area.size) else { return false }
      pictures.show(sampleBuffer, gravity: gravity, at: area.size)
      return true
    }
  }

  /// Has the compositor read a frame, now or as soon as that has said that it can.
  ///
  /// - Returns: false when it cannot.
  private func send(_ frame: WaylandFrame, at size: PictureSize) -> Bool {
    state.withLock { state in
      state.decoration = frame.decoration
      switch frame.memory.answer {
      case .refused: return false
      case .awaited:
        (state.asked, state.next) = ((frame, size), nil)
        loop.flush()
      case .accepted: send(Next(frame, at: size), &state)
      }
      return true
    }
  }

  /// Called when the compositor has said whether it reads a memory. What it refuses is drawn by the program.
  private func didAnswer(_ memory: WaylandFrameMemory) {
    let mustDraw = state.withLock { state in
      guard let asked = state.asked, asked.frame.memory === memory else { return false }
      state.asked = nil
      guard memory.answer == .accepted else { return true }
      send(Next(asked.frame, at: asked.size), &state)
      return false
    }
    if mustDraw { needsDisplay() }
  }
}
