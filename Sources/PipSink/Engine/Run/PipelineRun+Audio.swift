import CGStreamer

/// The handling of the pipeline's audio branches during a run.
extension PipelineRun {
  /// Opens the outputs for sound, and removes the branches of those that do not open, or not within three seconds because
  /// their sound server does not answer. The pictures wait for that.
  func openOutputs() {
    let changes = change(outputsTo: GST_STATE_READY)
    let deadline = MonotonicTime.now.advanced(by: .seconds(3))
    for (output, change) in changes {
      let isOpen = change.wait(until: deadline)
      guard isOpen != true else { continue }
      let silence = PipSinkError.Pipeline.elementFailed(
        element: output.elementName, message: "the sound server does not answer", detail: nil)
      let (error, source) = isOpen == nil ? (.pipeline(silence), nil) : takeFirstError()
      if let source { gst_object_unref(source) }
      _ = removeAudio(output.asObject, after: error, isRunning: false)
    }
  }

  /// Closes the outputs for sound before the rest of the pipeline. Where one has not closed within a second, its sound
  /// server does not answer, so that the pipeline cannot stop: it is abandoned, and the thread waits for the output.
  func closeOutputs() {
    let changes = change(outputsTo: GST_STATE_NULL)
    let deadline = MonotonicTime.now.advanced(by: .seconds(1))
    guard changes.contains(where: { $1.wait(until: deadline) == nil }) else { return }
    abandon()
    // An output that reports an error holds its lock and takes that of the pipeline. A change of the pipeline takes them
    // in the other order, so it must not begin meanwhile.
    for (_, change) in changes { _ = change.wait() }
  }

  /// Changes the state of the outputs for sound, each on a thread of its own.
  ///
  /// - Returns: the outputs, and whether they could be changed, once that is known.
  private func change(outputsTo state: GstState) -> [(GstElementPointer, Completion<Bool>)] {
    pipeline.ends.filter { pipeline.isAudio($0.asObject) }.map { ($0, pipeline.change($0, to: state)) }
  }

  /// Removes the branch of an audio element that has failed, so that pictures can go on. Once data flow, the video
  /// branches of the same source have stopped as well, because the element's flow return has reached the source.
  ///
  /// - Returns: false when `source` is not an audio element.
  func removeAudio(
    _ source: UnsafeMutablePointer<GstObject>, after error: PipSinkError, isRunning: Bool
  ) -> Bool {
    guard pipeline.isAudio(source) else { return false }
    let stopped = isRunning ? pipeline.streams(sharingSourceWith: source) : []
    pipeline.removeBranches(through: source)
    send(.audioFailed(error))
    audioOutputs.removeLost()
    for (id, ending) in takeEndings() {
      if ending == .hasNoVideo {
        noteBroken(pipeline.streams.filter { $0.id == id }, error)
      } else {
        close([(id, .ended)])
      }
    }
    noteBroken(stopped, error)
    isolateBroken()
    return true
  }

  /// Handles messages that concern sound. Called on the run's thread.
  ///
  /// - Returns: whether the message needs no further handling.
  func handleAudio(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    guard let source = message.pointee.src else { return false }
    switch message.pointee.type {
    case GST_MESSAGE_STATE_CHANGED where source == pipeline.element.asObject:
      // Now the delayed links exist, from which it follows which element belongs to which stream.
      audioOutputs.apply()
      reportMissingOutputs()
    case GST_MESSAGE_REQUEST_STATE:
      var wanted = GST_STATE_NULL
      gst_message_parse_request_state(message, &wanted)
      applySilence(source, isToBeStill: wanted != GST_STATE_PLAYING)
      return true
    case GST_MESSAGE_APPLICATION where BusNote.muteChanged.isIn(message):
      // A server that has silenced a pipeline which does not pause sends no request when that is over.
      if audioOutputs.isAudibleAgain(AudioElement.id(of: source)) { applySilence(source, isToBeStill: false) }
      return true
    case GST_MESSAGE_ELEMENT:
      guard let level = AudioLevel(message), pipeline.contains(source) else { return false }
      let element = UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstElement.self)
      if let id = pipeline.owner(of: element) {
        noteSound(of: id)
        send(.audioLevel(id, level))
      }
      return true
    case GST_MESSAGE_WARNING where BusMessage.isDelayedLinkFailure(message):
      return leaveOut(waitingFor: source)
    case GST_MESSAGE_WARNING where pipeline.isAudio(source) && BusMessage.isAboutResource(message):
      // An autoaudiosink has found no output, and goes on without sound.
      guard case .warning(let element, let text, let detail) = BusMessage.warning(in: message) else { return false }
      let error = PipSinkError.pipeline(.elementFailed(element: element, message: text, detail: detail))
      guard let output = pipeline.topLevelElement(of: source) else { return false }
      progress.withLock { $0.missingOutputs[AudioElement.id(of: output)] = error }
      reportMissingOutputs()
      return true
    case GST_MESSAGE_APPLICATION where pipeline.hasSoundOfItsStream:
      // The stream ends when its sound has ended, which comes after the last picture.
      guard let stream = pipeline.endedStream(message) else { return false }
      progress.withLock { $0.endings[stream.id] = .videoHasEnded }
      return true
    case GST_MESSAGE_EOS:
      close(takeEndings().keys.map { ($0, .ended) })
    default: break
    }
    return false
  }

  /// Removes and returns the streams that wait for the end of their sound, after that has ended or was removed.
  private func takeEndings() -> [StreamID: Ending] {
    progress.exchange(\.endings, [:])
  }

  /// Reports outputs for sound that are missing, unless there is no sound for them: they may wait for a pad that the
  /// source does not add. Called on the run's thread.
  func reportMissingOutputs() {
    let missing = progress.withLock { $0.missingOutputs }
    guard !missing.isEmpty else { return }
    for end in pipeline.ends where !pipeline.isWaiting(end) {
      guard let error = progress.withLock({ $0.missingOutputs.removeValue(forKey: AudioElement.id(of: end)) })
      else { continue }
      send(.audioFailed(error))
    }
  }

  /// Follows a sound server's request to be silent or to play again.
  private func applySilence(_ source: UnsafeMutablePointer<GstObject>, isToBeStill: Bool) {
    let id = AudioElement.id(of: source)
    guard audioOutputs.setSilencedByServer(id, isToBeStill) else { return }
    if isToBeStill { engine.audioSession.beginRequest(of: id) } else { engine.audioSession.endRequests(of: [id]) }
  }

  /// Removes branches for which a source has no pad, such as the audio branch of a file without sound. If they stayed,
  /// the other branches would wait for them.
  private func leaveOut(waitingFor source: UnsafeMutablePointer<GstObject>) -> Bool {
    guard let streams = pipeline.removeBranches(waitingFor: source) else { return false }
    audioOutputs.removeLost()
    for id in streams {
      progress.withLock { $0.endings[id] = .hasNoVideo }
      report { $0.update(id) { $0.hasNoVideo = true } }
      setStream(id, to: .playing)
      send(.streamHasNoVideo(id))
    }
    updateState()
    return true
  }
}
