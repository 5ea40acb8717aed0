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
    let isNew = !router.streamIDs.contains(id)
    let layer = try surfaces.inAppLayer(for: id)
    // A restart that comes at the moment of a stop must not bring the stream back.
    let isStopped = Locked(false)
    do throws(PipSinkError) {
      try start(engine) { [router] id in
        isStopped.withLock { isStopped in isStopped ? Discard() : router.addStream(id, inApp: layer) }
      }
    } catch {
      if isNew { surfaces.removeStream(id) }
      throw error
    }
    // It may be named before its pipeline is up.
    router.addStream(id, inApp: layer)
    stops[id] = isStopped
    ended.remove(id)
    failed[id] = nil
    controller.streamSelector.add(id, isLocal: engine.localStreamIDs.contains(id))
  }

  private final class Discard: SampleBufferConsumer {
    func consume(_ sampleBuffer: SampleBuffer) {}
  }

  /// Stops a stream and forgets all of it, but for what the report tells. Its pipeline comes to its end meanwhile, or is
  /// given up.
  func stopStream(_ id: StreamID) throws(PipSinkError) {
    guard engine.playingStreamIDs.contains(id) else {
      throw .unknownStream(id, known: engine.playingStreamIDs)
    }
    stops.removeValue(forKey: id)?.withLock { $0 = true }
    Task.immediate { [engine] in _ = try? await engine.stopPlayingStream(id, within: nil) }
    // Picture-in-picture goes on with another stream before this one is gone.
    controller.streamSelector.remove(id)
    if router.table.entries[.primary]?.streamID == id { router.leavePictureInPicture() }
    ended.insert(id)
    if let stream = reportedStream(id) { stopped.add(stream, of: id) }
    stopped.add(router.changes.filter { $0.streamID == id })
    stopped.forgetOldest()
    router.removeStream(id)
    surfaces.removeStream(id)
    ended.remove(id)
    failed[id] = nil
  }

  /// What a stream does is what its place in the app and, where it is there, the picture-in-picture window show.
  func follow(_ id: StreamID, _ state: StreamPlayState) {
    // It may have been stopped since.
    guard router.streamIDs.contains(id) else { return }
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
      controller.streamSelector.remove(id)
    case .stopped: break
    case .failed(let error):
      failed[id] = error
      hasFailed = true
      surfaces.streamDidChange(id, to: .failed(error.description))
      report(DemoError(error), about: "stream \"\(id)\" failed: ")
      controller.streamSelector.remove(id)
    }
  }

  private func noteEnd(of id: StreamID) {
    ended.insert(id)
    surfaces.streamDidChange(id, to: .ended)
  }
}
