import Logging

/// Shows a source in a picture-in-picture window and brings it back, with the meaning of AVPictureInPictureController.
///
/// It lives on the main actor. It starts when it is asked to or, where ``startsAutomatically`` allows it, when the app
/// goes to the background. It stops when it is asked to, when the user leaves or closes the window, when the window
/// dies, and, after an automatic start, when the app returns. No frame is lost or repeated by that. The window closes
/// when the controller is released.
@MainActor
public final class PictureInPictureController {
  /// Shows the app's window again, because the user went back to the app, and returns whether it is shown.
  /// Picture-in-picture ends in either case, and also when there is no answer within ``Configuration/restoreTimeout``.
  /// With nil it ends at once.
  public var restoreUserInterface: (@MainActor () async -> Bool)?
  /// Whether the user must not skip, as during an advertisement.
  public var requiresLinearPlayback = false {
    didSet { updatePresentation() }
  }
  /// How the controller behaves. A change applies at once.
  public var configuration: Configuration {
    didSet {
      if configuration.layout != oldValue.layout {
        streamSelector.layout = configuration.layout
        emit(.layoutChanged(configuration.layout))
      }
      if configuration.isClickThrough != oldValue.isClickThrough {
        emit(.clickThroughChanged(configuration.isClickThrough))
      }
      if configuration.controls != oldValue.controls { controlsChanged?() }
      fit()
      updateSituation()
      updatePresentation()
      updateVisibility()
    }
  }
  /// The engine whose decoders stop while their streams are hidden (``VideoEngine/isBackgroundDecodingEnabled``);
  /// not kept alive. The controller tells it what can be seen.
  public weak var engine: VideoEngine? {
    didSet { updateVisibility() }
  }

  /// Whether the user's session is locked. The window is hidden then, and picture-in-picture goes on.
  package var isScreenLocked = false {
    didSet { if isScreenLocked != oldValue { lockDidChange() } }
  }

  /// What pauses and timeouts are measured by.
  let clock: SchedulingClock
  let window: any PictureInPictureHost
  let source: ContentSource
  let handover: PictureInPictureHandover
  /// The current phase. Only ``become(_:reporting:)`` changes it.
  private(set) var phase = PictureInPicturePhase.settingUp
  var background = PictureInPictureBackground()
  /// How many runs there have been.
  var runCount = 0
  /// The stream that the window shows or will show; empty for a display layer.
  var streamID: StreamID
  /// Whether a start chooses among the streams with a picture.
  var isChoosing = false
  /// Whether a start has waited for the first frame of its stream for so long that any stream will do.
  var isPatienceOver = false
  /// The shape of the stream's frames.
  var streamAspectRatio: Double?
  /// Bring frames to the window's other slots, which are their keys. Each is made when it is needed.
  var others: [Int: PictureInPictureHandover] = [:]
  /// The state that `stateChanged` has reported last.
  private var reported = PictureInPictureStateMachine()
  private let broadcast = Broadcast<PictureInPictureEvent>()
  /// Waits for the first frames of streams.
  private var firstFrames: Task<Void, Never>?

  /// Makes a controller and sets up picture-in-picture.
  ///
  /// - Parameters:
  ///   - contentSource: what is shown.
  ///   - window: where it is shown. One window belongs to one controller.
  ///   - configuration: how the controller behaves.
  public convenience init(
    contentSource: ContentSource, window: any PictureInPictureHost, configuration: Configuration = .init()
  ) {
    self.init(contentSource: contentSource, window: window, configuration: configuration, clock: .system)
  }

