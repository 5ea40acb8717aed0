/// Where streams are in their sources, and how they go to another place.
extension PictureInPictureSession {
  /// How long the source of a stream is that can be sought in; nil of a live one, and while it is not known.
  public func duration(of streamID: StreamID) -> MediaTime? { durations[streamID] }

  /// Where a stream is; nil of one that is not there or is pushed, and while its pipeline does not answer, for which it
  /// suspends for a quarter of a second at most.
  public func timeline(of streamID: StreamID) async -> StreamTimeline? { await engine.timeline(of: streamID) }

  /// Has a stream go on from another place, and with it those that share its pipeline. What is before its start or behind its
  /// end is taken for those.
  ///
  /// - Throws: as ``VideoEngine/seekStream(_:to:isAccurate:within:)``.
  public func seek(
    _ streamID: StreamID, to position: MediaTime, isAccurate: Bool = false
  ) async throws(PipSinkError) {
    let wanted = max(.zero, min(position, duration(of: streamID) ?? position))
    try await engine.seekStream(streamID, to: wanted, isAccurate: isAccurate, within: engine.stateChangeTimeout)
    emit(.seeked(streamID, to: wanted))
  }

  /// The same, from where the stream is; `interval` may be negative. After another seek it waits for the first frame from
  /// there, since only then the stream says where it is, but no longer than ``VideoEngine/stateChangeTimeout``.
  ///
  /// - Throws: as above, and ``PipSinkError/Pipeline/notSeekable(reason:)`` where the stream does not say where it is.
  public func seek(
    _ streamID: StreamID, by interval: MediaTime, isAccurate: Bool = false
  ) async throws(PipSinkError) {
    let deadline = ContinuousClock.now + engine.stateChangeTimeout
    var position = await timeline(of: streamID)?.position
    while position == nil, duration(of: streamID) != nil, ContinuousClock.now < deadline,
      (try? await Task.sleep(for: .milliseconds(20))) != nil
    {
      position = await timeline(of: streamID)?.position
    }
    guard let position else { throw .pipeline(.notSeekable(reason: "it does not say where it is")) }
    try await seek(streamID, to: position + interval, isAccurate: isAccurate)
  }

  /// Seeks for a control, whose user waits for no answer (``SessionEvent/refused(_:)``). One seek begins when the one before
  /// has ended, so that two are twice as far. It is accurate: the keyframe before the place may be behind where the stream
  /// is now, and others are told of the place.
  func skip(_ streamID: StreamID, by interval: MediaTime) {
    attemptLater { session throws(PipSinkError) in try await session.seek(streamID, by: interval, isAccurate: true) }
  }

  /// The same to a place.
  package func skip(_ streamID: StreamID, to position: MediaTime) {
    attemptLater { session throws(PipSinkError) in try await session.seek(streamID, to: position, isAccurate: true) }
  }

  private func attemptLater(
    _ body: @escaping @MainActor (PictureInPictureSession) async throws(PipSinkError) -> Void
  ) {
    skipping = Task { [weak self, skipping] in
      await skipping?.value
      guard let self else { return }
      do throws(PipSinkError) {
        try await body(self)
      } catch {
        emit(.refused(error))
      }
    }
  }

  /// Asks a stream's pipeline anew how long it is.
  func updateDuration(of id: StreamID) {
    Task { [weak self, engine] in
      guard let timeline = await engine.timeline(of: id) else { return }
      self?.note(timeline, of: id)
    }
  }

  private func note(_ timeline: StreamTimeline, of id: StreamID) {
    guard playStates[id] != nil else { return }
    setDuration(timeline.isSeekable ? timeline.duration : nil, of: id)
  }

  func setDuration(_ duration: MediaTime?, of id: StreamID) {
    guard durations[id] != duration else { return }
    durations[id] = duration
    updateSkipping()
    emit(.durationChanged(id))
  }

  /// Offers skipping in the windows whose streams can be sought in.
  func updateSkipping() {
    for controller in controllers {
      if duration(of: controller.currentStreamID) == nil {
        controller.handledActions.subtract([.skipBackward, .skipForward])
      } else {
        controller.handledActions.formUnion([.skipBackward, .skipForward])
      }
    }
  }
}
