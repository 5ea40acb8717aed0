import CGStreamer

/// What a run's streams do: they flow, stall, are heard, end, and go on after a jump.
extension PipelineRun {
  /// On a streaming thread: the stream's frames have another format from here on.
  func noteFormat(_ format: VideoFormatDescription, of id: StreamID) {
    status.tell { $0.update(id) { $0.format = format } }
    status.send(.formatChanged(id, format))
    // Its decoder may be a new one.
    updateDecoding()
  }

  /// On a streaming thread: a frame cannot be read and was left out.
  ///
  /// - Parameter caps: what memory it is in.
  func noteSkippedFrame(of id: StreamID, caps: String) {
    status.tell { engine in
      let count = engine.update(id) { info in
        info.skippedFrameCount += 1
        return info.skippedFrameCount
      }
      if count == 1 { engine.broadcast.send(.framesSkipped(id, caps: caps)) }
    }
  }

  /// On a streaming thread: the first frame of all, or after a stall.
  func streamFlows(_ id: StreamID) {
    let isOpen = progress.withLock { progress in
      progress.activity[id] = nil
      progress.stalledAfter[id] = nil
      if progress.playingSince == nil { progress.playingSince = clock.now }
      return progress.open.contains(id)
    }
    guard isOpen else { return }
    status.setStream(id, to: .playing)
    updateDecoding()
  }

  /// On the bus thread, every now and then.
  func watchFlows() {
    let timeout = status.stallTimeout
    guard !isToStandStill else { return forgiveSilence() }
    let now = clock.now
    let stalled = progress.withLock { progress in
      pipeline.streams.filter { stream in
        let (id, flow) = (stream.id, stream.flow)
        guard progress.open.contains(id), flow.isFlowing.load(ordering: .relaxed) else { return false }
        let count = flow.activity
        guard let seen = progress.activity[id], seen.count == count else {
          progress.activity[id] = (count, now)
          return false
        }
        guard now >= seen.since.advanced(by: timeout) else { return false }
        progress.stalledAfter[id] = flow.delivered.load(ordering: .relaxed)
        return true
      }
    }
    for stream in stalled {
      status.setStream(stream.id, to: .stalled)
      // From here on the next frame counts as a first one.
      stream.flow.isFlowing.store(false, ordering: .sequentiallyConsistent)
    }
    noteUnseenFrames()
    let silent = progress.withLock { progress in
      let silent = progress.heardAt.filter { now >= $0.value.advanced(by: timeout) }.keys
      for id in silent { progress.heardAt[id] = nil }
      return Array(silent)
    }
    for id in silent { status.tell { $0.observe(.microphone, of: id, .off) } }
  }

  /// A frame that comes while its stream's stall is told counts for one of before.
  private func noteUnseenFrames() {
    let unseen = progress.withLock { progress in
      pipeline.streams.filter { stream in
        guard let count = progress.stalledAfter[stream.id] else { return false }
        return stream.flow.delivered.load(ordering: .sequentiallyConsistent) != count
          && !stream.flow.isFlowing.exchange(true, ordering: .sequentiallyConsistent)
      }
    }
    for stream in unseen { streamFlows(stream.id) }
  }

  /// On the bus thread: a stream's sound has come.
  func noteSound(of id: StreamID) {
    progress.withLock { $0.heardAt[id] = clock.now }
    status.tell { $0.observe(.microphone, of: id, .on) }
  }

  /// What was silent for a reason starts to count anew.
  func forgiveSilence() {
    progress.withLock { progress in
      progress.activity = [:]
      for id in progress.heardAt.keys { progress.heardAt[id] = clock.now }
    }
  }

  /// After a jump, streams that had ended go on, but for those that cannot.
  func reopenEnded() {
    forgiveSilence()
    let reopened = progress.withLock { progress in
      let reopened = pipeline.streams.filter {
        !progress.broken.contains($0.id) && progress.open.insert($0.id).inserted
      }
      for stream in reopened { progress.outcomes[stream.id] = nil }
      return reopened
    }
    for stream in reopened {
      stream.flow.isFlowing.store(false, ordering: .relaxed)
      status.setStream(stream.id, to: .requesting)
    }
  }

  /// Counts streams out that ended or failed, each once, and says so. Where all have failed by then, the pipeline may
  /// be started again.
  func close(_ outcomes: [(id: StreamID, state: StreamPlayState)]) {
    let (closed, failure) = progress.withLock { progress in
      let closed = outcomes.filter { progress.open.remove($0.id) != nil }
      for (id, state) in closed { progress.outcomes[id] = state }
      return (closed, closed.isEmpty ? nil : progress.failure)
    }
    if let failure, status.restart(self, after: failure) { return }
    for (id, state) in closed { status.setStream(id, to: state) }
  }
}

extension PipelineRun.Progress {
  /// Why every stream has failed; nil where one is open, or has come to its end.
  fileprivate var failure: PipelineRun.Failure? {
    guard open.isEmpty else { return nil }
    var errors: [StreamID: PipSinkError] = [:]
    for (id, state) in outcomes {
      guard case .failed(let error) = state else { return nil }
      errors[id] = error
    }
    return PipelineRun.Failure(errors: errors, playingSince: playingSince)
  }
}
