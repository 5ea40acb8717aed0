/// What the controls of the picture-in-picture windows offer, show and do.
extension PictureInPictureSession {
  /// Gives the session's window a list of controls, and offers all that only an app can carry out, although it has no
  /// handlers: it learns of them by ``SessionEvent/pictureInPicture(_:of:)``.
  package func offer(_ controls: [PictureInPictureControl]) {
    controller.configuration.controls = controls
    offeredActions = offeredActions.filter { !$0.isForApps }.union(controls.map(\.action).filter(\.isForApps))
  }

  /// Has the windows offer what the session or the app does, and show how far their streams have come.
  func updateControls() {
    updateHandledActions()
    watchProgress()
  }

  func updateHandledActions() {
    for controller in controllers { updateHandledActions(of: controller) }
  }

  func updateHandledActions(of controller: PictureInPictureController) {
    var actions = offeredActions.union(actionHandlers.keys)
    if duration(of: controller.currentStreamID) != nil { actions.formUnion([.skipBackward, .skipForward]) }
    if known.values.contains(where: \.hasCaptions) { actions.insert(.captions) }
    if sendsOwnStreams { actions.formUnion([.microphone, .camera]) }
    controller.handledActions = actions
    controller.switchStates = ownDeviceStates.merging([.captions: showsCaptions]) { $1 }
  }

  /// Carries out a control of a window: the app's handler does, or else the session.
  func perform(_ action: PictureInPictureAction, in controller: PictureInPictureController) {
    if let handler = actionHandlers[action] { return handler() }
    switch action {
    case .playPause: togglePause()
    case .mute: isMuted.toggle()
    case .captions: showsCaptions.toggle()
    case .skipBackward, .skipForward:
      let seconds = controller.configuration.skipInterval / .seconds(action == .skipForward ? 1 : -1)
      skip(controller.currentStreamID, by: MediaTime(seconds: seconds))
    case .microphone: toggle(.microphone)
    case .camera: toggle(.camera)
    default: break
    }
  }

  // MARK: - Progress

  /// The controllers whose windows show how far their streams have come.
  private var controllersWithProgress: [PictureInPictureController] {
    controllers.filter { controller in
      controller.pictureInPictureStreamID != nil && duration(of: controller.currentStreamID) != nil
        && controller.configuration.controls.contains { $0.action == .seek }
    }
  }

  /// Has the windows show how far their streams have come: now and, while they play, from time to time.
  func watchProgress() {
    let followed = controllersWithProgress
    for controller in controllers where !followed.contains(where: { $0 === controller }) { controller.progress = nil }
    let subject = ProgressWatch.Subject(
      streamIDs: followed.map(\.currentStreamID), isMoving: !followed.isEmpty && !isPlaybackPaused)
    guard subject != progress.subject else { return }
    // Another stream has another position.
    for controller in followed where !progress.subject.streamIDs.contains(controller.currentStreamID) {
      controller.progress = nil
    }
    progress.subject = subject
    progress.task?.cancel()
    progress.task = nil
    guard !followed.isEmpty else { return }
    let clock = engine.status.clock
    progress.task = Task { [weak self] in
      while !Task.isCancelled {
        await self?.updateProgress()
        guard subject.isMoving else { return }
        try? await clock.sleep(until: clock.now.advanced(by: ProgressWatch.interval))
      }
    }
  }

  /// Asks how far the streams have come. Nothing is asked while a seek has not ended, and an answer from before a seek
  /// does not count: the windows show the wanted position then.
  func updateProgress() async {
    for controller in controllersWithProgress where !progress.isSeeking {
      let (id, seekCount) = (controller.currentStreamID, progress.seekCount)
      let position = await timeline(of: id)?.position
      guard !Task.isCancelled, progress.seekCount == seekCount, controller.currentStreamID == id,
        let duration = duration(of: id), let position
      else { continue }
      controller.progress = PlaybackProgress(position: max(.zero, min(position, duration)), duration: duration)
    }
  }
}

/// What a session remembers while windows show how far their streams have come.
struct ProgressWatch {
  /// How often the position of a stream that plays is asked for.
  static let interval = Duration.milliseconds(500)

  /// Whose position is shown, and whether it changes by itself.
  struct Subject: Equatable {
    var streamIDs: [StreamID] = []
    var isMoving = false
  }

  var subject = Subject()
  /// Asks for the positions; nil while nobody can see them.
  var task: Task<Void, Never>?
  /// How many seeks of controls have begun.
  private(set) var seekCount = 0
  private var pendingSeekCount = 0

  /// Whether a seek of a control has not ended.
  var isSeeking: Bool { pendingSeekCount > 0 }

  mutating func seekWillBegin() {
    seekCount += 1
    pendingSeekCount += 1
  }

  mutating func seekDidEnd() { pendingSeekCount -= 1 }
}
