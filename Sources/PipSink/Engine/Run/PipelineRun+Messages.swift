import CGStreamer

/// The handling of the messages on the pipeline's bus, on the run's thread.
extension PipelineRun {
  func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    if handleAudio(message) { return }
    switch message.pointee.type {
    case GST_MESSAGE_ERROR:
      handleError(message)
    case GST_MESSAGE_WARNING:
      send(BusMessage.warning(in: message))
    case GST_MESSAGE_STATE_CHANGED where message.pointee.src == pipeline.element.asObject:
      var new = GST_STATE_NULL
      gst_message_parse_state_changed(message, nil, &new, nil)
      setPipeline(new == GST_STATE_PLAYING ? .running : isToStandStill ? .paused : .starting)
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency(pipeline.element.asBin)
    case GST_MESSAGE_CLOCK_LOST:
      // As GStreamer's documentation advises: the pipeline chooses a new clock when it goes from PAUSED to PLAYING.
      pipeline.setState(GST_STATE_PAUSED)
      updateState()
    case GST_MESSAGE_DURATION_CHANGED:
      for stream in pipeline.streams { send(.durationChanged(stream.id)) }
    case GST_MESSAGE_BUFFERING:
      handleBuffering(message)
    case GST_MESSAGE_APPLICATION:
      if BusNote.streamRefused.isIn(message) {
        handleRefusal(message)
      } else if let caption = CaptionSink.caption(in: message) {
        guard let id = pipeline.owner(of: caption.element) else { break }
        send(.caption(id, caption.text, duration: caption.duration))
      } else if let stream = pipeline.endedStream(message), !stream.isStillPicture {
        close([(stream.id, .ended)])
      }
    case GST_MESSAGE_ELEMENT:
      if let missing = BusMessage.missingPlugin(in: message) {
        let needy = message.pointee.src.map(pipeline.streams(dependingOn:)) ?? []
        progress.withLock { progress in
          for stream in needy { progress.missingPlugins[stream.id, default: []].append(missing) }
        }
      }
    default:
      break
    }
  }

  /// Pauses the pipeline while a source such as HTTP fills its buffer. A live source must not be paused; its messages
  /// are ignored.
  private func handleBuffering(_ message: UnsafeMutablePointer<GstMessage>) {
    var mode = GST_BUFFERING_STREAM
    gst_message_parse_buffering_stats(message, &mode, nil, nil, nil)
    guard mode != GST_BUFFERING_LIVE else { return }
    var percent: gint = 0
    gst_message_parse_buffering(message, &percent)
    // Buffering is progress, so the streams are not stalled.
    forgiveSilence()
    player?.pipelineIsBuffering(self)
    let isNew = progress.exchange(\.isBuffering, percent < 100) != (percent < 100)
    send(.buffering(percent: Int(percent)))
    if isNew { updateState() }
  }

  /// Adds the frames that elements have dropped as late to the numbers of the streams.
  func countLateFrames() {
    thread.lateFrames.look { element, count in
      for stream in pipeline.streams(dependingOn: element) {
        report { $0.update(stream.id) { $0.lateFrameCount += count } }
      }
    }
  }

  /// Handles an error. It also ends the state change that the pipeline is in (GstBin gives up the preroll), so the state
  /// is requested again for those that go on, even when the error is nothing to them.
  private func handleError(_ message: UnsafeMutablePointer<GstMessage>) {
    guard let source = message.pointee.src else { return }
    let posted = BusMessage.error(in: message, readsFiles: pipeline.readsFiles)
    // Elements that were removed may still post errors.
    guard pipeline.contains(source) else {
      logger.debug("error after a stream's end: \(posted)")
      return updateState()
    }
    let dependent = pipeline.streams(dependingOn: source)
    guard !dependent.isEmpty else {
      // No stream has failed; the element may belong to a recording, for instance.
      if !removeAudio(source, after: posted, isRunning: true),
        case .pipeline(.elementFailed(let element, let text, let detail, _)) = posted
      {
        send(.warning(element: element, message: text, detail: detail))
      }
      return updateState()
    }
    let missing = progress.withLock { $0.missingPlugins }
    fail(dependent, pipeline.cause(of: posted, affected: dependent, missingPlugins: missing))
  }

  /// Fails a stream that refuses what it gets. Its source may also post an error, before or after this, or may not.
  private func handleRefusal(_ message: UnsafeMutablePointer<GstMessage>) {
    guard let stream = pipeline.streams.first(where: { $0.sink.asObject == message.pointee.src }),
      let error = progress.withLock({ $0.refusals[stream.id] })
    else { return }
    fail([stream], error)
  }

  /// Fails streams, and lets the others go on without them.
  func fail(_ streams: [Pipeline.Stream], _ error: PipSinkError) {
    noteBroken(streams, error)
    guard isolateBroken() else { return }
    audioOutputs.removeLost()
    updateState()
  }
}
