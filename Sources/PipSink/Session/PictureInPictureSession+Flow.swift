/// Whether the streams' frames flow: pushed streams may stall, and all may freeze.
extension PictureInPictureSession {
  /// How often to look when nothing says when to look next.
  private static let pause = Duration.milliseconds(500)

  /// Whether a stream that plays has to deliver frames now: not while it is paused, hidden from its source or from its
  /// decoder, while its camera is off, or where it sends only what changes.
  private func expectsFrames(of id: StreamID, _ stream: SessionStream) -> Bool {
    guard stream.state == .playing || stream.state == .stalled, !isPlaybackPaused, !stream.isPaused,
      !stream.isScreenShare, stream.placeholder != .cameraOff, let info = engine.info(of: id)
    else { return false }
    if info.isDecodingSuspended || stream.upstream != nil && info.demand == .hidden { return false }
    return stream.stallTimeout != nil || !engine.inputIDs.contains(id)
  }

  /// Says to the router which gaps in the flow of a stream are no freezes, after anything has changed on which that
  /// depends.
  func updateGap(of id: StreamID) {
    guard let stream = known[id] else { return }
    let isExpected = expectsFrames(of: id, stream)
    router.setGapExpected(!isExpected, of: id)
    if isExpected { watchFlow() }
  }

  /// Sets whether a pushed stream is paused by its owner.
  package func setPaused(_ isPaused: Bool, of id: StreamID) {
    guard let stream = known[id], stream.isPaused != isPaused else { return }
    known[id]?.isPaused = isPaused
    updateGap(of: id)
    updateWatched()
  }

  /// Sets after how long without a frame a pushed stream counts as stalled; nil for never.
  package func setStallTimeout(_ timeout: Duration?, of id: StreamID) {
    guard let stream = known[id] else { return }
    let new = timeout.map { max(.milliseconds(10), $0) }
    guard stream.stallTimeout != new else { return }
    known[id]?.stallTimeout = new
    if stream.state == .playing { beginFlow(of: id) }
    updateGap(of: id)
  }

  /// Counts the time without a frame of a pushed stream from now on.
  func beginFlow(of id: StreamID) {
    guard let stream = known[id] else { return }
    let count = router.flow(of: id)?.received ?? 0
    known[id]?.flow = stream.stallTimeout == nil ? nil : (count, engine.status.clock.now)
    watchFlow()
  }

  /// Looks from time to time whether frames come, as long as a stream may stall or freeze.
  private func watchFlow() {
    guard flowWatch == nil else { return }
    let clock = engine.status.clock
    flowWatch = Task { [weak self] in
      while let pause = self?.lookAtFlow(at: clock.now), !Task.isCancelled {
        try? await clock.sleep(until: clock.now.advanced(by: pause))
      }
    }
  }

  /// - Returns: how long to wait before looking again; nil when no stream can stall or freeze.
  private func lookAtFlow(at now: MonotonicTime) -> Duration? {
    var next: Duration?
    for (id, stream) in known {
      guard let flow = router.flow(of: id) else { continue }
      for pause in [lookForStall(of: id, stream, flow, at: now), lookForFreeze(of: id, stream, flow)] {
        if let pause { next = min(next ?? pause, pause) }
      }
    }
    if next == nil { flowWatch = nil }
    return next
  }

  /// Notes that a pushed stream has stalled: no frame has come for too long, none waits for its time, and its source is
  /// none that may be silent.
  private func lookForStall(
    of id: StreamID, _ stream: SessionStream, _ flow: StreamRoute.Flow, at now: MonotonicTime
  ) -> Duration? {
    guard let old = stream.flow, let timeout = stream.stallTimeout else { return nil }
    let limit = flow.format?.stallTime(atLeast: timeout) ?? timeout
    if flow.received != old.frameCount || !expectsFrames(of: id, stream) {
      known[id]?.flow = (flow.received, now)
    } else if now >= old.since.advanced(by: limit) {
      guard stream.upstream?.maySendNothing(hasVariableRate: flow.format?.frameRate.numerator == 0) != true else {
        known[id]?.flow = (flow.received, now)
        return min(Self.pause, timeout / 4)
      }
      setInput(id, to: .stalled)
      return nil
    }
    return min(Self.pause, timeout / 4)
  }

  /// Has a keyframe requested from the source of a stream that is frozen.
  private func lookForFreeze(of id: StreamID, _ stream: SessionStream, _ flow: StreamRoute.Flow) -> Duration? {
    let isPushed = engine.inputIDs.contains(id)
    guard expectsFrames(of: id, stream), stream.upstream != nil || !isPushed else {
      setFrozen(false, of: id)
      return nil
    }
    // The frames' times are those of the machine's clock.
    let time = flow.freezesAt.map { MonotonicTime.now.duration(to: $0) }
    setFrozen(time.map { $0 <= .zero } ?? false, of: id)
    guard let time, time > .zero else { return Self.pause }
    return min(time + .milliseconds(1), Self.pause)
  }

  private func setFrozen(_ isFrozen: Bool, of id: StreamID) {
    guard let stream = known[id], stream.isFrozen != isFrozen else { return }
    known[id]?.isFrozen = isFrozen
    stream.upstream?.isFrozen = isFrozen
    engine.setFrozen(isFrozen, of: id)
  }
}
