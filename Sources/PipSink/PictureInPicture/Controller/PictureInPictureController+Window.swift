/// What the window shows and reports, and what its controls do.
extension PictureInPictureController {
  /// Reacts to an event of the window.
  func handle(_ event: PictureInPictureWindowEvent) {
    switch event {
    case .action(let action): perform(action)
    case .lost(let error): lose(error)
    case .renderSizeChanged(let size):
      emit(.renderSizeChanged(size))
      source.playbackDelegate?.pictureInPictureController(self, didTransitionToRenderSize: size)
    case .visibilityChanged(let isVisible):
      updateRun(reporting: .suspendedChanged(!isVisible)) { $0.isSuspended = !isVisible }
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

  /// The window's shape: width divided by height; nil while it is not known. Beside a second stream, each half has the
  /// shape of the first stream.
  package var aspectRatio: Double? {
    if let size = configuration.preferredContentSize, size.isValid { return Double(size.width) / Double(size.height) }
    return streamAspectRatio.map { showsSecondStream ? $0 * 2 : $0 }
  }

  /// Has the window show what is known now.
  func updatePresentation() {
    guard phase.run != nil else { return }
    window.update(presentation)
  }

  /// What the window's places show. A stream that is chosen while the window closes belongs to the next run.
  private var shownPlaces: [PictureInPicturePlace] {
    let places = streamSelector.places.prefix(showsSecondStream ? 2 : 1)
    let shown = pictureInPictureStreamID ?? streamID
    let all = places.first?.streamID == shown ? Array(places) : [PictureInPicturePlace(streamID: shown)]
    return all.map { place in
      var place = place
      place.name = names[place.streamID] ?? place.name
      return place
    }
  }

  /// What the window has to show now.
  var presentation: PictureInPicturePresentation {
    PictureInPicturePresentation(
      places: shownPlaces, aspectRatio: aspectRatio, actions: actions, isPaused: isPlaybackPaused, isMuted: isMuted,
      isMicrophoneOff: isMicrophoneOff)
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

  /// The controls that do something now.
  var actions: Set<PictureInPictureAction> {
    var actions: Set<PictureInPictureAction> = [.backToApp, .close]
    if let delegate = source.playbackDelegate {
      actions.insert(.playPause)
      let range = delegate.pictureInPictureControllerTimeRange(self)
      if !range.isLive { actions.formUnion([.skipBackward, .skipForward]) }
    } else {
      actions.formUnion(handledActions.intersection([.playPause, .mute, .skipBackward, .skipForward]))
      if neighbour(forward: true) != nil { actions.formUnion([.previousStream, .nextStream]) }
    }
    if requiresLinearPlayback { actions.subtract([.skipBackward, .skipForward]) }
    return actions
  }

  /// Does what a control of the window does. A control that is not offered now does nothing.
  public func perform(_ action: PictureInPictureAction) {
    guard phase.run != nil, actions.contains(action) else { return }
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
    case .mute: emit(.action(action))
    case .previousStream, .nextStream:
      guard let id = neighbour(forward: action == .nextStream) else { return }
      try? setSource(streamID: id)
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
