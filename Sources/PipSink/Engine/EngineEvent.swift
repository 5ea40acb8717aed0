/// What an engine is doing.
public enum EngineState: Sendable, Equatable {
  /// Nothing runs; `start()` is possible.
  case stopped
  /// The pipeline is being brought up: sources open, decoders wait for their first data. Also while a pipeline that has
  /// failed waits for its next start.
  case starting
  /// Frames may flow.
  case running
  /// Nothing flows until ``VideoEngine/isPaused`` is false again; live sources lose what they deliver meanwhile.
  case paused
}

/// What happens in an engine besides frames.
public enum EngineEvent: Sendable {
  case stateChanged(EngineState)
  /// A stream's frames have this format from now on. Comes before the first frame in it is shown.
  case formatChanged(StreamID, VideoFormatDescription)
  /// A stream is in another state: its first frame is there (`playing`), it has ended, it failed. The others go on.
  case streamStateChanged(StreamID, StreamPlayState)
  /// Its camera is on or off, as the app said or as the flow of frames tells; unknown when the stream is over.
  case cameraStateChanged(StreamID, DeviceState)
  /// Its microphone is on or off; unknown when the stream is over.
  case microphoneStateChanged(StreamID, DeviceState)
  /// Its decoder stands still because nobody sees the stream, or goes on.
  case decodingSuspended(StreamID, Bool)
  /// How long a stream's source is may be known now, or has changed (``VideoEngine/timeline(of:)``).
  case durationChanged(StreamID)
  /// A source is read ahead: at 100 there is enough of it to play.
  case buffering(percent: Int)
  /// Custom rendering is on or off for the next start, also where that had to wait for the engine's stop.
  case customVideoRenderChanged(isEnabled: Bool)
  /// Frames of a stream lie in memory that cannot be read (a GPU's), and are left out; `caps` says which. Sent at the
  /// first one; ``StreamInfo/skippedFrameCount`` counts them.
  case framesSkipped(StreamID, caps: String)
  /// How loud a stream is, from a `level` element in its audio branch, as often as that says.
  case audioLevel(StreamID, AudioLevel)
  /// A stream has sound, but no picture, and goes on with that.
  case streamHasNoVideo(StreamID)
  /// An audio element failed, for want of a sound server for instance. Its branch has been taken out of the pipeline
  /// (an autoaudiosink goes on in silence), and pictures go on: at once, or with the next start of a stream whose source
  /// it had shared.
  case audioFailed(PipSinkError)
  /// Something interrupts the ``AudioSession``, and nothing did before.
  case audioInterruptionBegan(AudioInterruption)
  /// Nothing interrupts it any more.
  case audioInterruptionEnded
  /// An element's warning, or the error of an element that no stream depends on; no stream has stopped.
  case warning(element: String, message: String, detail: String?)
  /// A pipeline with these streams did not stop in time (``VideoEngine/stateChangeTimeout``) and was given up: one of its
  /// elements blocks, as a source does that connects to a server that does not answer. Everything else goes on, and may
  /// be started anew. The pipeline's thread and memory are given back when the element lets go.
  case abandoned([StreamID])
  /// Every stream has ended or failed, those with a pipeline of their own among them; all that they had to tell was told
  /// before. The engine waits for `stop()`, or for further streams.
  case finished
}
