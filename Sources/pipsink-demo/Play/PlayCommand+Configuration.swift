import PipSink
import PipSinkWindows

/// What the options of `play` mean: its streams, its pipeline, and how the session is configured.
extension PlayCommand {
  /// The place of the picture-in-picture window; nil when no option sets it.
  var pipPlacement: WindowPlacement? {
    guard pipSize != nil || pipCorner != nil else { return nil }
    let remembered = WindowPlacement.load(from: WindowPlacement.defaultPath) ?? WindowPlacement()
    return WindowPlacement(
      corner: pipCorner ?? remembered.corner, width: pipSize?.width ?? remembered.width,
      height: pipSize?.height ?? remembered.height)
  }

  /// The streams for files and URIs; nil when the arguments are a pipeline, or when there are none.
  var media: [StreamOption]? { StreamOption.media(pipeline) }

  /// All streams with pipelines of their own.
  var ownStreams: [StreamOption] { (media ?? []) + streams }

  /// The streams with pipelines of their own that are started at once: those that no action starts.
  var initialStreams: [StreamOption] {
    let later = Set(actions.compactMap { if case .startStream(let id) = $0.action { id } else { nil } })
    return ownStreams.filter { !later.contains($0.streamID) }
  }

  /// Whether there is a pipeline beside the streams with pipelines of their own.
  private var hasPipeline: Bool { pipelineFile != nil || !pipeline.isEmpty && media == nil }

  /// Every stream ID that an option names.
  var wantedStreams: [StreamID] {
    [pipStream, pipSecond].compactMap(\.self) + processors.map(\.streamID) + localStreams + screenShares
      + excludedStreams
      + sending.streamIDs
      + actions.compactMap { timed in
        switch timed.action {
        case .pictureInPicture(let id): id
        case .source(let id), .second(let id): id
        // These must be streams of --stream, too.
        case .startStream(let id), .stopStream(let id): id
        case .camera(_, let id), .microphone(_, let id), .connection(_, let id), .caption(let id, _), .image(let id, _),
          .process(let id, _):
          id
        default: nil
        }
      }
  }

  /// The configuration of all pipelines.
  var pipelineConfiguration: PipelineConfiguration {
    var configuration = PipelineConfiguration()
    if let retries { configuration.retryPolicy?.limit = retries }
    configuration.stateChangeTimeout = .seconds(stopTimeout)
    return configuration
  }

  var sessionConfiguration: PictureInPictureSession.Configuration {
    get throws(PipSinkError) {
      var configuration = PictureInPictureSession.Configuration()
      configuration.localStreamIDs = Set(localStreams)
      configuration.mirrorsLocalStreams = !showsLocalUnmirrored
      configuration.screenShareStreamIDs = Set(screenShares)
      configuration.excludedStreamIDs = Set(excludedStreams)
      configuration.pictureInPictureStreamID = pipStream
      configuration.secondPictureInPictureStreamID = pipSecond
      configuration.pictureInPicture.layout = pipLayout
      if let pipControls { configuration.pictureInPicture.controls = pipControls }
      configuration.pictureInPicture.opacity = pipOpacity
      configuration.pictureInPicture.isClickThrough = pipClickThrough
      configuration.pictureInPicture.stepsAside = pipStepAside
      configuration.startsInPictureInPicture = mode == .pip
      configuration.streamSelectorPolicy = audio.pipPolicy.policy
      configuration.pictureInPicture.videoGravity = gravity
      configuration.pictureInPicture.endAction = pipEndAction
      configuration.pictureInPicture.preferredContentSize = pipAspectRatio
      configuration.pictureInPicture.retryPolicy?.limit = pipRetries
      configuration.pipeline = pipelineConfiguration
      configuration.videoGravity = gravity
      configuration.isBackgroundDecodingEnabled = backgroundDecoding
      for option in processors {
        configuration.processors[option.streamID, default: []].append(
          try FrameProcessorRegistry.shared.makeProcessor(named: option.name, argument: option.argument))
      }
      return configuration
    }
  }

  /// The pipeline of the options; nil where the streams have pipelines of their own alone.
  func pipelineDescription() throws -> PipelineDescription? {
    if let pipelineFile {
      return .text(try LaunchFile(path: pipelineFile).text)
    }
    if !hasPipeline, dbus || !ownStreams.isEmpty { return nil }
    return pipeline.count == 1 ? .text(pipeline[0]) : .arguments(pipeline)
  }
}
