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

  /// Sets who tells the elements before a stream's frames of its demand.
  package func setUpstream(_ upstream: UpstreamDemand, of id: StreamID) {
    known[id]?.upstream = upstream
    upstream.set(engine.info(of: id)?.demand ?? .hidden)
  }
}
