/// What a ``VideoEngine``'s pipeline is doing.
public enum EngineState: Sendable, Equatable {
  /// Nothing runs, and the engine can be started.
  case stopped
  /// The pipeline is being brought up: sources open, and decoders wait for their first data. A pipeline that has failed
  /// and waits for its next start is in this state, too.
  case starting
  /// The pipeline plays, and frames may flow.
  case running
  /// Nothing flows until ``VideoEngine/isPaused`` is false again. What live sources produce meanwhile is lost.
  case paused
}

/// Something that has happened in a ``VideoEngine``. Frames are delivered separately, to their consumers.
///
/// ``VideoEngine/events()`` gives a sequence of them.
public enum EngineEvent: Sendable {
  /// The engine's pipeline is in another state.
  case stateChanged(EngineState)
  /// A stream's frames have this format from now on. The event is sent before the first frame in that format is shown.
  case formatChanged(StreamID, VideoFormatDescription)
  /// A stream is in another state, for instance because its first frame has come (`playing`), or because it has ended
  /// or failed. Other streams are not affected.
  case streamStateChanged(StreamID, StreamPlayState)
  /// The camera behind a stream is on or off, as the app has said or as the flow of frames shows. It is unknown once
  /// the stream is over.
  case cameraStateChanged(StreamID, DeviceState)
  /// The microphone behind a stream is on or off. It is unknown once the stream is over.
  case microphoneStateChanged(StreamID, DeviceState)
  /// A stream's decoder has been suspended because the stream is hidden (true), or has been resumed (false).
  case decodingSuspended(StreamID, Bool)
  /// The duration of a stream's source has become known, or has changed (``VideoEngine/timeline(of:)``).
  case durationChanged(StreamID)
  /// A source is being buffered. Playback continues when `percent` is 100.
  case buffering(percent: Int)
  /// Custom rendering is enabled or disabled from the next start on. Where the change had to wait for the engine to
  /// stop, the event is sent when it takes effect.
  case customVideoRenderChanged(isEnabled: Bool)
  /// Frames of a stream are skipped because they are in memory that the processor cannot read, such as a GPU's; `caps`
  /// names that memory. The event is sent for the first such frame, and ``StreamInfo/skippedFrameCount`` counts them
  /// all.
  case framesSkipped(StreamID, caps: String)
  /// The loudness of a stream. The event is sent for each message of a `level` element in the stream's audio branch.
  case audioLevel(StreamID, AudioLevel)
  /// A text belongs over a stream's picture from now on, for a duration or, with nil, until the next one. It comes from
  /// an appsink for `text/x-raw` beside the stream's. A session shows it.
  case caption(StreamID, String, duration: Duration?)
  /// A stream has sound, but no picture, and goes on with the sound alone.
  case streamHasNoVideo(StreamID)
  /// An audio element has failed, for instance because there is no sound server. Its branch has been removed from the
  /// pipeline (an autoaudiosink goes on without sound), and pictures go on: at once, or, for a stream that shares its
  /// source with that branch, with the stream's next start.
  case audioFailed(PipSinkError)
  /// Another interruption of the ``AudioSession`` is in effect now than before (``AudioSession/interruption``).
  case audioInterruptionBegan(AudioInterruption)
  /// The last interruption of the ``AudioSession`` has ended.
  case audioInterruptionEnded
  /// An element has posted a warning, or an element that no stream depends on has posted an error. No stream has
  /// stopped.
  case warning(element: String, message: String, detail: String?)
  /// A pipeline with these streams did not stop within ``PipelineConfiguration/stateChangeTimeout`` and was abandoned,
  /// because one of its elements blocks, for instance a source that waits for a server that does not answer. Everything
  /// else goes on, and the streams may be started again. The pipeline's thread and memory are freed when the element
  /// returns.
  case abandoned([StreamID])
  /// Every stream has ended or failed, including those with a pipeline of their own. The event comes after all events
  /// of these streams. The engine waits for `stop()`, or for further streams.
  case finished

  /// The stream that the event is about; nil where it is about the engine or several streams.
  var streamID: StreamID? {
    switch self {
    case .formatChanged(let id, _), .streamStateChanged(let id, _), .cameraStateChanged(let id, _),
      .microphoneStateChanged(let id, _), .decodingSuspended(let id, _), .durationChanged(let id),
      .framesSkipped(let id, _), .audioLevel(let id, _), .caption(let id, _, _), .streamHasNoVideo(let id):
      id
    case .stateChanged, .buffering, .customVideoRenderChanged, .audioFailed, .audioInterruptionBegan,
      .audioInterruptionEnded, .warning, .abandoned, .finished:
      nil
    }
  }
}
