import CGStreamer

/// What a run's streams do: they flow, stall, are heard, end, and go on after a jump.
extension PipelineRun {
  /// On a streaming thread: the first frame of all, or after a stall.
  func streamFlows(_ id: StreamID) {
    let isOpen = progress.withLock { progress in
      progress.activity[id] = nil
      progress.stalledAfter[id] = nil
      return progress.open.contains(id)
    }
    guard isOpen else { return }
    status.setStream(id, to: .playing)
    updateDecoding()
  }

  /// On the bus thread, every now and then.
  func watchFlows() {
    let timeout = status.state.withLock { $0.stallTimeout }
    guard !isToStandStill else { return forgiveSilence() }
    let now = clock.now
    let stalled = progress.withLock { progress in
      progress.open.filter { id in
        guard let flow = flows[id], flow.isFlowing.load(ordering: .relaxed) else { return false }
        let count = flow.activity
        guard let seen = progress.activity[id], seen.count == count else {
          progress.activity[id] = (count, now)
          return false
        }
        guard now >= seen.since.advanced(bySeconds: timeout) else { return false }
        progress.stalledAfter[id] = flow.delivered.load(ordering: .relaxed)
        return true
      }
    }
    for id in stalled {
      status.setStream(id, to: .stalled)
      // From here on the next frame counts as a first one.
      flows[id]?.isFlowing.store(false, ordering: .sequentiallyConsistent)
    }
    noteUnseenFrames()
    let silent = progress.withLock { progress in
      let silent = progress.heardAt.filter { now >= $0.value.advanced(bySeconds: timeout) }.keys
      for id in silent { progress.heardAt[id] = nil }
      return Array(silent)
    }
    for id in silent { status.observe(StreamDevice(id, .microphone), .off) }
  }

  /// A frame that comes while its stream's stall is told counts for one of before.
  private func noteUnseenFrames() {
    let unseen = progress.withLock { progress in
      progress.stalledAfter.filter { id, count in flows[id]?.delivered.load(ordering: .sequentiallyConsistent) != count
      }
      .keys.filter { flows[$0]?.isFlowing.exchange(true, ordering: .sequentiallyConsistent) == false }
    }
    for id in unseen { streamFlows(id) }
  }

  /// On the bus thread: a stream's sound has come.
  func noteSound(of id: StreamID) {
    progress.withLock { $0.heardAt[id] = clock.now }
    status.observe(StreamDevice(id, .microphone), .on)
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
    for stream in pipeline.streams where status.info(of: stream.id)?.state == .ended {
      let isWhole = progress.withLock { progress in
        guard !progress.broken.contains(stream.id) else { return false }
        progress.open.insert(stream.id)
        return true
      }
      guard isWhole else { continue }
      flows[stream.id]?.isFlowing.store(false, ordering: .relaxed)
      status.setStream(stream.id, to: .requesting)
    }
  }

  /// Counts streams out that ended or failed, each once, and says so.
  func close(_ ids: [StreamID], _ state: StreamPlayState) {
    let closed = progress.withLock { progress in ids.filter { progress.open.remove($0) != nil } }
    for id in closed { status.setStream(id, to: state) }
  }
}
