/// Everything that an app's picture-in-picture needs, kept in step: its streams, the places where they are shown, the
/// picture-in-picture window and its controls, sound, placeholders, and what is decoded.
///
/// The session owns a ``VideoEngine``, a ``FrameRouter``, a layer for each stream, and a ``PictureInPictureController``
/// with its stream selector, and connects them. When a stream is added, ends, fails or loses its camera, the selector,
/// the placeholders and the window follow. Pause, mute and volume are set in one place and shown everywhere.
/// Hidden streams are not decoded. Its parts are accessible for everything that the session has no method for.
///
/// The session lives on the main actor; frames never wait for it. When it is released, its streams stop and its windows
/// close.
@MainActor
public final class PictureInPictureSession {
  /// How a session begins.
  public struct Configuration: Sendable {
    /// The streams that are the user's own picture. They need not exist yet.
    public var localStreamIDs: Set<StreamID> = []
    /// Whether pictures of local streams are mirrored where they are shown, as people know themselves from a mirror.
    /// Screens never are.
    public var mirrorsLocalStreams = true
    /// The streams that show somebody's screen (``setScreenShare(_:of:)``). They need not exist yet.
    public var screenShareStreamIDs: Set<StreamID> = []
    /// The streams that are never in picture-in-picture, as ``setPictureInPictureAllowed(_:of:)`` says of a stream that
    /// is there.
    package var excludedStreamIDs: Set<StreamID> = []
    /// The stream that the user wants in picture-in-picture, which need not exist yet. It is shown whenever it has a
    /// picture, and otherwise another one is. With nil the stream selector chooses.
    public var pictureInPictureStreamID: StreamID?
    /// The stream in the window's second place (``setSecondPictureInPictureStream(_:)``), which need not exist yet.
    public var secondPictureInPictureStreamID: StreamID?
    /// Whether picture-in-picture begins with the session, from its stream's first frame on. It waits for the stream
    /// that the user wants, if that is there.
    public var startsInPictureInPicture = false
    /// How the stream for picture-in-picture is chosen where nobody has chosen one.
    public var streamSelectorPolicy = PictureInPictureStreamSelector.Policy.first
    /// The configuration of the picture-in-picture controllers.
    public var pictureInPicture = PictureInPictureController.Configuration()
    /// How frames are fitted to their places in the app.
    public var videoGravity = VideoGravity.resizeAspect
    /// The timeouts of the pipeline that the session begins with, and when it is started again
    /// (``VideoEngine/configuration``).
    public var pipeline = PipelineConfiguration()
    /// Whether hidden streams are decoded all the same.
    public var isBackgroundDecodingEnabled = false
    /// The processors that the frames of streams go through first. The streams need not exist yet.
    public var processors: [StreamID: [any FrameProcessor]] = [:]

    /// Makes the default configuration.
    public init() {}
  }

  /// The engine that runs the pipelines. The session owns it.
  public let engine: VideoEngine
  /// The router that sends frames to the layers. The session owns it.
  public let router: FrameRouter
  /// Where streams are shown.
  public let display: any SessionDisplay
  /// The controller of the session's picture-in-picture window. Streams with windows for themselves have further
  /// controllers (``addPictureInPictureWindow(for:)``).
  public let controller: PictureInPictureController
  /// The controllers of streams with windows for themselves.
  public var dedicatedControllers: [StreamID: PictureInPictureController] { known.compactMapValues(\.controller) }
  /// Brings the app's user interface back when the user leaves picture-in-picture for it, and returns whether that was
  /// possible. With nil the display does it.
  public var restoreUserInterface: (@MainActor () async -> Bool)?
  /// What the app does when the user uses a control of a picture-in-picture window, for each control that it handles.
  /// The windows offer these. The session itself handles play and pause, mute, captions, skipping, and, where it sends
  /// the local picture away, microphone and camera, unless the app does. The controls that close a window, change its
  /// stream or its layout, or seek to a place on the bar have no handlers.
  public var actionHandlers: [PictureInPictureAction: @MainActor () -> Void] = [:] {
    didSet { updateHandledActions() }
  }
  /// Whether captions are shown over the streams that have any. The user switches them by a control, or the key v.
  public var showsCaptions = true {
    didSet { if showsCaptions != oldValue { updateCaptions() } }
  }
  /// The controls that are offered although the app has no handler for them: play, pause and mute, which the session
  /// does, and those that the app learns of by events.
  package var offeredActions: Set<PictureInPictureAction> = [.playPause, .mute] {
    didSet { updateHandledActions() }
  }
  /// Called instead of pausing or resuming the streams when ``isPaused`` is set. It is for streams whose pipelines
  /// belong to somebody else, who reports the result with ``notePaused(_:)``.
  public var pauseHandler: (@MainActor (_ isPaused: Bool) -> Void)?
  /// Called instead of muting or unmuting the streams when ``isMuted`` is set. It is for streams whose sound belongs to
  /// somebody else, who reports the result with ``noteMuted(_:)``.
  public var muteHandler: (@MainActor (_ isMuted: Bool) -> Void)?

