/// What happens to an app's streams while something more important uses the sound.
public enum AudioInterruption: Equatable, Sendable {
  /// All streams are paused, pictures included.
  case pause
  /// All streams go on, with their volume multiplied by this factor from 0 to 1.
  case duck(Double)
}

/// The interruptions that are in effect now. If there are several, a pause takes precedence over ducking, and the
/// lowest level counts.
struct AudioInterruptions {
  /// The interruptions that the app has begun, oldest first.
  var explicit: [AudioInterruption] = []
  /// The interruptions that a sound server has requested, by the element that it asked.
  var requested: [AudioElement.ID: AudioInterruption] = [:]

  /// The strictest interruption that is in effect; nil when there is none.
  var current: AudioInterruption? {
    let all = explicit + requested.values
    if all.contains(.pause) { return .pause }
    return all.isEmpty ? nil : .duck(level)
  }

  /// The factor by which ducking lowers the volume.
  var level: Double {
    (explicit + requested.values).reduce(1) { level, interruption in
      if case .duck(let other) = interruption { min(level, AudioLevel.clamped(other)) } else { level }
    }
  }
}
