/// What something more important does to an app's streams.
public enum AudioInterruption: Equatable, Sendable {
  /// They stand still, pictures too.
  case pause
  /// They go on, as loud as this times what they were, from 0 to 1.
  case duck(Double)
}

/// The interruptions that hold now. Of several, a pause comes before ducking, and the lowest level counts.
struct AudioInterruptions {
  /// By explicit calls, in their order.
  var explicit: [AudioInterruption] = []
  /// By the sound server, by the element that was asked.
  var requested: [AudioElement.ID: AudioInterruption] = [:]

  var current: AudioInterruption? {
    let all = explicit + requested.values
    if all.contains(.pause) { return .pause }
    return all.isEmpty ? nil : .duck(level)
  }

  /// What ducking leaves of the volume.
  var level: Double {
    (explicit + requested.values).reduce(1) { level, interruption in
      if case .duck(let other) = interruption { min(level, AudioLevel.clamped(other)) } else { level }
    }
  }
}
