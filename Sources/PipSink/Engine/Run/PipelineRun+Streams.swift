import CGStreamer

/// The states of a run's streams: they flow, stall, have sound, end, and go on after a seek.
extension PipelineRun {
  /// Notes the format of a stream's next frames. Called on a streaming thread.
  func noteFormat(_ format: VideoFormatDescription, of id: StreamID) {
    status.tell { $0.update(id) { $0.format = format } }
    status.send(.formatChanged(id, format))
    // The stream may have a new decoder.
    updateDecoding()
  }

  /// Notes that a frame was skipped because it cannot be read. Called on a streaming thread.
  ///
  /// - Parameters:
  ///   - id: the stream.
  ///   - caps: the frame's caps, which name its memory.
  func noteSkippedFrame(of id: StreamID, caps: String) {
    status.tell { engine in
      let count = engine.update(id) { info in
        info.skippedFrameCount += 1
        return info.skippedFrameCount
      }
      if count == 1 { engine.broadcast.send(.framesSkipped(id, caps: caps)) }
    }
  }

  /// Notes the first frame of a stream, or its first frame after a stall. Called on a streaming thread.
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

  /// Finds the streams that have stalled or fallen silent. Called on the run's thread, at regular intervals.
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
      // From now on the next frame counts as a first frame.
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

  /// Finds frames that came while the stall of their stream was being reported. They have not been noticed as first
  /// frames.
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

  /// Notes that a stream has sound. Called on the run's thread.
  func noteSound(of id: StreamID) {
    progress.withLock { $0.heardAt[id] = clock.now }
    status.tell { $0.observe(.microphone, of: id, .on) }
  }

  /// Restarts all time-outs, after the streams were silent for a reason.
  func forgiveSilence() {
    progress.withLock { progress in
      progress.activity = [:]
      for id in progress.heardAt.keys { progress.heardAt[id] = clock.now }
    }
  }

  /// Reopens, after a seek, the streams that had ended, except those that are broken.
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

  /// Closes streams that have ended or failed, each once, and reports their states. When all have failed, the pipeline
  /// may be restarted instead.
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
  /// The errors of all streams; nil when a stream is open or has ended without an error.
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