  /// Whether picture-in-picture starts by itself when the app goes to the background, and stops when the app returns.
  public var startsAutomatically = false {
    didSet { updateAutomaticStart() }
  }
  /// Whether the screen stays on while something that plays can be seen. An `IdleInhibitor` of PipSinkDBus sets it.
  package var keepsScreenOn = false {
    didSet { updateWatched() }
  }
  /// Whether the user's session is locked (`LoginMonitor` of PipSinkDBus). The picture-in-picture windows are hidden
  /// then, and everything else goes on.
  package var isScreenLocked = false {
    didSet {
      for controller in controllers { controller.isScreenLocked = isScreenLocked }
      updateWatched()
    }
  }

  let configuration: Configuration
  let broadcast = Broadcast<SessionEvent>()
  /// Whether the screen has to stay on (``updateWatched()``).
  var isScreenKeptOn = false
  let screenBroadcast = Broadcast<Bool>()
  /// All streams. A stream that is removed here is forgotten.
  var known: [StreamID: SessionStream] = [:]
  /// Those who send streams away, who may wait for a stream that has been removed.
  var senders: [StreamID: [any StreamSender]] = [:]
  /// The second stream that the configuration names, until it is there or the app chooses one.
  var comingSecondStreamID: StreamID?
  /// The last seek that a control has asked for.
  var skipping: Task<Void, Never>?
  /// Notes streams that stall or freeze; nil while none can.
  var flowWatch: Task<Void, Never>?
  /// Notes when somebody has stopped speaking, and when the time of a caption is over; nil while there is nothing to
  /// wait for.
  var participantWatch: Task<Void, Never>?
  /// Asks how far the streams in picture-in-picture have come.
  var progress = ProgressWatch()
  /// Looks again at the demand for streams, for which less has been asked for a moment.
  var demandWatch: Task<Void, Never>?
  private var tasks: [Task<Void, Never>] = []
  let log = SessionLog()
  let meter = PictureInPictureMeter()

  /// Makes a session. Nothing runs and nothing is shown before ``start()``.
  ///
  /// - Parameters:
  ///   - description: a pipeline in which each appsink is a stream; nil for a session whose streams are added later.
  ///   - display: where streams are shown. One display belongs to one session.
  ///   - configuration: how the session begins.
  /// - Throws: the errors of ``VideoEngine/init(_:)`` and ``SessionDisplay/add(_:for:)``.
  public convenience init(
    _ description: PipelineDescription? = nil, display: any SessionDisplay, configuration: Configuration = .init()
  ) throws(PipSinkError) {
    let engine = if let description { try VideoEngine(description) } else { try VideoEngine() }
    try self.init(engine, display, configuration)
  }

  /// Makes a session for an engine.
  ///
  /// - Parameters:
  ///   - engine: an engine that has not been started. The session owns it from now on.
  ///   - router: a router that may have streams already; ``addStream(_:layer:prepare:)`` adds them to the session.
  package init(
    _ engine: VideoEngine, _ display: any SessionDisplay, _ configuration: Configuration, router: FrameRouter? = nil
  ) throws(PipSinkError) {
    var selector = PictureInPictureStreamSelector(policy: configuration.streamSelectorPolicy)
    selector.isManaged = true
    let wanted = configuration.pictureInPictureStreamID.flatMap { id in
      configuration.excludedStreamIDs.contains(id) ? nil : id
    }
    selector.select(wanted)
    engine.localStreamIDs = configuration.localStreamIDs
    for id in engine.streamIDs where !configuration.excludedStreamIDs.contains(id) {
      let isScreenShare = configuration.screenShareStreamIDs.contains(id)
      let isLocal = configuration.localStreamIDs.contains(id)
      selector.set(id, isLocal: isLocal, isScreenShare: isScreenShare, placeholder: .waiting)
    }
    let chosen = wanted ?? selector.selected
    let begins = configuration.startsInPictureInPicture && chosen != nil
    // The routing applies from the first frame on.
    let table = RoutingTable(mode: begins ? .pictureInPicture : .normal, pictureInPictureStreamID: chosen)
    (self.engine, self.display, self.configuration) = (engine, display, configuration)
    comingSecondStreamID = configuration.secondPictureInPictureStreamID
    self.router = router ?? FrameRouter(table: table)
    engine.configuration = configuration.pipeline
    // Streams that are started in one go are all known before the first of them has a frame.
    engine.status.state.withLock { $0.startGate = { await MainActor.run {} } }
    engine.isBackgroundDecodingEnabled = configuration.isBackgroundDecodingEnabled
    controller = PictureInPictureController(
      contentSource: ContentSource(router: self.router, streamID: selector.selected ?? ""),
      window: display.pictureInPictureHost, configuration: configuration.pictureInPicture)
    for id in engine.streamIDs { known[id] = try makeStream(id, .stopped) }
    controller.streamSelector = selector
    controller.observeEvents { [weak self] event in self?.handle(event) }
    connect(controller)
    display.eventHandler = { [weak self] event in self?.handle(event) }
    observeStreams()
    updateBackgroundWatch()
    updatePlaces()
    self.router.demandNotice.set { [weak self] in Task { @MainActor in self?.updateDemand() } }
    updateDemand()
  }

