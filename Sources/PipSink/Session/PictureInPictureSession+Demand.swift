import CGStreamer
import Logging

/// How large the streams' pictures have to be.
extension PictureInPictureSession {
  /// Finds the demand of every stream, and tells everybody of those that have changed.
  func updateDemand() {
    router.demandNotice.begin()
    let clock = engine.status.clock
    var next: MonotonicTime?
    for id in known.keys.sorted() {
      guard var stream = known[id], let old = engine.info(of: id)?.demand else { continue }
      let (new, later) = stream.demandDelay.demand(after: old, asking: demandNow(of: id, stream), at: clock.now)
      known[id]?.demandDelay = stream.demandDelay
      next = [next, later].compactMap(\.self).min()
      guard new != old else { continue }
      engine.setDemand(new, of: id)
      if stream.chain != nil { stream.upstream?.suspendsDecoder = !engine.isBackgroundDecodingEnabled }
      stream.upstream?.set(new)
      updateGap(of: id)
      emit(.demandChanged(id, new))
    }
    demandWatch?.cancel()
    demandWatch = next.map { moment in
      Task { [weak self] in
        try? await clock.sleep(until: moment)
        if !Task.isCancelled { self?.updateDemand() }
      }
    }
  }

  /// What is asked for at this moment. A stream that waits for its picture is covered wherever it is to be shown, and
  /// needs one nevertheless.
  private func demandNow(of id: StreamID, _ stream: SessionStream) -> StreamDemand {
    guard !stream.state.isOver, stream.state != .stopped, stream.placeholder != .cameraOff else { return .hidden }
    return router.demand(of: id, countingHidden: stream.state != .playing) ?? .hidden
  }

  /// Makes what tells the elements before a sink pad of a pushed stream's demand.
  package func makeUpstream(before pad: UnsafeMutablePointer<GstPad>, of id: StreamID) -> UpstreamDemand {
    let status = engine.status
    return UpstreamDemand(before: pad, clock: status.clock) { isSuspended, refusal in
      status.setDecodingSuspended(isSuspended, of: id)
      guard let refusal else { return }
      Logger(visible: "pipsink.session").warning("stream \"\(id)\" is decoded while it is hidden: \(refusal)")
    }
  }

  /// Sets who tells the elements before a stream's frames of its demand, in place of who did so before; nil for nobody.
  package func setUpstream(_ upstream: UpstreamDemand?, of id: StreamID) {
    known[id]?.upstream?.end()
    known[id]?.upstream = upstream
    known[id]?.isFrozen = false
    engine.status.setDecodingSuspended(false, of: id)
    guard let upstream, let stream = known[id] else { return }
    // A stream that has just been added may be visible already.
    updateDemand()
    if stream.chain != nil { upstream.suspendsDecoder = !engine.isBackgroundDecodingEnabled }
    let demand = engine.info(of: id)?.demand ?? .hidden
    if demand != .hidden { upstream.set(demand) } else { hide(upstream, of: id) }
    updateGap(of: id)
  }

  /// Tells that a new stream is hidden if it is so for as long as less has to be asked for otherwise: what shows it may
  /// come a moment later, and without one of its frames a decoder waits for the next keyframe.
  private func hide(_ upstream: UpstreamDemand, of id: StreamID) {
    let clock = engine.status.clock
    Task { [weak self, weak upstream] in
      try? await clock.sleep(until: clock.now.advanced(by: DemandDelay.duration))
      guard let self, let upstream, known[id]?.upstream === upstream else { return }
      upstream.set(engine.info(of: id)?.demand ?? .hidden)
    }
  }
}
