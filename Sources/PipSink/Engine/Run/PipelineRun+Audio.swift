import CGStreamer

/// What a run does about the audio branches of its pipeline.
extension PipelineRun {
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
    status.send(.audioFailed(error))
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

  /// On the bus thread.
  ///
  /// - Returns: whether the message has been dealt with.
  func handleAudio(_ message: UnsafeMutablePointer<GstMessage>) -> Bool {
    guard let source = message.pointee.src else { return false }
    switch message.pointee.type {
    case GST_MESSAGE_STATE_CHANGED where source == pipeline.element.asObject:
      // By now the links that waited for pads are there, and with them it is known what belongs to which stream.
      audioOutputs.apply()
    case GST_MESSAGE_REQUEST_STATE:
      var wanted = GST_STATE_NULL
      gst_message_parse_request_state(message, &wanted)
      obey(source, isToBeStill: wanted != GST_STATE_PLAYING)
      return true
    case GST_MESSAGE_APPLICATION where BusNote.muteChanged.isIn(message):
      // A server that silences what does not pause does not say when that is over.
      if audioOutputs.isAudibleAgain(AudioElement.id(of: source)) { obey(source, isToBeStill: false) }
      return true
    case GST_MESSAGE_ELEMENT:
      guard let level = AudioLevel(message), pipeline.contains(source) else { return false }
      let element = UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstElement.self)
      if let id = pipeline.owner(of: element) {
        noteSound(of: id)
        status.send(.audioLevel(id, level))
      }
      return true
    case GST_MESSAGE_WARNING where BusMessage.isDelayedLinkFailure(message):
      return leaveOut(waitingFor: source)
    case GST_MESSAGE_WARNING where pipeline.isAudio(source) && BusMessage.isAboutResource(message):
      // An autoaudiosink that has found nothing to play on, and goes on in silence.
      guard case .warning(let element, let text, let detail) = BusMessage.warning(in: message) else { return false }
      status.send(.audioFailed(.pipeline(.elementFailed(element: element, message: text, detail: detail))))
      return true
    case GST_MESSAGE_APPLICATION where pipeline.hasSoundOfItsStream:
      // The last of the sound comes after the last picture.
      guard let id = pipeline.endedStream(message) else { return false }
      progress.withLock { $0.endings[id] = .videoHasEnded }
      return true
    case GST_MESSAGE_EOS:
      close(takeEndings().keys.map { ($0, .ended) })
    default: break
    }
    return false
  }

  /// The sound has ended, or is no more.
  private func takeEndings() -> [StreamID: Ending] {
    progress.withLock { progress in
      defer { progress.endings = [:] }
      return progress.endings
    }
  }

  private func obey(_ source: UnsafeMutablePointer<GstObject>, isToBeStill: Bool) {
    let id = AudioElement.id(of: source)
    guard audioOutputs.setSilencedByServer(id, isToBeStill) else { return }
    if isToBeStill { audioSession.beginRequest(of: id) } else { audioSession.endRequests(of: [id]) }
  }

  /// A source has all its pads, and none for some branches: a file without sound, or without pictures. Left where they
  /// are, they would keep the others waiting.
  private func leaveOut(waitingFor source: UnsafeMutablePointer<GstObject>) -> Bool {
    guard let streams = pipeline.removeBranches(waitingFor: source) else { return false }
    audioOutputs.removeLost()
    for id in streams {
      progress.withLock { $0.endings[id] = .hasNoVideo }
      status.send(.streamHasNoVideo(id))
    }
    settle()
    return true
  }
}
