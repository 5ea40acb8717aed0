/// Pause, mute and volume: the session holds one truth for each, whoever sets it.
extension PictureInPictureSession {
  /// Whether all of the engine's streams are paused. A pause by an interruption, which ends by itself, does not count;
  /// see ``isPlaybackPaused``. Setting it to false lets the streams go on during an interruption, too
  /// (``AudioSession/overridePause()``). Setting it calls ``pauseHandler`` where there is one.
  public var isPaused: Bool {
    get { engine.isPaused }
    set {
      if !newValue { engine.audioSession.overridePause() }
      if let pauseHandler { pauseHandler(newValue) } else { notePaused(newValue) }
    }
  }

  /// Tells the session that the streams have been paused or resumed by somebody else (``pauseHandler``).
  public func notePaused(_ isPaused: Bool) {
    engine.isPaused = isPaused
    updatePlayback()
  }

  /// Whether all of the engine's streams are muted. Setting it calls ``muteHandler`` where there is one.
  public var isMuted: Bool {
    get { engine.audioSession.isMuted }
    set { if let muteHandler { muteHandler(newValue) } else { noteMuted(newValue) } }
  }

  /// Tells the session that the streams have been muted or unmuted by somebody else (``muteHandler``).
  public func noteMuted(_ isMuted: Bool) {
    engine.audioSession.isMuted = isMuted
    updatePlayback()
  }

  /// The overall volume of the engine's streams: a linear amplitude from 0 to 1. Other values are clamped to that
  /// range.
  public var volume: Double {
    get { engine.audioSession.volume }
    set {
      engine.audioSession.volume = newValue
      updatePlayback()
    }
  }

  /// Whether the streams stand still, paused by the user or by an interruption of the ``AudioSession``.
  public var isPlaybackPaused: Bool { isPaused || engine.audioSession.interruption == .pause }

  /// Pauses the streams, or lets them go on where they stand still.
  package func togglePause() { isPaused = !isPlaybackPaused }

  /// Shows the pause and the mute state in all windows.
  func updatePlayback() {
    for id in known.keys { updateGap(of: id) }
    for controller in controllers {
      controller.isPaused = isPlaybackPaused
      controller.isMuted = isMuted
    }
    watchProgress()
    emit(.playbackChanged)
  }
}
