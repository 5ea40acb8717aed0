/// What is shown of the people in the streams, apart from their pictures.
extension PictureInPictureSession {
  /// For how long somebody who was loud enough counts as speaking. Between two words it is quiet for less.
  static let speechHold = Duration.milliseconds(500)

  /// What is shown of the person in a stream, in the app and in picture-in-picture. Of an unknown stream only the ID is
  /// known.
  public func participant(of streamID: StreamID) -> Participant {
    known[streamID]?.participant ?? Participant(name: streamID.rawValue)
  }

  /// Tells the session how loud a stream is at the moment. It is for streams whose sound the session does not play; of
  /// the others it knows. A ring marks whoever speaks where several streams are shown, and
  /// ``PictureInPictureStreamSelector/Policy/activeSpeaker`` shows the one who speaks.
  ///
  /// - Parameters:
  ///   - level: from 0 (silent) to 1, as WebRTC's `audioLevel`. What follows the last call by more than half a second
  ///     counts as silence.
  ///   - streamID: the stream.
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func setAudioLevel(_ level: Double, of streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    note(level: level, of: streamID)
  }

  /// Tells the session how good the connection to a participant is, which the app knows from its engine. A mark says
  /// when it is `fair` or `poor`.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func setConnectionQuality(
    _ quality: ConnectionQuality, of streamID: StreamID
  ) throws(PipSinkError) {
    try check(streamID)
    updateParticipant(of: streamID) { $0.connectionQuality = quality }
  }

  /// Changes what is shown of the person in a stream, everywhere.
  func updateParticipant(of id: StreamID, _ change: (inout Participant) -> Void) {
    guard let old = known[id]?.participant else { return }
    var new = old
    change(&new)
    guard new != old else { return }
    known[id]?.participant = new
    display.setParticipant(new, for: id)
    for controller in controllers { controller.participants[id] = new }
  }

  // MARK: - Speech

  func note(level: Double, of id: StreamID) {
    controller.streamSelector.setAudioLevel(id, level)
    guard level > PictureInPictureStreamSelector.silence, known[id]?.participant.isMicrophoneOff == false else {
      return
    }
    known[id]?.lastSpeech = engine.status.clock.now
    updateParticipant(of: id) { $0.isSpeaking = true }
    watchSpeech()
  }

  /// Looks when somebody stops speaking, as long as anybody speaks.
  private func watchSpeech() {
    guard speechWatch == nil else { return }
    let clock = engine.status.clock
    speechWatch = Task { [weak self] in
      while let next = self?.endSpeech(at: clock.now), !Task.isCancelled { try? await clock.sleep(until: next) }
    }
  }

  /// Notes who has stopped speaking.
  ///
  /// - Returns: when to look again; nil when nobody speaks.
  private func endSpeech(at now: MonotonicTime) -> MonotonicTime? {
    var next: MonotonicTime?
    for (id, stream) in known where stream.participant.isSpeaking {
      guard let end = stream.lastSpeech?.advanced(by: Self.speechHold), end > now else {
        updateParticipant(of: id) { $0.isSpeaking = false }
        continue
      }
      next = min(next ?? end, end)
    }
    if next == nil { speechWatch = nil }
    return next
  }
}
