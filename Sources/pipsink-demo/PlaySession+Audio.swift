import PipSink

/// A run's sound.
extension PlaySession {
  func prepareAudio() {
    let audio = engine.audioSession
    audio.applicationName = "PipSink"
    audio.category = command.audio.audioCategory
    audio.interruptionPolicy = command.audio.interruptionPolicy
    audio.volume = command.audio.volume
    setMuted(command.audio.mute)
    controller.streamSelector.policy = command.audio.pipPolicy.policy
  }

  func setMuted(_ isMuted: Bool) {
    engine.audioSession.isMuted = isMuted
    controller.isMuted = isMuted
  }

  /// - Returns: false for an event that is about something else.
  func handleAudio(_ event: EngineEvent) -> Bool {
    switch event {
    case .audioLevel(let id, let level): controller.streamSelector.setAudioLevel(id, level.linear)
    case .streamHasNoVideo(let id): statusLine.say("stream \"\(id)\" has sound, but no picture")
    case .audioFailed(let error):
      statusLine.say("no sound: \(error); is a sound server running? The pictures go on.")
    case .audioInterruptionBegan(let interruption):
      statusLine.say("interrupted by another app's sound (\(interruption == .pause ? "paused" : "quieter"))")
      controller.isPaused = engine.isPaused || interruption == .pause
    case .audioInterruptionEnded:
      statusLine.say("the interruption is over")
      controller.isPaused = engine.isPaused
    default: return false
    }
    return true
  }
}
