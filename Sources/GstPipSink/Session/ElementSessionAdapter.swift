import CGStreamer
import PipSink
import PipSinkDBus

/// Connects the elements of one session name with their ``PictureInPictureSession``: carries out their requests, and
/// keeps their modes and signals in step with the session.
@MainActor
final class ElementSessionAdapter {
  private let owner: ElementSession
  private let display: ElementDisplay
  let session: PictureInPictureSession
  var members: [SessionMember] = []
  /// The element whose application has drawn over picture-in-picture.
  private weak var overlayOwner: SessionMember?
  /// The stream that was requested for picture-in-picture and is not shown there yet.
  private var awaited: StreamID? {
    didSet {
      guard let old = oldValue, old != awaited, members.contains(where: { $0.streamID == old }) else { return }
      display.setPlaceholder(session.placeholder(of: old), for: old)
    }
  }
  /// Whether a warning that there is no such stream has been posted.
  private var isAbsenceReported = false
  private var secondStream = SecondStreamRequest()
  /// What the elements have said of their streams, as far as the session knows it.
  private var said: [StreamID: ElementSettings] = [:]
  /// Whether picture-in-picture has ever started. From then on it begins with the stream that was in it last.
  private var hasStarted = false
  private var service: SessionService?
  /// Keeps the screen on; nil while no element asks for that.
  private var idleInhibitor: IdleInhibitor?
  /// Hides picture-in-picture while the user's session is locked; nil before it has started in a window.
  private var loginMonitor: LoginMonitor?
  private var accessibility: AccessibilityService?
  /// The requests to the applications to pause or to play their pipelines.
  var requests: [PipelineIdentity: ToggleRequest] = [:]
  /// The clock that measures the wait for their answers.
  var clock = SchedulingClock.system

  var controller: PictureInPictureController { session.controller }

  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  init(_ owner: ElementSession) throws(PipSinkError) {
    self.owner = owner
    display = try ElementDisplay(owner.surface, owner.renderer)
    var configuration = PictureInPictureSession.Configuration()
    // The pipelines belong to the applications, so the session must not suspend them.
    configuration.isBackgroundDecodingEnabled = true
    session = try PictureInPictureSession(owner.engine, display, configuration, router: owner.router)
    // Events are handled at once, while the stream that they are about is still the current one.
    session.observeEvents { [weak self] event in self?.handle(event) }
    // The streams belong to the applications.
    session.offeredActions = []
    session.actionHandlers[.playPause] = { [weak self] in
      self?.serveControl { self?.requestPause(!$0.isPaused, of: $0) }
    }
    session.pauseHandler = { [weak self] in self?.requestPause($0) }
    session.muteHandler = { [weak self] in self?.requestMute($0) }
    display.pictureInPictureStreamID = { [weak self] in self?.session.pictureInPictureStreamID }
    display.awaitedStreamID = { [weak self] in self?.awaited }
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
    noteWindow(on: member)
    // Only now it is known whether the stream is visible.
    if let upstream = member.upstream { session.setUpstream(upstream, of: member.streamID) }
    updatePlayback()
    if member.settings.isOnBus { export(for: member) }
  }

  /// Lets other processes control the session by D-Bus, until its last element has stopped.
  private func export(for member: SessionMember) {
    guard service == nil else { return }
    do throws(PipSinkError) {
      service = try SessionService(exporting: session, identity: "PipSink session \"\(owner.name)\"")
    } catch {
      member.warnOfNoBus(error.description)
    }
  }

  /// Runs `body`, and posts a warning if the stream cannot be shown.
  private func report(_ member: SessionMember, _ body: () throws(PipSinkError) -> Void) {
    do throws(PipSinkError) {
      try body()
    } catch {
      member.element.post("The stream cannot be shown.", error.description, isWarning: true)
    }
  }

  func remove(_ member: SessionMember) {
    members.removeAll { $0 === member }
    let pipelines = Set(members.map(\.element.pipeline))
    requests = requests.filter { pipelines.contains($0.key) }
    said[member.streamID] = nil
    if awaited == member.streamID { awaited = nil }
    if overlayOwner === member { setOverlay(of: member, nil) }
    // The session does not have the stream if it could not be shown.
    try? session.removeStream(member.streamID)
    secondStream.apply(members, to: session)
  }

  func note(_ member: SessionMember, hasEnded: Bool) {
    hasEnded ? session.endInput(member.streamID) : session.resumeInput(member.streamID)
  }

