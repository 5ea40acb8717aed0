import Logging

/// Shows a source in a picture-in-picture window and brings it back, with AVPictureInPictureController's meaning.
///
/// It lives on the main actor and does nothing by itself but what is said here: it starts when it is asked to or, where
/// that is allowed, when the app goes to the background; it stops when it is asked to, when the user leaves or closes
/// the window, when the window dies, and, if it had started by itself, when the app comes back. Frames are never lost
/// or repeated by that. Dropping it takes its window away.
@MainActor
public final class PictureInPictureController {
  enum Phase: Equatable {
    case idle
    /// The window is open and waits for its first picture.
    case starting(run: Int, since: MonotonicTime)
    case active(run: Int)
    case stopping(PictureInPictureStopReason)
  }

  public weak var delegate: (any PictureInPictureControllerDelegate)?
  /// Sees to it that nobody can skip: an advertisement.
  public var requiresLinearPlayback = false {
    didSet { updatePresentation() }
  }
  public var configuration: Configuration {
    didSet {
      handover.setGravity(configuration.videoGravity)
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
  var machine = PictureInPictureStateMachine()
  var phase = Phase.idle
  var streamID: StreamID
  /// Whether it started by the app's going to the background.
  var isAutomatic = false
  var isInBackground = false
  var isBackgroundEnabled = false
  var isSettling = false
  /// Whether what the app is in now has been dealt with.
  var settledBackground = false
  /// The stream that the selector wants and that has no picture yet.
  var awaitedStreamID: StreamID?
  /// Whether the window's stream has ended and its place is kept.
  var keepsPlaceOfEndedStream = false
  let broadcast = Broadcast<PictureInPictureEvent>()
  private var runCount = 0
  private var attempt = 0
  private var retry: Task<Void, Never>?
  private var firstFrames: Task<Void, Never>?
  var streamAspectRatio: Double?
  private var isInvalidated = false

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
    handover.observeSizes { [weak self] sampleBuffer in
      let ratio = sampleBuffer.displayAspectRatio
      Task { @MainActor in self?.streamDidChange(aspectRatio: ratio) }
    }
    if let router = handover.router {
      let ids = router.firstFrames()
      firstFrames = Task { [weak self] in
        for await id in ids { self?.streamDidBecomeReady(id) }
      }
    }
    initialize()
  }

  isolated deinit {
    retry?.cancel()
    firstFrames?.cancel()
    window.eventHandler = nil
    handover.leave()
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

  public var state: PictureInPictureState { machine.state }

  /// Whether picture-in-picture can be had here at all.
  public var isSupported: Bool { unsupportedReason == nil }
  /// Why not; nil when it can.
  public var unsupportedReason: String? { window.unsupportedReason }

  /// Whether ``start()`` would be taken now.
  public var isPossible: Bool { impossibility == nil }

  /// The stream that is in picture-in-picture: from `willStart` on, until `didStop` or `failedToStart` is told. Nil otherwise,
  /// and where the source is a display layer.
  public var pictureInPictureStreamID: StreamID? {
    phase == .idle || handover.router == nil ? nil : streamID
  }

  /// Whether it starts with the first picture (``startWhenReady()``).
  public internal(set) var isWaitingForPicture = false

  /// Whether the window shows a picture, from `didStart` to `willStop`.
  public var isActive: Bool { if case .active = phase { true } else { false } }

  /// Whether it is active and the user cannot see the window.
  public internal(set) var isSuspended = false

  /// Why ``start()`` would be refused now; nil when it would not be.
  public var impossibility: PipSinkError? {
    if isInvalidated { return .pictureInPictureNotPossible(reason: "the controller has been invalidated") }
    if let reason = unsupportedReason { return .pictureInPictureUnsupported(reason: reason) }
    if case .stopping = phase { return .pictureInPictureNotPossible(reason: "it is being stopped") }
    if !handover.isReady(streamID) { return .sourceNotReady(streamID) }
    return nil
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
  /// Those controls, of play and pause and mute, that the app does something about when
  /// ``PictureInPictureEvent/action(_:)`` tells it. The window offers no others of these, but play and pause of a source
  /// with a playback delegate.
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

  // MARK: - Start and stop

  /// Opens the window and sends the frames there. What becomes of it is reported by events. Does nothing while it is
  /// starting or active.
  ///
  /// - Throws: ``impossibility``, and then nothing has changed.
  public func start() throws(PipSinkError) {
    attempt = 0
    try begin(isAutomatic: false)
  }

  /// ``start()`` now, or as soon as the source has a picture.
  ///
  /// - Throws: ``impossibility``, if it is another than that there is no picture yet.
  public func startWhenReady() throws(PipSinkError) {
    if case .sourceNotReady = impossibility { isWaitingForPicture = true } else { try start() }
  }

  /// Brings the frames back to the app and takes the window away.
  public func stop() {
    isWaitingForPicture = false
    if phase == .idle { handover.forgetRouting() }
    end(.requested)
  }

  /// - Throws: as ``start()``.
  public func toggle() throws(PipSinkError) {
    if phase == .idle { try start() } else { stop() }
  }

  /// Ends everything; nothing starts any more.
  public func invalidate() {
    guard !isInvalidated else { return }
    isBackgroundEnabled = false
    end(.invalidated)
    isInvalidated = true
  }

  /// After an error of set-up, tries again.
  ///
  /// - Throws: ``PipSinkError/illegalTransition(state:trigger:)`` where there was none.
  public func retrySetUp() throws(PipSinkError) {
    try advance(.retry)
    initialize()
  }

  private func initialize() {
    go(.initialize)
    go(unsupportedReason == nil ? .initSuccess : .initFailed)
  }

  func begin(isAutomatic: Bool) throws(PipSinkError) {
    switch phase {
    case .starting, .active:
      // What the user asked for does not end by itself.
      if !isAutomatic { self.isAutomatic = false }
      return
    case .idle, .stopping:
      break
    }
    if let impossibility { throw impossibility }
    if machine.state == .error { throw .illegalTransition(state: .error, trigger: .userTriggers) }
    retry?.cancel()
    runCount += 1
    let run = runCount
    let requestedAt = MonotonicTime.now
    self.isAutomatic = isAutomatic
    phase = .starting(run: run, since: requestedAt)
    streamAspectRatio = handover.latest(of: streamID)?.displayAspectRatio ?? streamAspectRatio
    emit(.willStart)
    // Whoever was told may have stopped it.
    guard isCurrent(run) else { return }
    do throws(PipSinkError) {
      try window.open(presentation)
      try handover.enter(window.renderer, streamID) { [weak self] moment in
        Task { @MainActor in self?.didPresent(run: run, latency: moment.nanoseconds(since: requestedAt)) }
      }
    } catch {
      fail(error)
      return
    }
    after(configuration.firstPictureTimeout) { $0.didPresent(run: run, latency: nil) }
    goActive()
    updateVisibility()
  }

  private func isCurrent(_ run: Int) -> Bool {
    if case .starting(run, _) = phase { true } else { false }
  }

  private func didPresent(run: Int, latency: UInt64?) {
    guard isCurrent(run) else { return }
    attempt = 0
    phase = .active(run: run)
    emit(.didStart(latency: latency))
    settle()
  }

  /// The window could not be made, or died before it showed anything.
  private func fail(_ error: PipSinkError) {
    leave()
    phase = .idle
    goInactive(.failed(error))
    emit(.failedToStart(error))
    leaveEndedStream()
    scheduleRetry(isAutomatic: isAutomatic)
  }

  func end(_ reason: PictureInPictureStopReason) {
    retry?.cancel()
    switch phase {
    case .idle, .stopping:
      return
    case .starting:
      if case .failed(let error) = reason { return fail(error) }
      leave()
      phase = .idle
      goInactive(reason)
      emit(.failedToStart(.pictureInPictureCancelled))
      leaveEndedStream()
    case .active:
      phase = .stopping(reason)
      emit(.willStop(reason))
      if reason == .backToApp { restoreUserInterface() } else { finishStopping() }
    }
    settle()
  }

  private func restoreUserInterface() {
    emit(.restoreUserInterface)
    guard let delegate else { return finishStopping() }
    let run = runCount
    Task { [weak self] in
      if let self { _ = await delegate.pictureInPictureControllerRestoreUserInterface(self) }
      self?.finishStopping(run: run)
    }
    after(configuration.restoreTimeout) { $0.finishStopping(run: run) }
  }

  func finishStopping(run: Int? = nil) {
    guard case .stopping(let reason) = phase, run ?? runCount == runCount else { return }
    leave()
    goInactive(reason)
    phase = .idle
    let wasAutomatic = isAutomatic
    isAutomatic = false
    emit(.didStop(reason))
    leaveEndedStream()
    // What had started by itself is tried again as such, so that it stops when the app comes back.
    if case .failed = reason { scheduleRetry(isAutomatic: wasAutomatic) }
    settle()
  }

  private func leave() {
    handover.leave()
    window.close()
    isSuspended = false
    updateVisibility()
  }

  private func scheduleRetry(isAutomatic: Bool) {
    attempt += 1
    guard let pause = configuration.retryPolicy?.pause(before: attempt), !isInvalidated else { return }
    retry = after(pause) { controller in
      // What started by the background is not started again when the app has come back.
      guard !isAutomatic || controller.isInBackground else { return }
      do throws(PipSinkError) {
        try controller.begin(isAutomatic: isAutomatic)
      } catch {
        controller.scheduleRetry(isAutomatic: isAutomatic)
      }
    }
  }

  /// Does something after so many seconds, unless the controller has gone or the task is cancelled by then.
  @discardableResult
  func after(
    _ seconds: Double, _ body: @escaping @MainActor (PictureInPictureController) -> Void
  ) -> Task<Void, Never> {
    let (clock, moment) = (clock, clock.moment(in: seconds))
    return Task { [weak self] in
      guard (try? await clock.sleep(until: moment)) != nil, let self else { return }
      body(self)
    }
  }
}
