/// What an engine knows of one of its streams. It is a snapshot and does not change.
public struct StreamInfo: Sendable {
  /// The stream's ID.
  public let id: StreamID
  /// Whether the stream is local rather than remote (``VideoEngine/localStreamIDs``).
  package internal(set) var isLocal: Bool
  /// What the stream is doing.
  public internal(set) var state = StreamPlayState.stopped
  /// The error of the last failure; nil when frames have come since, or the stream was started again.
  public internal(set) var failure: PipSinkError?
  /// The camera's state as the app has set it (``VideoEngine/setCameraState(_:of:)``), or else as the flow of frames
  /// shows.
  public internal(set) var camera = DeviceState.unknown
  /// The microphone's state as the app has set it (``VideoEngine/setMicrophoneState(_:of:)``), or else as the messages
  /// of the stream's `level` element show.
  public internal(set) var microphone = DeviceState.unknown
  /// The devices whose state the app has set.
  var saidDevices: Set<StreamDevice> = []
  /// The format of the newest frame since the last start; nil before the first frame.
  public internal(set) var format: VideoFormatDescription?
  /// Whether the source has turned out, since the last start, to have sound alone
  /// (``EngineEvent/streamHasNoVideo(_:)``).
  package internal(set) var hasNoVideo = false
  /// How large the stream's pictures have to be for those who see them (``SessionEvent/demandChanged(_:_:)``). For an
  /// engine without a session it is always `hidden`, which means nothing there.
  public internal(set) var demand = StreamDemand.hidden
  /// Whether the decoder is suspended because the stream is hidden (``VideoEngine/isBackgroundDecodingEnabled``).
  package internal(set) var isDecodingSuspended = false
  /// Whether keyframes are requested, because frames arrive and no pictures.
  var isFrozen = false
  /// The number of frames that were skipped since the last start because their memory cannot be read.
  public internal(set) var skippedFrameCount: UInt64 = 0
  /// The number of frames that elements have dropped since the last start because they were late, as their
  /// quality-of-service messages say.
  package internal(set) var lateFrameCount: UInt64 = 0
  /// The number of pipelines of this stream that did not stop in time and were abandoned
  /// (``EngineEvent/abandoned(_:)``), since the stream was added.
  package internal(set) var abandonedPipelineCount = 0
}
