/// Pause, mute and volume: the session holds one truth for each, whoever sets it.
extension PictureInPictureSession {
  /// Whether all of the engine's streams stand still. Not that of an interruption, which ends by itself.
  public var isPaused: Bool {
    get { engine.isPaused }
    set { if let pauseHandler { pauseHandler(newValue) } else { notePaused(newValue) } }
  }

  /// To be called when somebody else has paused the streams, or has had them go on (``pauseHandler``).
  public func notePaused(_ isPaused: Bool) {
    engine.isPaused = isPaused
    updatePlayback()
  }

  /// Whether all of the engine's streams are silent.
  public var isMuted: Bool {
    get { engine.audioSession.isMuted }
    set { if let muteHandler { muteHandler(newValue) } else { noteMuted(newValue) } }
  }

  /// To be called when somebody else has switched the streams' sound off or on (``muteHandler``).
  public func noteMuted(_ isMuted: Bool) {
    engine.audioSession.isMuted = isMuted
    updatePlayback()
  }

  /// Of all of the engine's streams together: a linear amplitude from 0 to 1; others are taken for the nearest of those.
  public var volume: Double {
    get { engine.audioSession.volume }
    set {
      engine.audioSession.volume = newValue
      updatePlayback()
    }
  }

  var isPlaybackPaused: Bool { isPaused || engine.audioSession.interruption == .pause }

  func updatePlayback() {
    for controller in controllers {
      controller.isPaused = isPlaybackPaused
      controller.isMuted = isMuted
    }
    emit(.playbackChanged)
  }
}