  /// Makes a controller whose waiting a test can control.
  ///
  /// - Parameter clock: what pauses and timeouts are measured by.
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
    streamSelector.select(streamID.rawValue.isEmpty ? nil : streamID)
    streamSelector.looksForFrames = true
    streamSelector.layout = configuration.layout
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
    for other in others.values { other.leave() }
    window.close()
    engine?.visibleStreamIDs = nil
  }

  // MARK: - State

  /// A stream of the events from now on. Each call makes another stream, which ends when the controller is released.
  public func events() -> AsyncStream<PictureInPictureEvent> { broadcast.stream() }

  /// Calls `observer` with every event from now on, before the call that caused the event returns.
  package func observeEvents(_ observer: @escaping @MainActor (PictureInPictureEvent) -> Void) {
    broadcast.observe { event in MainActor.assumeIsolated { observer(event) } }
  }

  /// The layer that shows frames in the window, for its status and statistics. An app must not enqueue frames on it,
  /// unless the layer is its own source.
  package var displayLayer: SampleBufferDisplayLayer { handover.layer }

  /// The state, as apps know it from other SDKs. It is PIPActive or AppMinimized exactly while ``isActive`` is true.
  public var state: PictureInPictureState {
    phase.state(after: reported.state, startsAutomatically: startsAutomatically)
  }

  /// Whether picture-in-picture is possible here at all.
  public var isSupported: Bool { unsupportedReason == nil }
  /// Why picture-in-picture is not possible here; nil when it is.
  package var unsupportedReason: String? { window.unsupportedReason }

  /// Whether picture-in-picture is possible here, and what is missing where it is possible only in part. An app that
  /// has no window yet asks the kind of window instead: `PictureInPictureWindow.support` in PipSinkWindows.
  public var support: PictureInPictureSupport { window.support }

  /// Whether ``start()`` would succeed now.
  public var isPossible: Bool { impossibility == nil }

  /// The stream in picture-in-picture, from `willStart` until `didStop` or `failedToStart`; nil otherwise, and where
  /// the source is a display layer.
  public var pictureInPictureStreamID: StreamID? {
    handover.router == nil ? nil : phase.run?.streamID
  }

  /// Whether picture-in-picture starts with the source's first picture, as a session has asked for
  /// (``PictureInPictureSession/startPictureInPicture(_:)``).
  public var isWaitingForPicture: Bool { phase == .idle(.picture) }

  /// Whether the window shows a picture: from `didStart` to `willStop`.
  public var isActive: Bool { if case .active = phase { true } else { false } }

  /// Whether the window is open and the user cannot see it.
  public var isSuspended: Bool { phase.run?.isSuspended ?? false }

  /// Why ``start()`` would be refused now; nil when it would not.
  public var impossibility: PipSinkError? {
    if let refusal { return refusal }
    return isReady ? nil : .pictureInPicture(.sourceNotReady(streamID))
  }

  /// Why a start would be refused now even if the source had a picture.
  package var refusal: PipSinkError? {
    if let reason = unsupportedReason { return .pictureInPicture(.unsupported(reason: reason)) }
    switch phase {
    case .settingUp, .unavailable, .uninitialized:
      return .pictureInPicture(.refusal(of: .userTriggers, in: state))
    case .stopping: return .pictureInPicture(.notPossible(reason: "it is stopping"))
    case .idle, .starting, .active: return nil
    }
  }

  /// Whether the window's mute button shows that the sound is muted. Muting itself is up to the app or its session.
  public var isMuted = false {
    didSet { updatePresentation() }
  }
  /// Whether the window's play button shows that playback is paused. It applies to a source without a playback
  /// delegate.
  public var isPaused = false {
    didSet { updatePresentation() }
  }
  /// The people in the streams. Where nothing is known of a stream, its ID is the name. The app or its session sets
  /// them.
  public var participants: [StreamID: Participant] = [:] {
    didSet { if participants != oldValue { updatePresentation() } }
  }
  /// Called when the window shows something else, or the keyboard uses another control.
  package var presentationChanged: (@MainActor () -> Void)? {
    didSet { (window as? any DesktopPictureInPictureHost)?.focusChanged = presentationChanged }
  }
  /// Whether the captions and the user's own microphone and camera are on, where somebody knows it.
  var switchStates: [PictureInPictureAction: Bool] = [:] {
    didSet { if switchStates != oldValue { updatePresentation() } }
  }
  /// How far the stream in the window has come; nil where it cannot be sought in.
  var progress: PlaybackProgress? {
    didSet { if progress != oldValue { updatePresentation() } }
  }
  /// Called when the app has given the window other controls.
  var controlsChanged: (@MainActor () -> Void)?
  /// Seeks in the stream in the window.
  var seekHandler: (@MainActor (MediaTime) -> Void)?
  /// Which controls the app handles when ``PictureInPictureEvent/action(_:)`` tells them: those for play and pause, mute,
  /// skipping, microphone, camera, hanging up, raising a hand, and those of its own. The window offers no others of
  /// these, except for play, pause and skipping of a source with a playback delegate.
  public var handledActions: Set<PictureInPictureAction> = [] {
    didSet { if handledActions != oldValue { updatePresentation() } }
  }
  /// Chooses the streams that are shown. The app, or its session, tells it about streams, and the controller follows
  /// its choice, as far as ``Configuration/endAction`` allows. Without streams, the source is shown.
  public var streamSelector = PictureInPictureStreamSelector() {
    didSet {
      streamSelector.looksForFrames = true
      streamSelector.layout = configuration.layout
      if streamSelector.choiceCount != oldValue.choiceCount { followSelector() }
    }
  }

  /// Asks the playback delegate again whether it is paused and what its time range is.
  public func invalidatePlaybackState() { updatePresentation() }

  // MARK: - Changes

  /// Changes the phase and informs observers: first of the event, then of the transitions between states. An
  /// observer may change the phase again.
  func become(_ next: PictureInPicturePhase, reporting event: PictureInPictureEvent? = nil) {
    phase = next
    updateVisibility()
    if let event { emit(event) }
    reportState()
    updateSituation()
  }

  /// Changes the data of the current run, if there is one, and informs observers if that makes a difference.
  func updateRun(reporting event: PictureInPictureEvent? = nil, _ change: (inout PictureInPicturePhase.Run) -> Void) {
    guard var run = phase.run else { return }
    change(&run)
    if run != phase.run { become(phase.with(run), reporting: event) }
  }

  /// Reports all transitions from the state that was reported last to the current one.
  func reportState() {
    while let transition = reported.advance(towards: state) {
      Logger(visible: "pipsink.pip").debug("\(transition.trigger): \(transition.to)")
      emit(.stateChanged(transition.to))
    }
  }

  /// Reports an event to observers.
  func emit(_ event: PictureInPictureEvent) { broadcast.send(event) }
}
