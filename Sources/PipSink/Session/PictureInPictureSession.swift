/// Everything that an app's picture-in-picture needs, kept in step: its streams, where they are shown, the
/// picture-in-picture window and its controls, sound, placeholders, and what is decoded.
///
/// The session owns a ``VideoEngine``, a ``FrameRouter``, a layer for each stream, and a
/// ``PictureInPictureController`` with its stream selector, and connects them: a stream that comes, ends, fails or loses
/// its camera reaches the selector, the placeholders and the window; whether streams are paused, muted or how loud they
/// are is said in one place and shown in all; what nobody can see is not decoded. Its parts stay reachable for what it
/// has no method for.
///
/// Control lives on the main actor; frames never wait for it. Dropping the session stops its streams and takes its
/// windows away.
@MainActor
public final class PictureInPictureSession {
  /// How a session begins.
  public struct Configuration: Sendable {
    /// Streams that are the app's own picture. May name streams that are still to come.
    public var localStreamIDs: Set<StreamID> = []
    /// The stream for picture-in-picture; may still be to come. Nil has the stream selector choose.
    public var pictureInPictureStreamID: StreamID?
    /// The stream in the other half of its window (``setSecondPictureInPictureStream(_:)``); may still be to come.
    public var secondPictureInPictureStreamID: StreamID?
    /// Whether picture-in-picture begins with the session, from its stream's first frame on.
    public var startsInPictureInPicture = false
    /// Who is shown in picture-in-picture where nobody says it.
    public var streamSelectorPolicy = PictureInPictureStreamSelector.Policy.first
    /// Of the picture-in-picture controller.
    public var pictureInPicture = PictureInPictureController.Configuration()
    /// How pictures are fitted to their places in the app.
    public var videoGravity = VideoGravity.resizeAspect
    /// What follows when the pipeline that the session begins with has failed (``VideoEngine/retryPolicy``). Streams with
    /// pipelines of their own have a ``StreamConfiguration``.
    public var retryPolicy: RetryPolicy? = .persistent
    /// Whether streams that nobody can see are decoded all the same.
    public var isBackgroundDecodingEnabled = false
    /// What the frames of streams go through first. Streams may still be to come.
    public var processors: [StreamID: [any FrameProcessor]] = [:]

    public init() {}
  }

  public let engine: VideoEngine
  public let router: FrameRouter
  public let display: any SessionDisplay
  /// Of the window that every session has. Streams with windows for themselves have further ones
  /// (``addPictureInPictureWindow(for:)``).
  public let controller: PictureInPictureController
  /// The controllers of streams with windows for themselves.
  public internal(set) var dedicatedControllers: [StreamID: PictureInPictureController] = [:]
  /// Asked to bring the app's user interface back when the user leaves picture-in-picture for it; returns whether that
  /// could be done. Nil has the display do it.
  public var restoreUserInterface: (@MainActor () async -> Bool)?
  /// Asked about a control of the picture-in-picture window before the session carries it out; returns whether the app
  /// has done so. For apps whose streams are not the session's to pause.
  public var actionHandler: (@MainActor (PictureInPictureAction) -> Bool)?
  /// Asked to pause the streams, or to have them go on, where ``isPaused`` is set: for streams whose pipelines are somebody
  /// else's. ``notePaused(_:)`` says what has come of it.
  public var pauseHandler: (@MainActor (_ isPaused: Bool) -> Void)?
  /// Asked to switch the streams' sound off or on where ``isMuted`` is set: for streams whose sound is somebody else's.
  /// ``noteMuted(_:)`` says what has come of it.
  public var muteHandler: (@MainActor (_ isMuted: Bool) -> Void)?

  /// Whether picture-in-picture starts by itself when the app goes to the background, and stops when it comes back.
  public var startsAutomatically = false {
    didSet { updateAutomaticStart() }
  }

