import CGStreamer

/// What a run does about the audio branches of its pipeline.
extension PipelineRun {
  func attachAudio() {
    let outputs = AudioOutputs(pipeline, of: audioSession, interruptionChanged: { [weak self] in self?.settle() })
    audioOutputs.withLock { $0 = outputs }
    audioSession.attach(outputs)
  }

  func detachAudio() {
    let outputs = audioOutputs.withLock { outputs in
      defer { outputs = nil }
      return outputs
    }
    guard let outputs else { return }
    audioSession.detach(outputs)
    outputs.close()
  }

  /// Takes a branch out that an audio element has failed in, and leaves the pictures. Once data flow, those of the
  /// same source have stopped, too: what the element answers goes up to where both come from.
  ///
  /// - Returns: false when it is no audio element.
  func removeAudio(
    _ source: UnsafeMutablePointer<GstObject>, after error: PipSinkError, isRunning: Bool
  ) -> Bool {
    guard pipeline.isAudio(source) else { return false }
    let stopped = isRunning ? pipeline.streams(sharingSourceWith: source) : []
    pipeline.removeBranches(through: source)
    audioSession.report(.failed(error))
    guard let outputs = audioOutputs.withLock({ $0 }) else { return true }
    outputs.removeLost()
    for (id, ending) in outputs.takeEndings() {
      if ending == .hasNoVideo {
        noteBroken(pipeline.streams.filter { $0.id == id }, error)
      } else {
        close([id], .ended)
      }
    }
    noteBroken(stopped, error)
    isolateBroken()
    return true
  }

  /// On the bus thread.
  ///
  /// - Returns: whether the message has been dealt with.
  func handleAudio(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    guard let source = message.pointee.src, let outputs = audioOutputs.withLock({ $0 }) else { return false }
    switch message.pointee.type {
    case GST_MESSAGE_STATE_CHANGED where source == pipeline.element.asObject:
      // By now the links that waited for pads are there, and with them it is known what belongs to which stream.
      outputs.apply()
    case GST_MESSAGE_REQUEST_STATE:
      var wanted = GST_STATE_NULL
      gst_message_parse_request_state(message, &wanted)
      obey(source, isToBeStill: wanted != GST_STATE_PLAYING, outputs)
      return true
    case GST_MESSAGE_APPLICATION where AudioElement.isMuteChange(message):
      // A server that silences what does not pause does not say when that is over.
      if outputs.isAudibleAgain(AudioElement.id(of: source)) { obey(source, isToBeStill: false, outputs) }
      return true
    case GST_MESSAGE_ELEMENT:
      guard let level = AudioLevel(message), pipeline.contains(source) else { return false }
      let element = UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstElement.self)
      if let id = pipeline.owner(of: element) {
        noteSound(of: id)
        audioSession.report(.level(id, level))
      }
      return true
    case GST_MESSAGE_WARNING where BusMessage.isDelayedLinkFailure(message):
      return leaveOut(outputs, waitingFor: source)
    case GST_MESSAGE_WARNING where pipeline.isAudio(source) && BusMessage.isAboutResource(message):
      // An autoaudiosink that has found nothing to play on, and goes on in silence.
      guard case .warning(let element, let text, let detail) = BusMessage.warning(in: message) else { return false }
      audioSession.report(.failed(.elementFailed(element: element, message: text, detail: detail)))
      return true
    case GST_MESSAGE_APPLICATION where pipeline.hasSoundOfItsStream:
      // The last of the sound comes after the last picture.
      guard let id = pipeline.endedStream(message) else { return false }
      outputs.setEnding(.videoHasEnded, of: [id])
      return true
    case GST_MESSAGE_EOS:
      close(Array(outputs.takeEndings().keys), .ended)
    default: break
    }
    return false
  }

  private func obey(_ source: UnsafeMutablePointer<GstObject>, isToBeStill: Bool, _ outputs: AudioOutputs) {
    let id = AudioElement.id(of: source)
    guard outputs.setSilencedByServer(id, isToBeStill) else { return }
    if isToBeStill { audioSession.beginRequest(of: id) } else { audioSession.endRequests(of: [id]) }
  }

  /// A source has all its pads, and none for some branches: a file without sound, or without pictures. Left where they
  /// are, they would keep the others waiting.
  private func leaveOut(
    _ outputs: AudioOutputs, waitingFor source: UnsafeMutablePointer<GstObject>
  ) -> Bool {
    guard let streams = pipeline.removeBranches(waitingFor: source) else { return false }
    outputs.removeLost()
    outputs.setEnding(.hasNoVideo, of: streams)
    for id in streams { status.send(.streamHasNoVideo(id)) }
    settle()
    return true
  }
}
