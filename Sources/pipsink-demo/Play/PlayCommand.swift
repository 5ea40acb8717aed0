import ArgumentParser
import GstPipSink
import PipSink
import PipSinkCommandLine
import PipSinkWindows

struct PlayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "play",
    abstract: "Plays files, URIs or a pipeline, and shows the streams.",
    discussion: """
      Every appsink in the pipeline is a stream, and its name is the stream ID:

        pipsink-demo play "videotestsrc ! appsink name=a" --mode pip --pip-stream a

      Files and URIs are played with their sound and subtitles. Each is a stream, and its ID is the file's name without \
      the extension:

        pipsink-demo play film.mkv https://example.org/talk.webm --mode pip --pip-stream talk

      Exit codes: 0 the run is complete; 64 an argument is wrong; 65 the pipeline cannot be parsed or linked; 69 an \
      element, a display or the session bus is missing; 71 too few threads, open files or address space are left; 74 a \
      stream failed while it ran, or was restarted and never delivered a frame, or a file or standard output could not \
      be written.
      """
  )

  enum Mode: String, ExpressibleByArgument, CaseIterable {
    case normal, pip
  }

  enum Surface: String, ExpressibleByArgument, CaseIterable {
    case auto, window, offscreen, none
  }

  enum Layout: String, ExpressibleByArgument, CaseIterable {
    /// All streams in rows and columns.
    case grid
    /// The first stream beside the second.
    case split
  }

  @Argument(help: "The pipeline, as one string or as the arguments of gst-launch-1.0; or files and URIs.")
  var pipeline: [String] = []

  @Option(name: .customLong("pipeline"), help: ArgumentHelp("Read the pipeline from this file.", valueName: "file"))
  var pipelineFile: String?

  @Option(
    name: .customLong("stream"),
    help: ArgumentHelp(
      """
      Add a stream with a pipeline of its own, which has one appsink. It starts at once, or when the action \
      "--at S=start:ID" says so. It is restarted when it fails, unless it can only fail again. A URI \
      whep://HOST/PATH, or wheps:// where it is encrypted, is a stream that a server sends by WHEP. Repeatable.
      """,
      valueName: "id=pipeline|uri"))
  var streams: [StreamOption] = []

  @Option(help: "Show all streams in the app at the start, or one of them in picture-in-picture.")
  var mode: Mode = .normal

  @Option(help: ArgumentHelp("The stream for picture-in-picture; the first one by default.", valueName: "id"))
  var pipStream: StreamID?

  @Option(
    help: ArgumentHelp(
      """
      A second stream that shares the picture-in-picture window with the first one. Each has one half of the window, or \
      with --pip-layout speaker the second one has a corner of it.
      """,
      valueName: "id"))
  var pipSecond: StreamID?

  @Option(
    help: """
      How streams are arranged in the picture-in-picture window: one of them, two halves, one with the local stream small \
      in a corner, or up to nine in rows and columns.
      """)
  var pipLayout = PictureInPictureLayout.single

  @Option(
    help: ArgumentHelp(
      """
      The controls of the picture-in-picture window: call, player, or names with commas between them, each with a label \
      and an icon if you like, as in "call,vote:Vote:emblem-ok-symbolic". The default is player, and that of \
      a call is call.
      """,
      valueName: "list"),
    transform: [PictureInPictureControl].init(text:))
  var pipControls: [PictureInPictureControl]?

  @Option(
    help: ArgumentHelp("The opacity of the picture-in-picture window, from 0.1 to 1.", valueName: "0.1..1"))
  var pipOpacity = 1.0

  @Flag(
    help: """
      Presses and scrolling go to the windows below the picture-in-picture window, until the button at its upper left is \
      pressed.
      """)
  var pipClickThrough = false

  @Flag(
    help: """
      The picture-in-picture window goes to the corner beside its own one when the pointer comes, and stays there when \
      the pointer follows within two seconds.
      """)
  var pipStepAside = false

  @Option(
    help: """
      What the picture-in-picture window does when its stream ends: show the next stream, stay open without a picture, \
      or close.
      """
  )
  var pipEndAction: PictureInPictureEndAction = .nextStream

  @Option(help: "What to show streams on. With \"none\" frames are only counted.")
  var surface: Surface = .auto

  @Option(
    help: """
      Who draws frames in windows: the processor ("cpu"), OpenGL ES ("gl"), a Wayland compositor that reads \
      their memory ("direct"), or that compositor where it shows the same colours, and the processor elsewhere \
      ("auto"). The default is PIPSINK_RENDERER in the environment, or else "auto".
      """)
  var renderer: WindowRenderer?

  @Flag(help: "Hide captions and subtitles at first. The key v and a control show them.")
  var noCaptions = false

  @Flag(
    help: "Start picture-in-picture when the app's window is hidden, and stop it when the window is visible again.")
  var autoPip = false

  @Flag(
    help: "Decode streams even while the app's window and picture-in-picture show none of their frames to the user.")
  var backgroundDecoding = false

  @Option(
    name: .customLong("local"),
    help: ArgumentHelp(
      "This stream is local: it is mirrored, and picture-in-picture prefers the others. Repeatable.", valueName: "id"))
  var localStreams: [StreamID] = []

  @Flag(name: .customLong("no-mirror"), help: "Do not mirror local streams.")
  var showsLocalUnmirrored = false

  @Option(
    name: .customLong("screen-share"),
    help: ArgumentHelp(
      """
      This stream shows somebody's screen: it is never cropped, and picture-in-picture prefers it to streams that \
      nobody has chosen. Repeatable.
      """,
      valueName: "id"))
  var screenShares: [StreamID] = []

  @Option(
    name: .customLong("pip-exclude"),
    help: ArgumentHelp("Never show this stream in picture-in-picture. Repeatable.", valueName: "id"))
  var excludedStreams: [StreamID] = []

  @Flag(
    name: .customLong("dbus"),
    help: """
      Let other processes control the run on the session bus, as org.pipsink.Session1 and as a media player. No \
      pipeline is needed then.
      """
  )
  var dbus = false

  @Flag(
    name: .customLong("allow-idle"),
    help: "Let the screen go off although something that plays can be seen.")
  var allowIdle = false

  @Option(help: ArgumentHelp("Stop after this number of seconds, at most 1000000000.", valueName: "s"))
  var duration: Double?

  @Option(
    help: ArgumentHelp(
      """
      Abandon a pipeline that has not stopped after this number of seconds, for example because its source blocks. \
      After Ctrl-C the limit is one second.
      """,
      valueName: "s"))
  var stopTimeout = 5.0

  @Option(
    help: ArgumentHelp(
      """
      Restart a pipeline whose streams have failed or stalled at most this number of times in a row: 0 to 1000000000. \
      Without the option it is restarted for as long as the program runs.
      """,
      valueName: "n"))
  var retries: Int?

  @Option(
    help: ArgumentHelp(
      """
      Reopen a picture-in-picture window that cannot be opened or that has failed at most this number of times: 0 to \
      1000000000.
      """,
      valueName: "n"))
  var pipRetries = RetryPolicy().limit

  @Option(
    help: ArgumentHelp(
      "Write what the surfaces show into this folder, as PNG files: at the end, and at every \"snapshot\" action.",
      valueName: "dir"))
  var snapshots: String?

  @Option(help: ArgumentHelp("Write a JSON report to this file; \"-\" is standard output.", valueName: "file"))
  var report: String?

  @Option(
    help: ArgumentHelp(
      "Rewrite this file every second with statistics in Prometheus' text format.", valueName: "file"))
  var metrics: String?

  @Option(
    help: ArgumentHelp(
      """
      What to log on standard error: LABEL:LEVEL or LEVEL, separated by commas. Of several entries that match, the \
      last one counts. Examples are "pipsink.*:debug", and "gstreamer.basesink:debug" for a category of GStreamer's \
      log. The default is PIPSINK_DEBUG in the environment, or else "notice".
      """,
      valueName: "spec"),
    transform: LogLevels.init)
  var logLevel: LogLevels?

  @Option(
    name: .customLong("at"),
    help: ArgumentHelp(
      """
      Perform an action at a time after the start, from 0 to 1000000000 seconds: pip:ID, normal, source:ID, any, \
      second:ID, single, layout:LAYOUT, control:NAME, focus, uninit, init, close, background, foreground, \
      start:ID, stop:ID, camera-off:ID, camera-on:ID, microphone-off:ID, microphone-on:ID, connection:ID=QUALITY, \
      image:ID=FILE, caption:ID:TEXT, process:ID=NAME[:ARGUMENT], custom-render:SERIES, custom-render:off, \
      seek:SECONDS, pause, mute, captions, volume:0..1, snapshot or quit. Repeatable.
      """,
      valueName: "seconds=action"),
    transform: TimedAction.init)
  var actions: [TimedAction] = []

  @Option(
    name: .customLong("process"),
    help: ArgumentHelp(
      """
      Put the frames of a stream through a processor before they are shown; "pipsink-demo processors" lists the \
      processors. Repeatable.
      """,
      valueName: "stream=name[:argument]"))
  var processors: [ProcessorOption] = []

  @Option(
    help: ArgumentHelp(
      """
      Give the frames of every stream to a renderer of the program as well, which counts them. The pipelines are asked \
      for "any", "rgb" or "yuv" formats, or for one pixel format.
      """,
      valueName: "series"))
  var customRender: FrameFormatSeries?

  @Option(
    help: ArgumentHelp(
      """
      The size of the app's window (960x540), or of each in-app surface offscreen (640x360), in pixels: from 1x1 to \
      32767x32767.
      """,
      valueName: "WxH"))
  var windowSize: PictureSize?

  @Option(
    help: ArgumentHelp(
      """
      The size of the picture-in-picture surface in pixels, from 1x1 to 32767x32767. The default is the last size that \
      it had, or 320x180.
      """,
      valueName: "WxH")
  )
  var pipSize: PictureSize?

  @Option(
    help: ArgumentHelp(
      "The shape of the picture-in-picture window, such as 16x9. The default is the shape of its stream.",
      valueName: "WxH"))
  var pipAspectRatio: PictureSize?

  @Option(
    help: ArgumentHelp(
      """
      The corner of the screen in which the picture-in-picture window opens. The default is the last corner that it \
      was in, or bottom-right.
      """,
      valueName: "corner"))
  var pipCorner: WindowCorner?

  @Option(help: "How the app's window shows its streams: all in a grid, or the first one beside the second.")
  var layout: Layout = .grid

  @OptionGroup(title: "Sound")
  var audio: AudioOptions

  @OptionGroup(title: "Servers of WHEP and WHIP")
  var sending: SendingOptions

  @Option(help: "Whether hardware decoders are preferred to others (on), or not used (off).")
  var hardwareDecoders: HardwareDecoders.Preference = .automatic

  @Flag(
    inversion: .prefixedNo,
    help: "Whether a test picture replaces a camera that cannot be opened, or the program ends with 69.")
  var fallback = true

  @Option(help: "How a picture is fitted to its surface.")
  var gravity: VideoGravity = .resizeAspect

  func validate() throws {
    if let duration { try OptionRange.duration.check(duration, "--duration") }
    if let retries { try OptionRange.retries.check(retries, "--retries") }
    try OptionRange.retries.check(pipRetries, "--pip-retries")
    try OptionRange.opacity.check(pipOpacity, "--pip-opacity")
    try OptionRange.stopTimeout.check(stopTimeout, "--stop-timeout")
    if pipelineFile != nil && !pipeline.isEmpty {
      throw ValidationError("Give the pipeline either as arguments or with --pipeline, not both.")
    }
    if pipeline.count > 1, let whole = pipeline.first(where: Self.isWholePipeline) {
      throw ValidationError(
        "The argument \"\(whole.visible)\" is a whole pipeline, so it has to be the only argument. Write all pipelines "
          + "in one argument, or add streams with --stream ID=PIPELINE, also for files and URIs beside a pipeline.")
    }
  }

  /// Whether one of several arguments is a pipeline in itself. As arguments of gst-launch-1.0, only the value of a
  /// property may contain a linked pipeline.
  private static func isWholePipeline(_ argument: String) -> Bool {
    let words = argument.split(whereSeparator: \.isWhitespace)
    return words.count > 2 && words.contains("!") && words.first?.contains("=") == false
  }

  func run() async throws { try await run(isCall: false) }

  /// - Parameter isCall: whether the streams of the pipeline are local.
  func run(isCall: Bool) async throws {
    HardwareDecoders.preference = hardwareDecoders
    try SystemLimits.checkForPipelines()
    try LineLogHandler.install(logLevel)
    try PipSinkPlugin.register()
    let session = try await PlaySession(
      self, description: pipelineDescription().map(withCameras), isCall: isCall)
    try await session.run()
  }

  /// Replaces cameras that cannot be opened, if the options allow it.
  private func withCameras(_ description: PipelineDescription) throws -> PipelineDescription {
    let (new, failures) = description.replacingCameras()
    guard let failure = failures.first else { return description }
    guard fallback else { throw CommandError(.unavailable, "no camera: \(failure)".visible) }
    StandardStream.error.say(
      "pipsink-demo: no camera: \(failure) A test picture replaces it; --no-fallback ends the program instead."
        .visible)
    return new
  }
}