  /// Applies a stream's settings.
  func apply(_ member: SessionMember) {
    let (id, settings) = (member.streamID, member.settings)
    let old = said.updateValue(settings, forKey: id) ?? ElementSettings()
    // Only a change is applied, because other processes may have set these by D-Bus.
    if settings.isCameraOff != old.isCameraOff {
      session.engine.setCameraState(settings.isCameraOff ? .off : .on, of: id)
    }
    applyParticipant(of: member, old)
    if settings.isAutomatic, let named = settings.pictureInPictureStreamID, named != old.pictureInPictureStreamID {
      controller.streamSelector.select(named)
    }
    if settings.controls != old.controls { offerControls(of: member) }
    if settings.layout != old.layout { controller.configuration.layout = settings.layout }
    if settings.overlay !== old.overlay { setOverlay(of: member, settings.overlay) }
    if settings.opacity != old.opacity { controller.configuration.opacity = settings.opacity }
    if settings.isClickThrough != old.isClickThrough {
      controller.configuration.isClickThrough = settings.isClickThrough
    }
    if settings.stepsAside != old.stepsAside { controller.configuration.stepsAside = settings.stepsAside }
    // The session does not have the stream if it could not be shown.
    if settings.isScreenShare != old.isScreenShare { try? session.setScreenShare(settings.isScreenShare, of: id) }
    if settings.isAllowedInPictureInPicture != old.isAllowedInPictureInPicture {
      try? session.setPictureInPictureAllowed(settings.isAllowedInPictureInPicture, of: id)
    }
    if settings.streamName != old.streamName { try? session.setName(settings.streamName, of: id) }
    try? session.setVideoGravity(settings.fitting, of: id)
    member.upstream?.suspendsDecoder = !settings.decodesInBackground
    let timeout = settings.stallTimeout
    session.setStallTimeout(timeout == 0 ? nil : .nanoseconds(timeout), of: id)
    report(member) { () throws(PipSinkError) in
      try display.show(member)
      // The stream may have been in a window of its application when these were set before.
      display.setPlaceholder(session.placeholder(of: member.streamID), for: member.streamID)
      display.setParticipant(session.participant(of: member.streamID), for: member.streamID)
    }
    fitPictureInPicture()
    let inhibitsIdle = members.contains(where: \.settings.inhibitsIdle) && owner.surface == .window
    if inhibitsIdle != (idleInhibitor != nil) {
      idleInhibitor?.stop()
      idleInhibitor = inhibitsIdle ? IdleInhibitor(for: session) : nil
    }
    let isAutomatic = members.contains { $0.settings.isAutomatic }
    if session.startsAutomatically != isAutomatic { session.startsAutomatically = isAutomatic }
  }

  private func setOverlay(of member: SessionMember, _ overlay: ElementOverlay?) {
    overlayOwner = overlay == nil ? nil : member
    display.pictureInPictureContent = overlay?.makeContent(for: member)
  }

  /// Applies what the application has changed of what is shown of the person in a stream.
  private func applyParticipant(of member: SessionMember, _ old: ElementSettings) {
    let (id, settings) = (member.streamID, member.settings)
    if settings.isMicrophoneOff != old.isMicrophoneOff {
      session.engine.setMicrophoneState(settings.isMicrophoneOff ? .off : .on, of: id)
    }
    // The session does not have the stream if it could not be shown.
    if settings.connectionQuality != old.connectionQuality {
      try? session.setConnectionQuality(settings.connectionQuality, of: id)
    }
    if settings.caption != old.caption { try? session.setCaption(settings.caption, for: id) }
    guard settings.imagePath != old.imagePath else { return }
    do throws(PipSinkError) {
      try session.setImage(contentsOf: settings.imagePath ?? "", for: id)
    } catch .frame(let error) {
      let reason = PipSinkError.frame(error).description
      member.element.post("The image of a stream cannot be shown.", reason, isWarning: true)
    } catch {}
  }

  // MARK: - Picture-in-picture

  private var currentStreamID: StreamID { controller.currentStreamID }

  func perform(_ request: SessionRequest, for member: SessionMember) {
    let isIdle = session.pictureInPictureStreamID == nil && awaited == nil
    if request == .stop { reopen(member) }
    switch request {
    case .start: start(member)
    case .toggle where isIdle: start(member)
    case .stop where currentStreamID != member.wantedStreamID && awaited != member.wantedStreamID: break
    case .stop, .toggle:
      awaited = nil
      session.stopPictureInPicture()
      member.note(.normal)
    case .focus: session.attempt { () throws(PipSinkError) in try session.perform(.focusPictureInPicture) }
    case .uninitialize:
      awaited = nil
      session.uninitializePictureInPicture()
      member.note(.normal)
    case .initialize:
      do throws(PipSinkError) {
        try session.initializePictureInPicture()
        // The property `auto-pip` applies again.
        apply(member)
      } catch {
        member.emit(.failedToStart(error), of: member.wantedStreamID)
      }
    }
  }

  /// Shows a stream in the app's window again, although the user has closed the only window that it was in.
  private func reopen(_ member: SessionMember) {
    display.reopen(member.wantedStreamID)
    display.setPlaceholder(session.placeholder(of: member.wantedStreamID), for: member.wantedStreamID)
  }

  private func start(_ member: SessionMember) {
    let streamID = member.wantedStreamID
    // The stream may be shown in place of the one that was chosen before.
    guard !controller.isActive || currentStreamID != streamID else { return controller.streamSelector.select(streamID) }
    awaited = streamID
    isAbsenceReported = false
    // Otherwise picture-in-picture starts when the stream's element starts.
    guard members.contains(where: { $0.streamID == streamID }) else { return reportAbsence() }
    do throws(PipSinkError) {
      if let refusal = controller.refusal { throw refusal }
      controller.streamSelector.select(streamID)
      fitPictureInPicture()
      try session.startPictureInPicture()
    } catch {
      awaited = nil
      member.note(.normal)
      member.emit(.failedToStart(error), of: streamID)
    }
  }

