import CGStreamer

/// What a run's streams do: they flow, stall, are heard, end, and go on after a jump.
extension PipelineRun {
  /// Has a stream's frames go to its consumer.
  func install(_ stream: Pipeline.Stream, consumer: any SampleBufferConsumer) {
    let id = stream.id
    guard let flow = flows[id] else { return }
    // Weak: the appsink, and so the pipeline, must not keep the run.
    let handlers = StreamSink.Handlers(
      formatChanged: { [weak self, status] format in
        status.update(id) { $0.format = format }
        status.send(.formatChanged(id, format))
        // Its decoder may be a new one.
        self?.updateDecoding()
      },
      flowing: { [weak self] in self?.streamFlows(id) },
      failed: { [weak self] error in self?.noteRefusal(of: id, error) ?? false },
      skipped: { [status] caps in
        var isFirst = false
        status.update(id) {
          $0.skippedFrameCount += 1
          isFirst = $0.skippedFrameCount == 1
        }
        if isFirst { status.send(.framesSkipped(id, caps: caps)) }
      }
    )
    if let kind = StreamElement.of(stream.sink) {
      StreamElementConsumer.install(on: stream.sink, kind, consumer: consumer, flow: flow, handlers: handlers)
    } else {
      StreamSink.install(on: stream.sink, consumer: consumer, flow: flow, handlers: handlers)
    }
  }

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
    let timeout = status.stallTimeout
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
    let reopened = progress.withLock { progress in
      pipeline.streams.map(\.id).filter { !progress.broken.contains($0) && progress.open.insert($0).inserted }
    }
    for id in reopened {
      flows[id]?.isFlowing.store(false, ordering: .relaxed)
      status.setStream(id, to: .requesting)
    }
  }

  /// Counts streams out that ended or failed, each once, and says so.
  func close(_ ids: [StreamID], _ state: StreamPlayState) {
    let closed = progress.withLock { progress in ids.filter { progress.open.remove($0) != nil } }
    for id in closed { status.setStream(id, to: state) }
  }
}
