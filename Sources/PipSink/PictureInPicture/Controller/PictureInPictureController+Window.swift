/// What the window shows and reports, and what its controls do.
extension PictureInPictureController {
  /// Reacts to an event of the window.
  func handle(_ event: PictureInPictureWindowEvent) {
    switch event {
    case .action(let action): perform(action)
    case .seek(let position): if has(.seek) { seekHandler?(position) }
    case .lost(let error): lose(error)
    case .renderSizeChanged(let size):
      emit(.renderSizeChanged(size))
      source.playbackDelegate?.pictureInPictureController(self, didTransitionToRenderSize: size)
    case .visibilityChanged(let isVisible):
      updateRun(reporting: .suspendedChanged(!isVisible)) { $0.isSuspended = !isVisible }
      // The user may have ended through the desktop that the window fills its monitor, which a control shows.
      updatePresentation()
    }
  }

  /// Shows the window, or keeps it hidden while the user's session is locked.
  func openWindow() throws(PipSinkError) {
    if !isScreenLocked { try window.open(presentation) }
  }

  /// Hides the window when the user's session is locked, and shows it again when that is over.
  func lockDidChange() {
    guard phase.isOpen else { return }
    if isScreenLocked {
      window.close()
    } else {
      do throws(PipSinkError) {
        try openWindow()
      } catch {
        return lose(error)
      }
    }
    handle(.visibilityChanged(!isScreenLocked))
  }

  private func lose(_ error: PipSinkError) {
    if case .stopping = phase { finishStopping() } else { end(.failed(error)) }
  }

  /// Reacts to a new shape of the frames.
  func streamDidChange(aspectRatio: Double) {
    streamAspectRatio = aspectRatio
    updatePresentation()
  }

  /// The window's shape: width divided by height; nil while it is not known. Halves and the places of a grid have the
  /// shape of the first stream.
  package var aspectRatio: Double? {
    if let size = configuration.preferredContentSize, size.isValid { return Double(size.width) / Double(size.height) }
    return streamAspectRatio.map { $0 * configuration.layout.widening(count: shownPlaces.count) }
  }

  /// Has the window show what is known now.
  func updatePresentation() {
    guard phase.run != nil else { return }
    window.update(presentation)
    presentationChanged?()
  }

  /// What the window shows; nil while it is closed.
  package var openPresentation: PictureInPicturePresentation? { phase.isOpen ? presentation : nil }

  /// The control that the keyboard uses; nil for none.
  package var focusedAction: PictureInPictureAction? { desktopWindow?.focusedAction }

  /// What the window's places show. A stream that is chosen while the window closes belongs to the next run.
  var shownPlaces: [PictureInPicturePlace] {
    let shown = pictureInPictureStreamID ?? streamID
    let places = streamSelector.places.filter { place in
      place.slot == 0 || others[place.slot]?.streamID == place.streamID || keepsPlace(place)
    }
    let all = places.first?.streamID == shown ? places : [PictureInPicturePlace(streamID: shown)]
    return all.map { place in
      var place = place
      place.participant = participants[place.streamID] ?? place.participant
      return place
    }
  }

  /// Whether a place is shown although no frames go there.
  private func keepsPlace(_ place: PictureInPicturePlace) -> Bool {
    configuration.layout == .grid && place.placeholder != nil && hasRenderer(place)
  }

  /// What the window has to show now.
  var presentation: PictureInPicturePresentation {
    let opacity = configuration.opacity
    return PictureInPicturePresentation(
      layout: configuration.layout, places: shownPlaces, overflowCount: streamSelector.overflowCount,
      aspectRatio: aspectRatio, controls: controls, opacity: opacity.isNaN ? 1 : min(max(opacity, 0.1), 1),
      isClickThrough: configuration.isClickThrough && isOffered(.clickThrough),
      stepsAside: configuration.stepsAside, progress: progress)
  }

  /// Gives the window the keyboard.
  ///
  /// - Throws: ``PipSinkError/PictureInPicture/illegalTransition(state:trigger:)`` where it is not open, and
  ///   ``PipSinkError/PictureInPicture/unsupported(reason:)`` where it cannot have the keyboard.
  func focusWindow() throws(PipSinkError) {
    guard phase.isOpen else {
      throw .pictureInPicture(.illegalTransition(state: state, trigger: "User Focuses PIP"))
    }
    guard desktopWindow?.takeKeyboard() == true else {
      throw .pictureInPicture(.unsupported(reason: "its window cannot have the keyboard"))
    }
  }

