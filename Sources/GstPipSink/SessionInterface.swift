import CGStreamer
import PipSink
import PipSinkDBus

/// What the elements of one name do with their session: requests, modes, signals.
@MainActor
final class SessionInterface {
  private let owner: Session
  private let display: ElementDisplay
  private let session: PictureInPictureSession
  private var members: [SessionMember] = []
  /// The stream that was asked for and is not shown yet.
  private var awaited: StreamID?
  private var service: SessionService?

  private var controller: PictureInPictureController { session.controller }

  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  init(_ owner: Session) throws(PipSinkError) {
    self.owner = owner
    display = try ElementDisplay(owner.surface)
    var configuration = PictureInPictureSession.Configuration()
    // Their pipelines are not the session's to suspend.
    configuration.isBackgroundDecodingEnabled = true
    session = try PictureInPictureSession(owner.engine, display, configuration, router: owner.router)
    // While the stream that an event is about is still the current one.
    session.observeEvents { [weak self] event in self?.handle(event) }
    session.actionHandler = { _ in true }
    session.pauseHandler = { [weak self] in self?.requestPause($0) }
  }

  // MARK: - Streams

  func add(_ member: SessionMember) {
    members.append(member)
    display.set(member)
    report(member) { () throws(PipSinkError) in
      try session.addStream(member.streamID, layer: member.layer) {
        if member.settings.mode == .pip || awaited == member.streamID { perform(.start, for: member) }
      }
    }
    apply(member)
    updatePause()
    if member.settings.isOnBus { export(for: member) }
  }

  /// Lets other processes control the session, until its last element has stopped.
  private func export(for member: SessionMember) {
    guard service == nil else { return }
    do throws(PipSinkError) {
      service = try SessionService(exporting: session, identity: "PipSink session \"\(owner.name)\"")
    } catch {
      member.warnOfNoBus(error.description)
    }
  }

  /// Says what hinders a stream from being shown.
  private func report(_ member: SessionMember, _ body: () throws(PipSinkError) -> Void) {
    do throws(PipSinkError) {
      try body()
    } catch {
      member.element.post("The stream cannot be shown.", error.description, isWarning: true)
    }
  }

  func remove(_ member: SessionMember) {
    members.removeAll { $0 === member }
    if awaited == member.streamID { awaited = nil }
    // It is not there if it could not be shown.
    try? session.removeStream(member.streamID)
  }

  func note(_ member: SessionMember, hasEnded: Bool) {
    hasEnded ? session.endInput(member.streamID) : session.resumeInput(member.streamID)
  }

  /// Does what a stream's settings say now.
  func apply(_ member: SessionMember) {
    member.layer.videoGravity = member.settings.gravity
    report(member) { () throws(PipSinkError) in
      try display.show(member)
      // It may have been in a window of its application's when the display was told.
      display.setPlaceholder(session.placeholder(of: member.streamID), for: member.streamID)
    }
    fitPictureInPicture()
    let isAutomatic = members.contains { $0.settings.isAutomatic }
    if session.startsAutomatically != isAutomatic { session.startsAutomatically = isAutomatic }
  }

  // MARK: - Playback

  /// Has the applications pause their pipelines, or play them.
  private func requestPause(_ isPaused: Bool) {
    for member in members where member.isPaused != isPaused {
      if isAsked(member) { member.emit(.action(.playPause)) } else { requestToggle(member) }
    }
  }

  /// Asks the application for the other state of the element's pipeline.
  private func requestToggle(_ member: SessionMember) {
    member.element.request(member.isPaused ? GST_STATE_PLAYING : GST_STATE_PAUSED)
  }

  /// The session stands still when all of its elements do.
  func updatePause() {
    let isPaused = members.allSatisfy(\.isPaused)
    if session.isPaused != isPaused { session.notePaused(isPaused) }
    fitPictureInPicture()
  }

  // MARK: - Picture-in-picture

  private var currentStreamID: StreamID { controller.currentStreamID }

  func perform(_ request: SessionRequest, for member: SessionMember) {
    let isIdle = session.pictureInPictureStreamID == nil && awaited == nil
    switch request {
    case .start: start(member)
    case .toggle where isIdle: start(member)
    case .stop where currentStreamID != member.wantedStreamID && awaited != member.wantedStreamID: break
    case .stop, .toggle:
      awaited = nil
      session.stopPictureInPicture()
      member.note(.normal)
    }
  }

  private func start(_ member: SessionMember) {
    let streamID = member.wantedStreamID
    guard !controller.isActive || currentStreamID != streamID else { return }
    awaited = streamID
    // Otherwise it begins when its element starts.
    guard members.contains(where: { $0.streamID == streamID }) else { return }
    controller.streamSelector.select(streamID)
    fitPictureInPicture()
    do throws(PipSinkError) {
      try session.startPictureInPicture()
    } catch {
      awaited = nil
      member.note(.normal)
      member.emit(.failedToStart(error))
    }
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .pictureInPicture(let event): handle(event)
    // What starts by itself shows the stream of an element that wants that.
    case .display(.background(true)) where !controller.isActive:
      if let member = members.first(where: \.settings.isAutomatic) {
        controller.streamSelector.select(member.wantedStreamID)
      }
    case .display(.closeRequested): owner.fail("The window was closed.", "The user has closed it.")
    default: break
    }
  }

  private func handle(_ event: PictureInPictureEvent) {
    switch event {
    case .willStart: fitPictureInPicture()
    case .didStart, .failedToStart, .didStop:
      awaited = nil
      noteModes()
    case .sourceChanged(_, let streamID):
      if streamID == awaited, controller.isActive { awaited = nil }
      fitPictureInPicture()
      noteModes()
    case .action(.playPause):
      if let member = currentMember, !isAsked(member) { requestToggle(member) }
    default: break
    }
    // By the element whose stream it is about.
    (currentMember ?? members.first)?.emit(event)
  }

  /// Has picture-in-picture do what its stream's element says.
  func fitPictureInPicture() {
    guard let member = currentMember else { return }
    controller.configuration.videoGravity = member.settings.gravity
    controller.configuration.endAction = member.settings.endAction
    controller.isPaused = member.isPaused
    controller.handledActions = isAsked(member) ? [.playPause, .mute] : [.playPause]
  }

  private var currentMember: SessionMember? { members.first { $0.streamID == currentStreamID } }

  /// Whether the application does what the window's controls want.
  private func isAsked(_ member: SessionMember) -> Bool {
    ElementSignal.isConnected("pip-action", on: member.element)
  }

  private func noteModes() {
    let shown = [awaited, session.pictureInPictureStreamID]
    for member in members { member.note(shown.contains(member.wantedStreamID) ? .pip : .normal) }
  }
}
