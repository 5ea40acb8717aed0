/// What is reported of sound.
enum AudioEvent: Sendable {
  case level(StreamID, AudioLevel)
  case failed(PipSinkError)
  case interruptionBegan(AudioInterruption)
  case interruptionEnded
}

/// The audio elements of a pipeline that runs now, as a session sees them.
protocol AudioOutput: AnyObject, Sendable {
  /// Its streams.
  var streamIDs: [StreamID] { get }
  /// Has the pipeline stand still or go on, as the session says now. Called on any thread.
  var interruptionChanged: @Sendable () -> Void { get }

  /// Whether a stream that is the pipeline's has something that its volume can be set on.
  func hasVolume(_ id: StreamID) -> Bool

  /// Sets everything as the session wants it.
  func apply()
}
