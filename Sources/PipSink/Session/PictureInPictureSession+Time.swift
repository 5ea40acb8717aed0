/// The playback position of streams, and seeking.
extension PictureInPictureSession {
  /// The duration of a stream's source; nil for a source that cannot be sought in, such as a live one, and while it is
  /// not known.
  public func duration(of streamID: StreamID) -> MediaTime? { known[streamID]?.duration }

  /// The position and duration of a stream; nil for an unknown or pushed stream, and when its pipeline does not answer.
  /// The call suspends for a quarter of a second at most.
  public func timeline(of streamID: StreamID) async -> StreamTimeline? { await engine.timeline(of: streamID) }

  /// Seeks in a stream, and in the streams that share its pipeline.
  ///
  /// - Parameters:
  ///   - streamID: the stream.
  ///   - position: where to go on. It is clamped to the range from the start to the end.
  ///   - isAccurate: whether to go exactly there rather than to the nearest keyframe before.
  /// - Throws: the errors of ``VideoEngine/seekStream(_:to:isAccurate:within:)``.
  public func seek(
    _ streamID: StreamID, to position: MediaTime, isAccurate: Bool = false
  ) async throws(PipSinkError) {
    let wanted = max(.zero, min(position, duration(of: streamID) ?? position))
    try await engine.seekStream(streamID, to: wanted, isAccurate: isAccurate)
    if known[streamID]?.captionEnd != nil { show(caption: "", for: nil, over: streamID) }
    for controller in controllers where controller.currentStreamID == streamID {
      controller.progress?.position = wanted
    }
    emit(.seeked(streamID, to: wanted))
  }

  /// Seeks from a stream's current position. After another seek it waits for the first frame from there, since only
  /// then the position is known, but no longer than ``PipelineConfiguration/stateChangeTimeout``.
  ///
  /// - Parameters:
  ///   - streamID: the stream.
  ///   - interval: how far to seek; negative values mean backward.
  ///   - isAccurate: whether to go exactly there rather than to the nearest keyframe before.
  /// - Throws: the errors of ``VideoEngine/seekStream(_:to:isAccurate:within:)``, and
  ///   ``PipSinkError/Pipeline/notSeekable(reason:)`` where the position is not known.
  public func seek(
    _ streamID: StreamID, by interval: MediaTime, isAccurate: Bool = false
  ) async throws(PipSinkError) {
    let deadline = ContinuousClock.now + engine.configuration.stateChangeTimeout
    var position = await timeline(of: streamID)?.position
    while position == nil, duration(of: streamID) != nil, ContinuousClock.now < deadline,
      (try? await Task.sleep(for: .milliseconds(20))) != nil
    {
      position = await timeline(of: streamID)?.position
    }
    guard let position else { throw .pipeline(.notSeekable(reason: "its position is not known")) }
    try await seek(streamID, to: position + interval, isAccurate: isAccurate)
  }

  /// Seeks for a control that does not wait for an answer; a failure becomes ``SessionEvent/refused(_:)``. A seek
  /// begins when the one before has ended, so that two seeks go twice as far. It is accurate, because the keyframe
  /// before the target may be behind the current position, and because the target is announced.
  func skip(_ streamID: StreamID, by interval: MediaTime) {
    attemptLater { session throws(PipSinkError) in try await session.seek(streamID, by: interval, isAccurate: true) }
  }

  /// Seeks to a position for a control that does not wait for an answer, in its turn.
  package func skip(_ streamID: StreamID, to position: MediaTime) {
    for controller in controllers where controller.currentStreamID == streamID {
      controller.progress?.position = position
    }
    attemptLater { session throws(PipSinkError) in try await session.seek(streamID, to: position, isAccurate: true) }
  }

  /// Does something when the seek before has ended, and reports a failure as an event.
  private func attemptLater(
    _ body: @escaping @MainActor (PictureInPictureSession) async throws(PipSinkError) -> Void
  ) {
    progress.seekWillBegin()
    skipping = Task { [weak self, skipping] in
      await skipping?.value
      guard let self else { return }
      do throws(PipSinkError) {
        defer { progress.seekDidEnd() }
        try await body(self)
      } catch {
        // The windows show the wanted position already.
        await updateProgress()
        emit(.refused(error))
      }
    }
  }

  /// Asks a stream's pipeline again how long it is.
  @discardableResult
  func updateDuration(of id: StreamID) -> Task<Void, Never> {
    Task { [weak self, engine] in
      guard let timeline = await engine.timeline(of: id) else { return }
      self?.note(timeline, of: id)
    }
  }

  /// Notes the duration of a source that can be sought in.
  private func note(_ timeline: StreamTimeline, of id: StreamID) {
    let duration = timeline.isSeekable ? timeline.duration : nil
    guard let stream = known[id], stream.duration != duration else { return }
    known[id]?.duration = duration
    noteDurationChange(of: id)
  }

  /// Tells everybody that a stream's duration has changed.
  func noteDurationChange(of id: StreamID) {
    updateControls()
    emit(.durationChanged(id))
  }
}
