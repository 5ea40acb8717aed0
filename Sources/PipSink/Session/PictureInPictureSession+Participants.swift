/// What is shown of the people in the streams, apart from their pictures.
extension PictureInPictureSession {
  /// For how long somebody who was loud enough counts as speaking.
  static let speechHold = Duration.milliseconds(500)
  /// How often to look whether playback goes on, while it is paused and a caption's time is over.
  private static let lookInterval = Duration.milliseconds(500)

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
  public func setConnectionQuality(_ quality: ConnectionQuality, of streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    updateParticipant(of: streamID) { $0.connectionQuality = quality }
  }

  /// Sets the picture that stands for the person in a stream, on a disc, while the camera is off or there is only sound.
  /// Until then, and after nil, the initials of the name do.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func setImage(_ image: BGRAImage?, for streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    updateParticipant(of: streamID) { $0.image = image }
  }

  /// Reads the picture that stands for the person in a stream from a file; an empty path removes it.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, or the errors of ``BGRAImage/init(contentsOf:within:)``.
  package func setImage(contentsOf path: String, for streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    try setImage(path.isEmpty ? nil : BGRAImage(contentsOf: path), for: streamID)
  }

  /// Shows what is said at the moment as a text over a stream's picture, wherever the stream is shown, until another one
  /// is set. The text is drawn at the window's resolution, in any script.
  ///
  /// - Parameters:
  ///   - text: one line or several; nil, or an empty text, for nothing. Other control characters become spaces, and what
  ///     follows the first 1000 characters (code points) is left out.
  ///   - streamID: the stream.
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func setCaption(_ text: String?, for streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    show(caption: text ?? "", for: nil, over: streamID)
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

  // MARK: - What lasts for a time

  /// - Parameter duration: for how long the caption is shown; nil until there is another one.
  func show(caption text: String, for duration: Duration?, over id: StreamID) {
    known[id]?.captionEnd = duration.map { engine.status.clock.now.advanced(by: $0) }
    known[id]?.caption = text.displayed(atMost: 1000, keepsLines: true)
    showCaption(of: id)
    if known[id]?.hasCaptions == false, !text.isEmpty {
      known[id]?.hasCaptions = true
      updateHandledActions()
    }
    if duration != nil { watchParticipants() }
  }

  private func showCaption(of id: StreamID) {
    let text = showsCaptions ? known[id]?.caption ?? "" : ""
    updateParticipant(of: id) { $0.caption = text }
  }

  /// Shows or hides all captions, as ``showsCaptions`` says now.
  func updateCaptions() {
    for id in known.keys { showCaption(of: id) }
    updateHandledActions()
  }

  func note(level: Double, of id: StreamID) {
    controller.streamSelector.setAudioLevel(id, level)
    guard level > PictureInPictureStreamSelector.silence, let old = known[id]?.participant, !old.isMicrophoneOff else {
      return
    }
    known[id]?.lastSpeech = engine.status.clock.now
    // The next look finds that whoever speaks already has not stopped.
    guard !old.isSpeaking else { return }
    updateParticipant(of: id) { $0.isSpeaking = true }
    watchParticipants()
  }

  /// Looks from now on when somebody stops speaking and when a caption ends, as long as anything lasts.
  private func watchParticipants() {
    let clock = engine.status.clock
    participantWatch?.cancel()
    participantWatch = Task { [weak self] in
      while !Task.isCancelled, let next = self?.endWhatIsOver(at: clock.now) { try? await clock.sleep(until: next) }
    }
  }

  /// Notes who has stopped speaking, and removes the captions whose time is over.
  ///
  /// - Returns: when to look again; nil when nothing lasts any more.
  private func endWhatIsOver(at now: MonotonicTime) -> MonotonicTime? {
    var next: MonotonicTime?
    for (id, stream) in known {
      if stream.participant.isSpeaking {
        let end = stream.lastSpeech?.advanced(by: Self.speechHold) ?? now
        if end > now { next = min(next ?? end, end) } else { updateParticipant(of: id) { $0.isSpeaking = false } }
      }
      guard var end = stream.captionEnd else { continue }
      // A film that is paused keeps its caption.
      if end <= now, isPlaybackPaused { end = now.advanced(by: Self.lookInterval) }
      if end > now {
        known[id]?.captionEnd = end
        next = min(next ?? end, end)
      } else {
        known[id]?.captionEnd = nil
        known[id]?.caption = ""
        showCaption(of: id)
      }
    }
    if next == nil { participantWatch = nil }
    return next
  }
}
