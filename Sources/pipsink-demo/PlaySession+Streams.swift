import PipSink

/// Streams that come and go during a run.
extension PlaySession {
  func startStream(_ id: StreamID) throws(PipSinkError) {
    guard let option = command.streams.first(where: { $0.streamID == id }) else {
      throw .unknownStream(id, known: command.streams.map(\.streamID))
    }
    try startPlayingStream(id, from: option.description)
  }

  /// A new stream, or one that was stopped.
  func addStream(
    _ id: StreamID,
    _ start: (VideoEngine, @escaping @Sendable (StreamID) -> any SampleBufferConsumer) throws(PipSinkError) -> Void
  ) throws(PipSinkError) {
    let layer = try surfaces.inAppLayer(for: id)
    try start(engine) { [router] in router.addStream($0, inApp: layer) }
    // It may be named before its pipeline is up.
    router.addStream(id, inApp: layer)
    ended.remove(id)
    failed[id] = nil
    controller.streamSelector.add(id, isLocal: engine.localStreamIDs.contains(id))
  }

  func stopStream(_ id: StreamID) throws(PipSinkError) {
    try engine.stopPlayingStream(id)
    noteEnd(of: id)
    controller.streamSelector.remove(id)
  }

  /// What a stream does is what its place in the app and, where it is there, the picture-in-picture window show.
  func follow(_ id: StreamID, _ state: StreamPlayState) {
    let isInPictureInPicture = id == controller.currentStreamID
    switch state {
    case .requesting: break
    case .playing:
      surfaces.streamDidChange(id, to: .playing)
      if isInPictureInPicture { controller.content = .video }
    // Whether more comes of the pipeline that all share nobody knows; its last picture stays.
    case .stalled where engine.streamIDs.contains(id): break
    case .stalled, .reconnecting:
      surfaces.streamDidChange(id, to: .reconnecting)
      if isInPictureInPicture { controller.content = .reconnecting }
      if case .reconnecting(let attempt, let pause, let error) = state {
        statusLine.say("stream \"\(id)\": \(error); try \(attempt) in \((pause * 10).rounded() / 10) s")
      }
    case .ended:
      noteEnd(of: id)
      leave(id)
    case .stopped: break
    case .failed(let error):
      failed[id] = error
      surfaces.streamDidChange(id, to: .failed(error.description))
      report(DemoError(error), about: "stream \"\(id)\" failed: ")
      leave(id)
    }
  }

  private func noteEnd(of id: StreamID) {
    ended.insert(id)
    surfaces.streamDidChange(id, to: .ended)
  }
}
