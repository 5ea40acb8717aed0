import CGStreamer

/// The states of a run's streams: they flow, stall, have sound, end, and go on after a seek.
extension PipelineRun {
  /// Notes the format of a stream's next frames. Called on a streaming thread.
  func noteFormat(_ format: VideoFormatDescription, of id: StreamID) {
    report { $0.update(id) { $0.format = format } }
    send(.formatChanged(id, format))
    // The stream may have a new decoder.
    updateDecoding()
  }

  /// Notes that a frame was skipped because it cannot be read. Called on a streaming thread.
  ///
  /// - Parameters:
  ///   - id: the stream.
  ///   - caps: the frame's caps, which name its memory.
  func noteSkippedFrame(of id: StreamID, caps: String) {
    report { engine in
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
      return progress.open.contains(id)
    }
    guard isOpen else { return }
    setStream(id, to: .playing)
    // Elements that have been added since have not been told, and a source that has come back may have forgotten.
    toldDemands.withLock { $0[id] = nil }
    updateDecoding()
  }

  /// Finds the streams that have stalled or fallen silent. Called on the run's thread, at regular intervals.
  func watchFlows() {
    let timeout = stallTimeout
    guard !isToStandStill else { return forgiveSilence() }
    let now = clock.now
    let sounds = pipeline.otherSinks
    defer { for sink in sounds { gst_object_unref(sink) } }
    for stream in pipeline.streams where hasStalled(stream, beside: sounds, at: now) {
      progress.withLock { $0.stalledAfter[stream.id] = stream.flow.delivered.load(ordering: .relaxed) }
      setStream(stream.id, to: .stalled)
      // From now on the next frame counts as a first frame.
      stream.flow.isFlowing.store(false, ordering: .sequentiallyConsistent)
    }
    noteUnseenFrames()
    reportMissingOutputs()
    let silent = progress.withLock { progress in
      let silent = progress.lastSounds.filter { now >= $0.value.advanced(by: timeout) }.keys
      for id in silent { progress.lastSounds[id] = nil }
      return Array(silent)
    }
    for id in silent { report { $0.observe(.microphone, of: id, .off) } }
  }

  /// Whether a stream that plays has lost its source: no frame has come for too long, and neither has sound from the same
  /// source, no frame waits for its time, the stream is not a still picture, and its source is none that may be silent.
  private func hasStalled(_ stream: Pipeline.Stream, beside sinks: [GstElementPointer], at now: MonotonicTime) -> Bool {
    let (id, isFlowing) = (stream.id, stream.flow.isFlowing.load(ordering: .relaxed))
    let new = Activity(
      frames: stream.flow.activity, sound: pipeline.renderedCount(of: sinks, sharingTheSourceOf: stream), since: now)
    let old = progress.withLock { progress -> Activity? in
      guard progress.open.contains(id) else { return nil }
      let old = progress.activity[id]
      if old?.frames != new.frames || old?.sound != new.sound { progress.activity[id] = new }
      return old
    }
    guard let old else { return false }
    guard old.frames == new.frames, old.sound == new.sound else {
      // A stream whose frames have not come yet has a source that works.
      if !isFlowing, old.sound != new.sound { player?.pipelineIsBuffering(self) }
      return false
    }
    let format = engine.info(of: id)?.format
    let stallTime = format?.stallTime(atLeast: stallTimeout) ?? stallTimeout
    return isFlowing && now >= old.since.advanced(by: stallTime) && !stream.isWaiting
      && !stream.isAtEnd && !pipeline.maySendNothing(stream, hasVariableRate: format?.frameRate.numerator == 0)
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
    progress.withLock { $0.lastSounds[id] = clock.now }
    report { $0.observe(.microphone, of: id, .on) }
  }

  /// Restarts all time-outs, after the streams were silent for a reason.
  func forgiveSilence() {
    progress.withLock { progress in
      progress.activity = [:]
      for id in progress.lastSounds.keys { progress.lastSounds[id] = clock.now }
    }
  }

  /// Reopens, after a seek, the streams that had ended, except those that are broken.
  func reopenEnded() {
    forgiveSilence()
    let reopened = progress.withLock { progress in
      pipeline.streams.filter { !progress.broken.contains($0.id) && progress.open.insert($0.id).inserted }
    }
    for stream in reopened {
      stream.flow.isFlowing.store(false, ordering: .relaxed)
      setStream(stream.id, to: .requesting)
    }
  }

  /// Closes streams that have ended or failed, each once, and reports their states.
  func close(_ outcomes: [(id: StreamID, state: StreamPlayState)]) {
    countLateFrames()
    let closed = progress.withLock { progress in outcomes.filter { progress.open.remove($0.id) != nil } }
    player?.streams(of: self, didChange: closed)
  }
}

extension PipelineRun {
  /// What has become of the run's streams. Three facts are noted separately, each once and in any order: that a stream
  /// has ended or failed (it is not `open`), that it cannot deliver frames any more (it is `broken`), and that its
  /// branch has been removed from the pipeline (it is `isolated`).
  struct Progress {
    /// Streams that have neither ended nor failed.
    var open: Set<StreamID>
    /// Streams that need an element that has failed, or that refuse what they get; possibly after they had ended.
    var broken: Set<StreamID> = []
    /// Broken streams whose branches have been removed from the pipeline.
    var isolated: Set<StreamID> = []
    /// Why streams refuse what they get. Streaming threads write it, and the run's thread removes it.
    var refusals: [StreamID: PipSinkError] = [:]
    /// Descriptions of plugins that decodebins miss, by the streams that need them.
    var missingPlugins: [StreamID: [String]] = [:]
    /// For each stream, what had come when that was first seen.
    var activity: [StreamID: Activity] = [:]
    /// For each stalled stream, the number of frames that it had delivered.
    var stalledAfter: [StreamID: UInt64] = [:]
    /// For each stream, when its `level` element last reported.
    var lastSounds: [StreamID: MonotonicTime] = [:]
    /// Streams that end when their sound ends, and why.
    var endings: [StreamID: Ending] = [:]
    /// Why outputs for sound are missing that may have no sound to play.
    var missingOutputs: [AudioElement.ID: PipSinkError] = [:]
    var isBuffering = false
  }

  /// What has come of a stream, and when it was first seen.
  struct Activity {
    let frames: UInt64
    /// The number of buffers of its sound that were played.
    let sound: UInt64
    let since: MonotonicTime
  }

  /// Why a stream ends when its sound ends.
  enum Ending {
    /// The source has no video for it.
    case hasNoVideo
    /// Its video has ended before its sound.
    case videoHasEnded
  }
}
