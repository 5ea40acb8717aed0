import CGStreamer
import PipSink

/// A session's windows and its picture-in-picture controller.
@MainActor
final class SessionInterface: PictureInPictureControllerDelegate {
  private let session: Session
  private let surfaces: any SessionSurfaces
  private var members: [SessionMember] = []
  private var controller: PictureInPictureController?
  private var events: [Task<Void, Never>] = []
  /// The stream that was asked for and is not shown yet.
  private var awaited: StreamID?
  private var isAutomatic = false

  /// - Throws: ``PipSinkError/displayUnavailable(reason:)``.
  init(_ session: Session) throws(PipSinkError) {
    self.session = session
    surfaces =
      if session.surface == .window {
        try WindowSurfaces { [weak session] in session?.fail("The window was closed.", "The user has closed it.") }
      } else {
        try OffscreenSurfaces()
      }
    let firstFrames = session.router.firstFrames()
    events.append(Task { [weak self] in for await _ in firstFrames { self?.showAll() } })
  }

  isolated deinit {
    for task in events { task.cancel() }
  }

  // MARK: - Streams

  func add(_ member: SessionMember) {
    members.append(member)
    let controller = controller ?? makeController(for: member.streamID)
    controller.streamSelector.add(member.streamID)
    if member.settings.mode == .pip || awaited == member.streamID { perform(.start, for: member) }
    apply(member)
  }

  private func makeController(for streamID: StreamID) -> PictureInPictureController {
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: session.router, streamID: streamID),
      window: surfaces.pictureInPictureWindow)
    controller.delegate = self
    // While the stream that an event is about is still the current one.
    controller.observeEvents { [weak self] event in self?.handle(event) }
    self.controller = controller
    return controller
  }

  func remove(_ member: SessionMember) {
    guard members.contains(where: { $0 === member }) else { return }
    members.removeAll { $0 === member }
    if awaited == member.streamID { awaited = nil }
    controller?.streamSelector.remove(member.streamID)
    surfaces.remove(member)
    showAll()
  }

  func note(_ member: SessionMember, hasEnded: Bool) {
    guard members.contains(where: { $0 === member }) else { return }
    if hasEnded {
      controller?.streamSelector.remove(member.streamID)
    } else {
      controller?.streamSelector.add(member.streamID)
    }
  }

  /// Does what a stream's settings say now.
  func apply(_ member: SessionMember) {
    guard members.contains(where: { $0 === member }) else { return }
    let settings = member.settings
    member.layer.videoGravity = settings.gravity.gravity
    fitPictureInPicture()
    watchBackground(members.contains { $0.settings.isAutomatic })
    showAll()
  }

  private func showAll() {
    for member in members {
      do throws(PipSinkError) {
        try surfaces.show(member, isInPictureInPicture: isInPictureInPicture(member.streamID))
      } catch {
        member.element.post("The stream cannot be shown.", error.description, isWarning: true)
      }
    }
  }

  private func isInPictureInPicture(_ streamID: StreamID) -> Bool {
    streamID == awaited || streamID == controller?.pictureInPictureStreamID
  }

  private func watchBackground(_ isAutomatic: Bool) {
    guard isAutomatic != self.isAutomatic else { return }
    self.isAutomatic = isAutomatic
    controller?.startsAutomatically = isAutomatic
    guard isAutomatic else { return surfaces.watchBackground(nil) }
    surfaces.watchBackground { [weak self] isHidden in
      guard let self, let controller else { return }
      if isHidden, !controller.isActive, let member = members.first(where: \.settings.isAutomatic) {
        controller.streamSelector.select(member.wantedStreamID)
      }
      isHidden ? controller.applicationDidEnterBackground() : controller.applicationWillEnterForeground()
    }
  }

  // MARK: - Picture-in-picture

  private var currentStreamID: StreamID? { controller?.currentStreamID }

  func perform(_ request: SessionRequest, for member: SessionMember) {
    guard let controller else { return }
    let isIdle = controller.pictureInPictureStreamID == nil && awaited == nil
    switch request {
    case .start: start(member, controller)
    case .toggle where isIdle: start(member, controller)
    case .stop where currentStreamID != member.wantedStreamID && awaited != member.wantedStreamID: break
    case .stop, .toggle:
      awaited = nil
      controller.stop()
      member.note(.normal)
      showAll()
    }
  }

  private func start(_ member: SessionMember, _ controller: PictureInPictureController) {
    let streamID = member.wantedStreamID
    guard !controller.isActive || currentStreamID != streamID else { return }
    awaited = streamID
    // Otherwise it begins when its element starts.
    guard members.contains(where: { $0.streamID == streamID }) else { return }
    controller.streamSelector.select(streamID)
    fitPictureInPicture()
    do throws(PipSinkError) {
      try controller.startWhenReady()
    } catch {
      awaited = nil
      member.note(.normal)
      member.emit(.failed(error))
    }
    showAll()
  }

  private func handle(_ event: PictureInPictureEvent) {
    switch event {
    case .willStart:
      fitPictureInPicture()
      emit(.willStart)
    case .didStart(let latency):
      awaited = nil
      noteModes()
      emit(.didStart(latency: latency))
    case .failedToStart(let error):
      awaited = nil
      noteModes()
      emit(.failed(error))
    case .willStop, .stateChanged, .suspendedChanged: break
    case .restoreUserInterface: emit(.restoreUserInterface)
    case .didStop(let reason):
      awaited = nil
      noteModes()
      emit(.didStop(reason: reason.name))
    case .renderSizeChanged(let size): emit(.renderSizeChanged(size))
    case .sourceChanged(_, let streamID):
      if streamID == awaited, controller?.isActive == true { awaited = nil }
      fitPictureInPicture()
      noteModes()
    case .action(let action): perform(action)
    }
    showAll()
  }

  /// Has picture-in-picture do what its stream's element says.
  func fitPictureInPicture() {
    guard let member = currentMember else { return }
    controller?.configuration.videoGravity = member.settings.gravity.gravity
    controller?.configuration.endAction = member.settings.endAction
    controller?.isPaused = member.isPaused
    controller?.handledActions = isAsked(member) ? [.playPause, .mute] : [.playPause]
  }

  private var currentMember: SessionMember? { members.first { $0.streamID == currentStreamID } }

  /// Whether the application does what the window's controls want.
  private func isAsked(_ member: SessionMember) -> Bool {
    ElementSignal.action(.playPause).isConnected(on: member.element)
  }

  private func perform(_ action: PictureInPictureAction) {
    if action == .playPause, let member = currentMember, !isAsked(member) {
      member.element.request(member.isPaused ? GST_STATE_PLAYING : GST_STATE_PAUSED)
    }
    emit(.action(action))
  }

  private func noteModes() {
    for member in members { member.note(isInPictureInPicture(member.wantedStreamID) ? .pip : .normal) }
  }

  /// By the element whose stream it is about.
  private func emit(_ signal: ElementSignal) {
    let member = members.first { $0.streamID == currentStreamID } ?? members.first
    member?.emit(signal)
  }

  func pictureInPictureControllerRestoreUserInterface(_ controller: PictureInPictureController) async -> Bool {
    showAll()
    surfaces.present()
    return true
  }
}

extension PictureInPictureStopReason {
  /// In signals and messages.
  fileprivate var name: String {
    switch self {
    case .requested: "requested"
    case .backToApp: "back-to-app"
    case .closed: "closed"
    case .foreground: "foreground"
    case .sourceEnded: "source-ended"
    case .failed(let error): "failed: \(error)"
    case .invalidated: "invalidated"
    }
  }
}