  isolated deinit {
    for task in tasks { task.cancel() }
    flowWatch?.cancel()
    demandWatch?.cancel()
    participantWatch?.cancel()
    progress.task?.cancel()
    display.eventHandler = nil
  }

  /// Connects a controller to the session.
  func connect(_ controller: PictureInPictureController) {
    controller.restoreUserInterface = { [weak self] in await self?.showApp() ?? true }
    controller.observeEvents { [weak self, weak controller] event in
      if case .action(let action) = event, let controller { self?.perform(action, in: controller) }
    }
    controller.engine = engine
    controller.isScreenLocked = isScreenLocked
    updateHandledActions(of: controller)
    controller.controlsChanged = { [weak self] in self?.watchProgress() }
    controller.seekHandler = { [weak self, weak controller] position in
      if let self, let controller { skip(controller.currentStreamID, to: position) }
    }
    controller.isPaused = isPlaybackPaused
    controller.isMuted = isMuted
    controller.participants = known.mapValues(\.participant)
  }

  /// Listens to the engine and the router.
  private func observeStreams() {
    let (events, firstFrames, failures) = (engine.events(), router.firstFrames(), router.surfaceFailures())
    tasks = [
      Task { [weak self] in for await event in events { self?.handle(event) } },
      Task { [weak self] in for await id in firstFrames { self?.noteAwaitedFrame(of: id) } },
      Task { [weak self] in
        for await failure in failures {
          let id = failure.streamID
          self?.emit(failure.error.map { .surfaceFailed(id, $0) } ?? .surfaceRecovered(id))
        }
      },
    ]
  }

  // MARK: - Start and stop

  /// Shows the app's window, begins picture-in-picture where the configuration says so, and starts the pipeline. Where
  /// picture-in-picture is not possible, the streams start without it (``SessionEvent/refused(_:)``).
  ///
  /// - Throws: the errors of ``VideoEngine/start(within:deliveringTo:)``.
  public func start() async throws(PipSinkError) {
    display.show()
    for id in router.streamIDs { takeConfiguredSecondStream(id) }
    if configuration.startsInPictureInPicture {
      attempt { () throws(PipSinkError) in try startPictureInPicture() }
      controller.prepare(controller.streamID)
    }
    guard !engine.streamIDs.isEmpty else { return }
    let (router, chains) = (router, known.compactMapValues(\.chain))
    try await engine.start { Self.input(of: $0, router, chains[$0]) }
  }

  /// Starts the session and waits until the user closes the app's window, every stream has ended, or ``invalidate()``
  /// is called. Then it stops the session.
  ///
  /// - Throws: the errors of ``start()``, and the reason when the app's window is lost together with its display
  ///   server.
  public func run() async throws(PipSinkError) {
    let events = events()
    try await start()
    var failure: PipSinkError?
    loop: for await event in events {
      switch event {
      case .display(.windowLost(let error)):
        failure = error
        break loop
      case .display(.closeRequested): break loop
      // A stream may have been started since.
      case .engine(.finished) where engine.hasFinished: break loop
      default: break
      }
    }
    await stop()
    if let failure { throw failure }
  }

  /// Stops all streams. The last pictures stay where they are shown, and ``start()`` resumes.
  ///
  /// - Parameter time: how long pipelines may take to stop; nil for the `stateChangeTimeout` of the engine's
  ///   configuration.
  /// - Returns: whether everything has stopped. What had not stopped was abandoned.
  @discardableResult
  public func stop(within time: Duration? = nil) async -> Bool {
    let deadline = MonotonicTime.now.advanced(by: time ?? engine.configuration.stateChangeTimeout)
    let ends = endInputsAndSenders()
    let hasStopped = await engine.stop(within: time)
    for end in ends { await end.value(by: deadline) }
    return hasStopped
  }

  /// Ends everything: streams, picture-in-picture, windows for single streams, and the app's window where the display
  /// owns it. The streams of ``events()`` end then, and ``run()`` returns.
  public func invalidate() async {
    uninitializePictureInPicture()
    for id in known.keys { known[id]?.controller = nil }
    display.hide()
    await stop()
    broadcast.finish()
  }

  /// The resources that the process has used while picture-in-picture was active in the session's window.
  public var pictureInPictureUsage: PictureInPictureUsage { meter.usage }
}