  let configuration: Configuration
  let broadcast = Broadcast<SessionEvent>()
  /// What the streams do, as far as it has been told.
  var playStates: [StreamID: StreamPlayState] = [:]
  var layers: [StreamID: SampleBufferDisplayLayer] = [:]
  /// Of streams that can be sought in.
  var durations: [StreamID: MediaTime] = [:]
  /// The last of the seeks that controls have asked for.
  var skipping: Task<Void, Never>?
  var chains: [StreamID: ProcessorChain] = [:]
  /// By the streams with a pipeline of their own: whether they have been removed.
  var removals: [StreamID: Locked<Bool>] = [:]
  /// What every stream's place was told to show; the value nil is the picture.
  var placeholders: [StreamID: StreamPlaceholder?] = [:]
  /// The streams whose cameras were found to be off.
  var camerasOff: Set<StreamID> = []
  /// The streams whose places were told that their microphones are off.
  var microphonesOff: Set<StreamID> = []
  /// Streams whose way through the router is their owners'.
  var routedElsewhere: Set<StreamID> = []
  /// Renderers that show streams besides.
  var attachments: [StreamID: [(renderer: any VideoRenderer, layer: SampleBufferDisplayLayer)]] = [:]
  private var tasks: [Task<Void, Never>] = []
  private let log = SessionLog()
  private let meter = PictureInPictureMeter()

  /// Makes a session; nothing runs and nothing is shown before ``start()``.
  ///
  /// - Parameters:
  ///   - description: a pipeline, each appsink of which is a stream; nil for a session whose streams come later.
  ///   - display: where streams are shown; one session has it for itself.
  /// - Throws: as ``VideoEngine/init(_:)``, and as ``SessionDisplay/add(_:for:)``.
  public convenience init(
    _ description: PipelineDescription? = nil, display: any SessionDisplay, configuration: Configuration = .init()
  ) throws(PipSinkError) {
    let engine = if let description { try VideoEngine(description) } else { try VideoEngine() }
    try self.init(engine, display, configuration)
  }

  /// - Parameters:
  ///   - engine: not started, and the session's from now on.
  ///   - router: may have streams already, which ``addStream(_:layer:prepare:)`` makes the session's.
  package init(
    _ engine: VideoEngine, _ display: any SessionDisplay, _ configuration: Configuration, router: FrameRouter? = nil
  ) throws(PipSinkError) {
    let selector = Self.selector(of: engine.streamIDs, configuration)
    let chosen = configuration.pictureInPictureStreamID ?? selector.selected
    let begins = configuration.startsInPictureInPicture && chosen != nil
    // From the first frame on.
    let table = RoutingTable(mode: begins ? .pictureInPicture : .normal, pictureInPictureStreamID: chosen)
    (self.engine, self.display, self.configuration) = (engine, display, configuration)
    self.router = router ?? FrameRouter(table: table)
    engine.localStreamIDs = configuration.localStreamIDs
    engine.retryPolicy = configuration.retryPolicy
    engine.isBackgroundDecodingEnabled = configuration.isBackgroundDecodingEnabled
    controller = PictureInPictureController(
      contentSource: ContentSource(router: self.router, streamID: chosen ?? ""),
      window: display.pictureInPictureHost, configuration: configuration.pictureInPicture)
    for id in engine.streamIDs {
      try addLayer(for: id)
      playStates[id] = .stopped
    }
    controller.streamSelector = selector
    connect(controller)
    controller.observeEvents { [weak self] event in self?.handle(event) }
    display.eventHandler = { [weak self] event in self?.handle(event) }
    hearStreams()
    updateBackgroundWatch()
    updatePlaceholders()
  }

  private static func selector(
    of streamIDs: [StreamID], _ configuration: Configuration
  ) -> PictureInPictureStreamSelector {
    var selector = PictureInPictureStreamSelector(policy: configuration.streamSelectorPolicy)
    for id in streamIDs { selector.add(id, isLocal: configuration.localStreamIDs.contains(id)) }
    if let wanted = configuration.pictureInPictureStreamID { selector.select(wanted) }
    return selector
  }

  isolated deinit {
    for task in tasks { task.cancel() }
    display.eventHandler = nil
  }

  func connect(_ controller: PictureInPictureController) {
    controller.delegate = self
    controller.engine = engine
    controller.handledActions = [.playPause, .mute]
    controller.isPaused = isPlaybackPaused
    controller.isMuted = isMuted
  }