  /// Posts a warning that the awaited stream is not there, once the element that has requested it plays.
  func reportAbsence() {
    guard let awaited, !isAbsenceReported, !members.contains(where: { $0.streamID == awaited }),
      let member = members.first(where: { $0.wantedStreamID == awaited && $0.isPlaying })
    else { return }
    isAbsenceReported = true
    let error = PipSinkError.stream(.unknown(awaited, known: members.map(\.streamID).sorted()))
    member.element.post(
      "Picture-in-picture waits for a stream that is not there.", error.description, code: GST_RESOURCE_ERROR_NOT_FOUND,
      isWarning: true)
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .pictureInPicture(let event, _): handle(event)
    // Where the user has not chosen a stream, automatic picture-in-picture shows that of an element with `auto-pip`.
    case .display(.background(true)) where !controller.isActive && controller.streamSelector.request == nil:
      if let member = members.first(where: \.settings.isAutomatic) {
        controller.streamSelector.select(member.wantedStreamID)
      }
    // This is the first stream in the pipeline's order, as in the window. A bin starts its elements from the last one
    // to the first.
    case .display(.key(let key))
    where SessionAction(key: key) == .togglePictureInPicture && !hasStarted && controller.streamSelector.request == nil:
      if let member = members.min(by: { $0.element.number < $1.element.number }) {
        controller.streamSelector.select(member.wantedStreamID)
      }
    case .surfaceFailed(let id, let error):
      for member in members where member.streamID == id {
        member.element.post(
          "The stream cannot be shown.", error.description, code: GST_RESOURCE_ERROR_WRITE, isWarning: true)
      }
    case .engine(.streamStateChanged(let id, let state)):
      for member in members where member.streamID == id { member.note(state) }
    case .demandChanged(let id, let demand):
      for member in members where member.streamID == id { member.notify(of: demand) }
    case .display(.windowLost(let error)): owner.loseDisplay(error)
    case .display(.closeRequested): owner.fail("The window was closed.", "The user has closed it.")
    default: break
    }
  }

  private func handle(_ event: PictureInPictureEvent) {
    switch event {
    case .willStart:
      hasStarted = true
      if owner.surface == .window, loginMonitor == nil {
        loginMonitor = LoginMonitor(for: session)
        accessibility = AccessibilityService(for: session)
      }
      display.reopen()
      fitPictureInPicture()
    case .willStop(.closed):
      display.noteClosing(of: [session.pictureInPictureStreamID, session.secondPictureInPictureStreamID])
    case .didStart, .failedToStart, .didStop:
      awaited = nil
      noteModes()
      secondStream.apply(members, to: session)
    case .sourceChanged(_, let streamID):
      if streamID == awaited, controller.isActive { awaited = nil }
      fitPictureInPicture()
      noteModes()
    case .layoutChanged, .clickThroughChanged:
      for member in members { noteWindow(on: member) }
    default: break
    }
    // The element whose stream the event is about emits the signal. When it has stopped, another element does.
    (currentMember ?? members.first)?.emit(event, of: currentStreamID)
  }

  /// Configures picture-in-picture as the element of its stream says.
  func fitPictureInPicture() {
    secondStream.apply(members, to: session)
    guard let member = currentMember else { return }
    controller.configuration.videoGravity = member.settings.fitting
    controller.configuration.endAction = member.settings.endAction
    controller.configuration.preferredContentSize = member.settings.preferredContentSize
    controller.configuration.retryPolicy?.limit = member.settings.retries
    controller.isPaused = member.isPaused
    controller.isMuted = member.isMuted
    let mute: @MainActor () -> Void = { [weak self] in self?.serveControl { self?.requestMute($0) } }
    session.actionHandlers[.mute] = isAsked(member) || member.canMute ? mute : nil
  }

  var currentMember: SessionMember? { members.first { $0.streamID == currentStreamID } }

  /// Whether the application itself carries out what the window's controls ask for.
  func isAsked(_ member: SessionMember) -> Bool {
    ElementSignal.isConnected("pip-action", on: member.element)
  }

  /// Shows in an element's properties what the user may have changed in the session's window. That does not count as
  /// the application's wish.
  private func noteWindow(on member: SessionMember) {
    let configuration = controller.configuration
    said[member.streamID]?.layout = configuration.layout
    member.note(\.layout, configuration.layout, as: "pip-layout")
    said[member.streamID]?.isClickThrough = configuration.isClickThrough
    member.note(\.isClickThrough, configuration.isClickThrough, as: "pip-click-through")
  }

  private func noteModes() {
    let shown = [awaited, session.pictureInPictureStreamID]
    for member in members { member.note(shown.contains(member.wantedStreamID) ? .pip : .normal) }
  }
}
