import ArgumentParser
import GstPipSink
import PipSink
import PipSinkWindows

struct PlayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Plays files, URIs or a pipeline, and shows their streams.",
    discussion: """
      Every appsink in the pipeline is a stream, and its name is the stream ID:

        pipsink-demo play "videotestsrc ! appsink name=a" --mode pip --pip-stream a

      Files and URIs are played with their sound, each as a stream that is called as its file is:

        pipsink-demo play film.mkv https://example.org/talk.webm --mode pip --pip-stream talk

      Exit codes: 0 done; 64 usage; 65 the pipeline cannot be parsed or linked; 69 an element, a display or \
      the session bus is missing; 71 too few threads, open files or address space are left; \
      74 a stream failed while running, or was only started again and never delivered a frame, or a file or standard \
      output could not be written.
      """
  )

  enum Mode: String, ExpressibleByArgument, CaseIterable {
    case normal, pip
  }

  enum Surface: String, ExpressibleByArgument, CaseIterable {
    case auto, window, offscreen, none
  }

  enum Layout: String, ExpressibleByArgument, CaseIterable {
    /// All streams, in rows and columns.
    case grid
    /// The first stream beside the second.
    case split
  }

  @Argument(help: "The pipeline, as one string or as gst-launch-1.0 takes it; or files and URIs.")
  var pipeline: [String] = []

  @Option(name: .customLong("pipeline"), help: ArgumentHelp("Take the pipeline from this file.", valueName: "file"))
  var pipelineFile: String?

  @Option(
    name: .customLong("stream"),
    help: ArgumentHelp(
      "A stream with a pipeline of its own, with one appsink, which \"--at S=start:ID\" starts; without that, and without another pipeline, it is started at once. It is started again when it fails, unless it can only fail again. Repeatable.",
      valueName: "id=pipeline|uri"))
  var streams: [StreamOption] = []

  @Option(help: "Where streams are shown at the start: in the app, or one of them in picture-in-picture.")
  var mode: Mode = .normal

  @Option(help: ArgumentHelp("The stream for picture-in-picture; the first one by default.", valueName: "id"))
  var pipStream: StreamID?

  @Option(
    help: ArgumentHelp(
      "A stream that shares the picture-in-picture window with that one, in a half each.", valueName: "id"))
  var pipSecond: StreamID?

  @Option(
    help:
      "What becomes of the picture-in-picture window when its stream ends: the next stream takes it, or it stays and shows none, or it goes."
  )
  var pipEndAction: PictureInPictureEndAction = .nextStream

  @Option(help: "What to show streams on. \"none\" counts frames only.")
  var surface: Surface = .auto

  @Flag(help: "Picture-in-picture starts by itself when the app's window can be seen no more, and stops when it can.")
  var autoPip = false

  @Flag(
    help: "Streams are decoded also while the app's window and picture-in-picture show nothing of them to the user.")
  var backgroundDecoding = false

  @Option(
    name: .customLong("local"),
    help: ArgumentHelp(
      "A stream that is the user's own picture: picture-in-picture prefers the others. Repeatable.", valueName: "id"))
  var localStreams: [StreamID] = []

  @Flag(
    name: .customLong("dbus"),
    help:
      "Let other processes control it on the session bus, as org.pipsink.Session1 and as a media player. It needs no pipeline then."
  )
  var dbus = false

  @Option(help: ArgumentHelp("Stop after so many seconds, at most 1000000000.", valueName: "s"))
  var duration: Double?

  @Option(
    help: ArgumentHelp(
      "Give up a pipeline that has not stopped after so many seconds, as one does not whose source blocks; one second after Ctrl-C.",
      valueName: "s"))
  var stopTimeout = 5.0

  @Option(
    help: ArgumentHelp(
      "Start a pipeline whose streams have failed at most so many times again, in a row: 0 to 1000000000. Without it, for as long as the program runs.",
      valueName: "n"))
  var retries: Int?

  @Option(
    help: ArgumentHelp(
      "Open a picture-in-picture window that cannot be opened, or that has failed, at most so many times again: 0 to 1000000000.",
      valueName: "n"))
  var pipRetries = RetryPolicy().limit

  @Option(
    help: ArgumentHelp(
      "Write what the surfaces show as PNG files into this folder: at the end, and at every \"snapshot\" action.",
      valueName: "dir"))
  var snapshots: String?

  @Option(help: ArgumentHelp("Write a JSON report to this file; \"-\" is standard output.", valueName: "file"))
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Rewrite this file every second with statistics, in Prometheus' text format.", valueName: "file"))
  var metrics: String?

  @Option(
    help: ArgumentHelp(
      "What to log, on standard error: LABEL:LEVEL or LEVEL, with commas between; of several that fit the last one counts. \"pipsink.*:debug\", for instance, or \"gstreamer.basesink:debug\" for GStreamer's own log. PIPSINK_DEBUG in the environment by default, else \"notice\".",
      valueName: "spec"),
    transform: LogLevels.init)
  var logLevel: LogLevels?

  @Option(
    name: .customLong("at"),
    help: ArgumentHelp(
      "Do something at a time after the start, from 0 to 1000000000 seconds: pip:ID, normal, source:ID, second:ID, single, uninit, init, close, background, foreground, start:ID, stop:ID, camera-off:ID, camera-on:ID, microphone-off:ID, microphone-on:ID, process:ID=NAME[:ARGUMENT], custom-render:SERIES, custom-render:off, seek:SECONDS, pause, mute, volume:0..1, snapshot or quit. Repeatable.",
      valueName: "seconds=action"))
  var actions: [TimedAction] = []

  @Option(
    name: .customLong("process"),
    help: ArgumentHelp(
      "Put a stream's frames through a processor before they are shown; \"pipsink-demo processors\" lists them. Repeatable.",
      valueName: "stream=name[:argument]"))
  var processors: [ProcessorOption] = []

  @Option(
    help: ArgumentHelp(
      "Give every stream's frames to a renderer of the program's own as well, which counts them: \"any\", \"rgb\", \"yuv\", or a pixel format, which is what is asked of the pipelines.",
      valueName: "series"))
  var customRender: FrameFormatSeries?

  @Option(
    help: ArgumentHelp(
      "The size of the app's window (960x540), or of each in-app surface offscreen (640x360), in pixels: from 1x1 to 32767x32767.",
      valueName: "WxH"))
  var windowSize: PictureSize?

  @Option(
    help: ArgumentHelp(
      "The size of the picture-in-picture surface, in pixels from 1x1 to 32767x32767: 320x180, or what it was the last time.",
      valueName: "WxH")
  )
  var pipSize: PictureSize?

  @Option(
    help: ArgumentHelp(
      "The shape of the picture-in-picture window, such as 16x9: that of its stream by default.", valueName: "WxH"))
  var pipAspectRatio: PictureSize?

  @Option(
    help: ArgumentHelp(
      "The corner of the screen that the picture-in-picture window starts in: bottom-right, or where it was the last time.",
      valueName: "corner"))
  var pipCorner: WindowCorner?

  @Option(help: "How the app's window shows its streams: all, or the first beside the second.")
  var layout: Layout = .grid

  @OptionGroup(title: "Sound")
  var audio: AudioOptions

  @Option(help: "Whether decoders that work in hardware are taken before others, or not at all.")
  var hardwareDecoders: HardwareDecoders.Preference = .automatic

  @Flag(
    inversion: .prefixedNo,
    help: "Whether a test picture stands in for a camera that cannot be opened, or the program ends with 69.")
  var fallback = true

  @Option(help: "How a picture is fitted to its surface.")
  var gravity: VideoGravity = .resizeAspect

  /// Where the picture-in-picture window goes; nil when no option says it.
  var pipPlacement: WindowPlacement? {
    guard pipSize != nil || pipCorner != nil else { return nil }
    let remembered = WindowPlacement.load(from: WindowPlacement.defaultPath) ?? WindowPlacement()
    return WindowPlacement(
      corner: pipCorner ?? remembered.corner, width: pipSize?.width ?? remembered.width,
      height: pipSize?.height ?? remembered.height)
  }

  /// The streams of files and URIs; nil where there is a pipeline, or nothing.
  var media: [StreamOption]? { StreamOption.media(pipeline) }

  /// The streams with pipelines of their own that there are.
  var ownStreams: [StreamOption] { (media ?? []) + streams }

  /// Those of them that are started at once.
  var initialStreams: [StreamOption] {
    if let media { return media }
    guard pipeline.isEmpty, pipelineFile == nil else { return [] }
    let later = Set(actions.compactMap { if case .startStream(let id) = $0.action { id } else { nil } })
    return streams.filter { !later.contains($0.streamID) }
  }

  /// Every stream ID that an option names.
  var wantedStreams: [StreamID] {
    [pipStream, pipSecond].compactMap(\.self) + processors.map(\.streamID) + localStreams
      + actions.compactMap { timed in
        switch timed.action {
        case .pictureInPicture(let id), .source(let id): id
        case .second(let id): id
        // Those have to be among the streams of --stream.
        case .startStream(let id), .stopStream(let id): id
        case .camera(_, let id), .microphone(_, let id), .process(let id, _): id
        default: nil
        }
      }
  }

  /// For pipelines.
  var retryPolicy: RetryPolicy {
    var policy = RetryPolicy.persistent
    if let retries { policy.limit = retries }
    return policy
  }

  var sessionConfiguration: PictureInPictureSession.Configuration {
    get throws(PipSinkError) {
      var configuration = PictureInPictureSession.Configuration()
      configuration.localStreamIDs = Set(localStreams)
      configuration.pictureInPictureStreamID = pipStream ?? initialStreams.first?.streamID
      configuration.secondPictureInPictureStreamID = pipSecond
      configuration.startsInPictureInPicture = mode == .pip
      configuration.streamSelectorPolicy = audio.pipPolicy.policy
      configuration.pictureInPicture.videoGravity = gravity
      configuration.pictureInPicture.endAction = pipEndAction
      configuration.pictureInPicture.preferredContentSize = pipAspectRatio
      configuration.pictureInPicture.retryPolicy?.limit = pipRetries
      configuration.retryPolicy = retryPolicy
      configuration.videoGravity = gravity
      configuration.isBackgroundDecodingEnabled = backgroundDecoding
      for option in processors {
        configuration.processors[option.streamID, default: []].append(
          try FrameProcessorRegistry.shared.makeProcessor(named: option.name, argument: option.argument))
      }
      return configuration
    }
  }

  func validate() throws {
    if let duration { try OptionRange.duration.check(duration, "--duration") }
    if let retries { try OptionRange.retries.check(retries, "--retries") }
    try OptionRange.retries.check(pipRetries, "--pip-retries")
    try OptionRange.stopTimeout.check(stopTimeout, "--stop-timeout")
    if pipelineFile != nil && !pipeline.isEmpty {
      throw ValidationError("Give the pipeline either as arguments or with --pipeline, not both.")
    }
  }

  func run() async throws {
    HardwareDecoders.preference = hardwareDecoders
    try SystemLimits.checkForPipelines()
    try LineLogHandler.install(logLevel)
    try PipSinkPlugin.register()
    let session = try await PlaySession(self, description: pipelineDescription().map(withCameras))
    try await session.run()
  }

  /// The description as it can be played here.
  private func withCameras(_ description: PipelineDescription) throws -> PipelineDescription {
    let (new, failures) = description.replacingCameras()
    guard let failure = failures.first else { return description }
    guard fallback else { throw DemoError(.unavailable, "no camera: \(failure)".visible) }
    StandardStream.error.say(
      "pipsink-demo: no camera: \(failure) A test picture stands in for it; --no-fallback ends the program instead."
        .visible)
    return new
  }

  private func pipelineDescription() throws -> PipelineDescription? {
    if let pipelineFile {
      return .text(try LaunchFile(path: pipelineFile).text)
    }
    if media != nil || pipeline.isEmpty && (dbus || !streams.isEmpty) { return nil }
    return pipeline.count == 1 ? .text(pipeline[0]) : .arguments(pipeline)
  }
}
