/// What a session knows of one of its streams. Everything that shows the stream, or tells about it, follows from this.
struct SessionStream {
  /// The stream's state, as far as the session has reacted to it.
  var state: StreamPlayState
  /// Shows the stream in the app; nil where the display shows no streams.
  var layer: SampleBufferDisplayLayer?
  /// The processors of a stream whose frames come through the session; nil for a stream that its owner routes.
  var chain: ProcessorChain?
  /// What is shown of the person in it, with its picture and in place of it.
  var participant: Participant
  /// Whether it shows somebody's screen, which is never cropped.
  var isScreenShare: Bool { didSet { fit() } }
  /// Whether it is never in picture-in-picture.
  var isExcluded = false
  /// Whether its pictures are mirrored; nil where that follows from what it shows.
  var isMirrored: Bool?
  /// How its frames are fitted to its place in the app while it shows no screen.
  var gravity: VideoGravity { didSet { fit() } }
  /// What stands in place of its picture, wherever that is to be shown; nil while it has one.
  var placeholder: StreamPlaceholder?
  /// What the display was told to show in its place in the app; nil before the first time.
  var shownInApp: Shown?
  /// When its sound was loud enough for speech the last time; nil before that.
  var lastSpeech: MonotonicTime?
  /// What is said at the moment, also while captions are not shown.
  var caption = ""
  /// Whether there has been a caption.
  var hasCaptions = false
  /// When its caption is removed; nil for a caption that stays.
  var captionEnd: MonotonicTime?
  /// The duration of a source that can be sought in.
  var duration: MediaTime?
  /// After how long without a frame a pushed stream counts as stalled; nil for never.
  var stallTimeout: Duration?
  /// The number of frames of a pushed stream that plays, and since when there are so many; nil while none is expected.
  var flow: (frameCount: UInt64, since: MonotonicTime)?
  /// Whether a pushed stream is paused by its owner.
  var isPaused = false
  /// Whether its source is asked for a keyframe, because the stream is frozen.
  var isFrozen = false
  /// Delays a lower demand.
  var demandDelay = DemandDelay()
  /// Tells the app's elements before the stream's frames of the demand; nil for other streams.
  var upstream: UpstreamDemand?
  /// Ends what pushes its frames, when the session stops or the stream has been removed. It returns what completes when
  /// that is done.
  var endHandler: (@MainActor () -> [Completion<Void>])?
  /// The controller of its own picture-in-picture window.
  var controller: PictureInPictureController?

  /// Fits its frames to its place in the app.
  func fit() { layer?.videoGravity = isScreenShare ? .resizeAspect : gravity }

  /// What a place in the app shows.
  enum Shown: Equatable {
    case picture
    case placeholder(StreamPlaceholder)
  }
}

/// Sends a stream's frames away, as a call does with the local picture.
@MainActor package protocol StreamSender: AnyObject {
  /// Called with each change of the stream's camera or microphone.
  func setDevices(isCameraOff: Bool, isMicrophoneOff: Bool)

  /// Called when the stream has been removed. A stream with the same ID may come later.
  func streamWasRemoved()

  /// Called when the session stops.
  ///
  /// - Returns: what completes when the sending has ended, where it ends.
  func sessionWillStop() -> [Completion<Void>]
}
