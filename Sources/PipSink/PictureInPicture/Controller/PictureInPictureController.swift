import Logging

/// Shows a source in a picture-in-picture window and brings it back, with AVPictureInPictureController's meaning.
///
/// It lives on the main actor and does nothing by itself but what is said here: it starts when it is asked to or, where
/// that is allowed, when the app goes to the background; it stops when it is asked to, when the user leaves or closes
/// the window, when the window dies, and, if it had started by itself, when the app comes back. Frames are never lost
/// or repeated by that. Dropping it takes its window away.
@MainActor
public final class PictureInPictureController {
  public weak var delegate: (any PictureInPictureControllerDelegate)?
  /// Sees to it that nobody can skip: an advertisement.
  public var requiresLinearPlayback = false {
    didSet { updatePresentation() }
  }
  public var configuration: Configuration {
    didSet {
      handover.setGravity(configuration.videoGravity)
      second?.handover.setGravity(configuration.videoGravity)
      updatePresentation()
      updateVisibility()
    }
  }
  /// Whose decoders stand still while nobody sees their streams (``VideoEngine/isBackgroundDecodingEnabled``): the
  /// controller tells it what can be seen.
  public weak var engine: VideoEngine? {
    didSet { updateVisibility() }
  }

  let clock: SchedulingClock
  let window: any PictureInPictureHost
  let source: ContentSource
  let handover: PictureInPictureHandover
  /// Changed by ``become(_:telling:)`` alone.
  private(set) var phase = PictureInPicturePhase.settingUp
  var background = PictureInPictureBackground()
  var runCount = 0
  var streamID: StreamID
  /// The stream that the selector wants and that has no picture yet.
  var awaitedStreamID: StreamID?
  var streamAspectRatio: Double?
  var second: SecondStream?
  /// Where `stateChanged` has come to on the diagram.
  private var told = PictureInPictureStateMachine()
  private let broadcast = Broadcast<PictureInPictureEvent>()
  private var firstFrames: Task<Void, Never>?

  /// - Parameters:
  ///   - contentSource: what is shown.
  ///   - window: where; one controller has it for itself.
  public convenience init(
    contentSource: ContentSource, window: any PictureInPictureHost, configuration: Configuration = .init()
  ) {
    self.init(contentSource: contentSource, window: window, configuration: configuration, clock: .system)
  }

  /// - Parameter clock: what it waits by.
  init(
    contentSource: ContentSource, window: any PictureInPictureHost, configuration: Configuration = .init(),
    clock: SchedulingClock
  ) {
    self.clock = clock
    source = contentSource
    self.window = window
    self.configuration = configuration
    handover = PictureInPictureHandover(contentSource, clock)
    handover.setGravity(configuration.videoGravity)
    if case .stream(_, let id, _) = contentSource.kind { streamID = id } else { streamID = "" }
    window.eventHandler = { [weak self] event in self?.handle(event) }
    displayLayer.observeSizes { [weak self] sampleBuffer in
      let ratio = sampleBuffer.displayAspectRatio
      Task { @MainActor in self?.streamDidChange(aspectRatio: ratio) }
    }
    if let router = handover.router {
      let ids = router.firstFrames()
      firstFrames = Task { [weak self] in
        for await id in ids { self?.streamDidBecomeReady(id) }
      }
    }
    setUp()
  }

  isolated deinit {
    firstFrames?.cancel()
    window.eventHandler = nil
    handover.leave()
    leaveSecondStream()
    window.close()
    engine?.visibleStreamIDs = nil
  }

  // MARK: - What it is

  /// The events from now on; each call gives a stream of its own. It ends when the controller goes away.
  public func events() -> AsyncStream<PictureInPictureEvent> { broadcast.stream() }

  /// Calls `observer` with every event from now on, while it happens: before the call returns that brought it about.
  package func observeEvents(_ observer: @escaping @MainActor (PictureInPictureEvent) -> Void) {
    broadcast.observe { event in MainActor.assumeIsolated { observer(event) } }
  }

  /// The layer that shows frames in the window: its status and statistics. Frames are not to be given to it.
  public var displayLayer: SampleBufferDisplayLayer { handover.layer }

  /// Where it stands in ZEGO's diagram: in PIPActive or AppMinimized while ``isActive``, and only then.
  public var state: PictureInPictureState {
    phase.state(after: told.state, startsAutomatically: startsAutomatically)
  }