  private func hearStreams() {
    let (events, firstFrames) = (engine.events(), router.firstFrames())
    tasks = [
      Task { [weak self] in for await event in events { self?.handle(event) } },
      Task { [weak self] in for await id in firstFrames { self?.noteFirstFrame(of: id) } },
    ]
  }

  // MARK: - Start and stop

  /// Shows the app's window, begins picture-in-picture where the configuration says so, and starts the pipeline. Where
  /// picture-in-picture cannot be had, the streams go on without it (``SessionEvent/refused(_:)``).
  ///
  /// - Throws: as ``VideoEngine/start(within:deliveringTo:)``.
  public func start() async throws(PipSinkError) {
    display.show()
    for id in router.streamIDs { takeConfiguredSecondStream(id) }
    if configuration.startsInPictureInPicture { attempt { () throws(PipSinkError) in try startPictureInPicture() } }
    guard !engine.streamIDs.isEmpty else { return }
    let (router, chains) = (router, chains)
    try await engine.start(within: engine.stateChangeTimeout) { Self.input(of: $0, router, chains[$0]) }
  }

  /// Starts the session, waits until the user closes the app's window, every stream has come to its end, or
  /// ``invalidate()`` is called, and stops it.
  ///
  /// - Throws: as ``start()``, and the reason when the app's window goes with its display server.
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

  /// Stops all streams. The last pictures stay where they are shown; ``start()`` goes on.
  ///
  /// - Parameter time: what pipelines have for their stop; nil for the engine's `stateChangeTimeout`.
  /// - Returns: whether everything has stopped. What had not was given up.
  @discardableResult
  public func stop(within time: Duration? = nil) async -> Bool {
    await engine.stop(within: time ?? engine.stateChangeTimeout)
  }

  /// Ends everything: streams, picture-in-picture, windows for single streams, the app's window where it is the display's
  /// own. The streams of ``events()`` end then, and ``run()`` returns.
  public func invalidate() async {
    uninitializePictureInPicture()
    dedicatedControllers = [:]
    display.hide()
    await stop()
    broadcast.finish()
  }

  /// What the process has used while picture-in-picture was active with the session's own window, up to now.
  public var pictureInPictureUsage: PictureInPictureUsage { meter.usage }

  // MARK: - Events

  /// The events from now on; each call gives a stream of its own. It ends when the session goes away.
  public func events() -> AsyncStream<SessionEvent> { broadcast.stream() }

  /// Calls `observer` with every event from now on, while it happens: before the call returns that brought it about.
  package func observeEvents(_ observer: @escaping @MainActor (SessionEvent) -> Void) {
    broadcast.observe { event in MainActor.assumeIsolated { observer(event) } }
  }

  func emit(_ event: SessionEvent) {
    log.note(event)
    broadcast.send(event)
  }

  /// Does what nobody waits for the answer of.
  package func attempt(_ body: () throws(PipSinkError) -> Void) {
    do throws(PipSinkError) {
      try body()
    } catch {
      emit(.refused(error))
    }
  }

  /// Everything that is to be told of picture-in-picture with the session's own window.
  private func handle(_ event: PictureInPictureEvent) {
    switch event {
    case .didStart: meter.begin()
    case .didStop: meter.end()
    default: break
    }
    let id = controller.currentStreamID
    log.note(event, of: id, meter.usage)
    if case .sourceChanged(_, let id) = event { updateContent(of: id) }
    updateSkipping()
    updatePlaceholders()
    emit(.pictureInPicture(event, of: id))
  }

  private func handle(_ event: SessionDisplayEvent) {
    emit(.display(event))
    switch event {
    case .background(let isInBackground): setBackground(isInBackground)
    case .key(let key):
      guard let action = SessionAction(key: key) else { return }
      attempt { () throws(PipSinkError) in try perform(action) }
    case .pictureInPictureToggled(let id):
      attempt { () throws(PipSinkError) in
        if pictureInPictureStreamID == id { stopPictureInPicture() } else { try startPictureInPicture(id) }
      }
    case .closeRequested, .windowLost: break
    }
  }
}
