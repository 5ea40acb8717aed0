/// What an engine knows of one of its streams.
public struct StreamInfo: Sendable {
  public let id: StreamID
  /// Whether it is the app's own picture rather than somebody else's (``VideoEngine/localStreamIDs``).
  public internal(set) var isLocal: Bool
  public internal(set) var state = StreamPlayState.stopped
  /// Why it failed last; nil once its frames come again, or when somebody starts it anew.
  public internal(set) var failure: PipSinkError?
  /// What the app said last (``VideoEngine/setCameraState(_:of:)``); else whether frames come.
  public internal(set) var camera = DeviceState.unknown
  /// What the app said last (``VideoEngine/setMicrophoneState(_:of:)``); else whether its `level` element reports.
  public internal(set) var microphone = DeviceState.unknown
  /// What the app has spoken of.
  var saidDevices: Set<StreamDevice> = []
  /// Of its newest frame in this run.
  public internal(set) var format: VideoFormatDescription?
  /// Whether its decoder is idle because nobody sees the stream (``VideoEngine/isBackgroundDecodingEnabled``).
  public internal(set) var isDecodingSuspended = false
  /// Frames that were left out since the last start, because they lie in memory that cannot be read.
  public internal(set) var skippedFrameCount: UInt64 = 0
  /// Frames that its elements dropped in this run because they were late, as they report it (quality of service).
  public internal(set) var lateFrameCount: UInt64 = 0
  /// Pipelines of the stream that did not stop in time and were given up (``EngineEvent/abandoned(_:)``), in all its
  /// runs.
  public internal(set) var abandonedPipelineCount = 0
}