  /// Whether picture-in-picture can be had here at all.
  public var isSupported: Bool { unsupportedReason == nil }
  /// Why not; nil when it can.
  public var unsupportedReason: String? { window.unsupportedReason }

  /// The same, and what is missing where it can be had in part. An app that has no window yet asks the kind of window:
  /// `PictureInPictureWindow.support` of PipSinkWindows.
  public var support: PictureInPictureSupport { window.support }

  /// Whether ``start()`` would be taken now.
  public var isPossible: Bool { impossibility == nil }

  /// The stream that is in picture-in-picture: from `willStart` on, until `didStop` or `failedToStart` is told. Nil otherwise,
  /// and where the source is a display layer.
  public var pictureInPictureStreamID: StreamID? {
    handover.router == nil ? nil : phase.run?.streamID
  }

  /// Whether it starts with the first picture (``startWhenReady()``).
  public var isWaitingForPicture: Bool { phase == .idle(.picture) }

  /// Whether the window shows a picture, from `didStart` to `willStop`.
  public var isActive: Bool { if case .active = phase { true } else { false } }

  /// Whether the user cannot see the window.
  public var isSuspended: Bool { phase.run?.isSuspended ?? false }

  /// Why ``start()`` would be refused now; nil when it would not be.
  public var impossibility: PipSinkError? {
    if let reason = unsupportedReason { return .pictureInPicture(.unsupported(reason: reason)) }
    switch phase {
    case .settingUp, .unavailable, .uninitialized:
      return .pictureInPicture(.illegalTransition(state: state, trigger: .userTriggers))
    case .stopping: return .pictureInPicture(.notPossible(reason: "it is being stopped"))
    case .idle, .starting, .active:
      return handover.isReady(streamID) ? nil : .pictureInPicture(.sourceNotReady(streamID))
    }
  }

  /// What the window shows.
  public var content = PictureInPictureContent.video {
    didSet { updatePresentation() }
  }
  /// What the window's mute button shows; the app mutes.
  public var isMuted = false {
    didSet { updatePresentation() }
  }
  /// What the window's play button shows, of a source without a playback delegate.
  public var isPaused = false {
    didSet { updatePresentation() }
  }
  /// Whether the window says that the microphone of the stream that it shows is off. The app knows, or its session.
  public var isMicrophoneOff = false {
    didSet { if isMicrophoneOff != oldValue { updatePresentation() } }
  }
  /// Those controls, of play and pause, mute, and skipping back and forward, that the app does something about when
  /// ``PictureInPictureEvent/action(_:)`` tells it. The window offers no others of these, but play and pause, and
  /// skipping, of a source with a playback delegate.
  public var handledActions: Set<PictureInPictureAction> = [] {
    didSet { if handledActions != oldValue { updatePresentation() } }
  }
  /// Which stream is shown when the one that is shown ends or goes dark. The app tells it of streams; the controller
  /// follows its choice, as far as ``Configuration/endAction`` has it.
  public var streamSelector = PictureInPictureStreamSelector() {
    didSet { followSelector(since: oldValue) }
  }

  /// Asks the playback delegate again whether it is paused and what its time range is.
  public func invalidatePlaybackState() { updatePresentation() }

  // MARK: - Changes

  /// Brings picture-in-picture to another phase, and tells of it: first the event, then the transitions in ZEGO's
  /// diagram. Whoever is told may change the phase again.
  func become(_ next: PictureInPicturePhase, telling event: PictureInPictureEvent? = nil) {
    phase = next
    updateVisibility()
    if let event { emit(event) }
    tellState()
  }

  /// Changes what is known of the run, where there is one, and tells of it if that makes a difference.
  func updateRun(telling event: PictureInPictureEvent? = nil, _ change: (inout PictureInPicturePhase.Run) -> Void) {
    guard var run = phase.run else { return }
    change(&run)
    if run != phase.run { become(phase.with(run), telling: event) }
  }

  /// Tells the transitions from the state that was told last to the one that it is in now.
  func tellState() {
    while let transition = told.advance(towards: state) {
      Logger(visible: "pipsink.pip").debug("\(transition.trigger): \(transition.to)")
      emit(.stateChanged(transition.to))
    }
  }

  func emit(_ event: PictureInPictureEvent) {
    broadcast.send(event)
    delegate?.receive(event, from: self)
  }
}