  // MARK: - Controls

  /// The stream that the window's next and previous buttons and a media player's keys lead to: the one after or before
  /// the chosen one, in a circle. While the window is open, streams without a picture are skipped.
  ///
  /// - Returns: nil where there is no other stream.
  package func neighbour(forward: Bool) -> StreamID? { streamSelector.neighbour(forward: forward) }

  /// Whether the play button shows that playback is paused.
  var isPlaybackPaused: Bool {
    source.playbackDelegate?.pictureInPictureControllerIsPlaybackPaused(self) ?? isPaused
  }

  /// The controls that do something now, with what is known of their states.
  private var controls: [PictureInPictureControl] {
    var controls: [PictureInPictureControl] = []
    // The user can always close the window, and end that it lets the pointer through.
    let always = [PictureInPictureControl(.close)] + (configuration.isClickThrough ? [.init(.clickThrough)] : [])
    for control in configuration.controls + always where isOffered(control.action) {
      guard !controls.contains(where: { $0.action == control.action }) else { continue }
      var control = control
      switch control.action {
      case .playPause: control.isOn = !isPlaybackPaused
      case .mute: control.isOn = isMuted
      case .fullscreen: control.isOn = desktopWindow?.isFullscreen
      case .clickThrough: control.isOn = configuration.isClickThrough
      default: control.isOn = switchStates[control.action] ?? control.isOn
      }
      controls.append(control)
    }
    return controls
  }

  /// The window, where it is one on a desktop.
  private var desktopWindow: (any DesktopPictureInPictureHost)? { window as? any DesktopPictureInPictureHost }

  /// Whether something happens now when a control is used.
  private func isOffered(_ action: PictureInPictureAction) -> Bool {
    let delegate = source.playbackDelegate
    switch action {
    case .close, .backToApp: return true
    case .changeLayout: return nextLayout != nil
    case .fullscreen, .changeSize, .clickThrough: return desktopWindow?.abilities.contains(action) ?? false
    case .seek: return progress != nil && seekHandler != nil && !requiresLinearPlayback
    case .previousStream, .nextStream: return delegate == nil && neighbour(forward: true) != nil
    case .playPause where delegate != nil: return true
    case .skipBackward, .skipForward:
      guard !requiresLinearPlayback else { return false }
      let range = delegate?.pictureInPictureControllerTimeRange(self)
      return range.map { !$0.isLive } ?? handledActions.contains(action)
    case .playPause, .mute, .captions, .microphone, .camera, .hangUp, .raiseHand, .custom:
      return handledActions.contains(action)
    }
  }

  private func has(_ action: PictureInPictureAction) -> Bool {
    phase.run != nil && controls.contains { $0.action == action }
  }

  /// Whether the window is open and has a control now that is used by a press.
  package func offers(_ action: PictureInPictureAction) -> Bool { action != .seek && has(action) }

  /// Goes to a time in the stream, as the bar for seeking does. It does nothing where that is not offered now.
  package func seek(to position: MediaTime) { handle(.seek(to: position)) }

  /// Does what a control of the window does. A control that is not offered now does nothing.
  public func perform(_ action: PictureInPictureAction) {
    guard offers(action) else { return }
    switch action {
    case .backToApp: end(.backToApp)
    case .close: end(.closed)
    case .playPause:
      if let delegate = source.playbackDelegate {
        delegate.pictureInPictureController(self, setPlaying: isPlaybackPaused)
        updatePresentation()
      } else {
        emit(.action(action))
      }
    case .mute, .captions, .microphone, .camera, .hangUp, .raiseHand, .custom: emit(.action(action))
    case .previousStream, .nextStream:
      guard let id = neighbour(forward: action == .nextStream) else { return }
      try? setSource(streamID: id)
    // The window tells where to seek.
    case .seek: break
    case .changeLayout:
      if let nextLayout { configuration.layout = nextLayout }
    case .fullscreen:
      desktopWindow?.toggleFullscreen()
      updatePresentation()
    case .changeSize: desktopWindow?.changeSize()
    case .clickThrough: configuration.isClickThrough.toggle()
    case .skipBackward, .skipForward:
      guard let delegate = source.playbackDelegate else { return emit(.action(action)) }
      let seconds = configuration.skipInterval / .seconds(action == .skipForward ? 1 : -1)
      Task {
        await delegate.pictureInPictureController(self, skipBy: MediaTime(seconds: seconds))
        self.updatePresentation()
      }
    }
  }
}
