/// What the window shows and tells, and what its controls do.
extension PictureInPictureController {
  func handle(_ event: PictureInPictureWindowEvent) {
    switch event {
    case .action(let action): perform(action)
    case .lost(let error): lose(error)
    case .renderSizeChanged(let size):
      emit(.renderSizeChanged(size))
      source.playbackDelegate?.pictureInPictureController(self, didTransitionToRenderSize: size)
    case .visibilityChanged(let isVisible):
      updateRun(telling: .suspendedChanged(!isVisible)) { $0.isSuspended = !isVisible }
    }
  }

  private func lose(_ error: PipSinkError) {
    if case .stopping = phase { finishStopping() } else { end(.failed(error)) }
  }

  func streamDidChange(aspectRatio: Double) {
    streamAspectRatio = aspectRatio
    updatePresentation()
  }

  /// The window's shape: width divided by height. Two pictures beside each other have halves of the first one's shape.
  public var aspectRatio: Double? {
    if let size = configuration.preferredContentSize, size.isValid { return Double(size.width) / Double(size.height) }
    return streamAspectRatio.map { showsSecondStream ? $0 * 2 : $0 }
  }

  func updatePresentation() {
    guard phase.run != nil else { return }
    window.update(presentation)
  }

  var presentation: PictureInPicturePresentation {
    PictureInPicturePresentation(
      streamID: pictureInPictureStreamID ?? streamID, secondStreamID: showsSecondStream ? secondStreamID : nil,
      content: content, aspectRatio: aspectRatio, actions: actions, isPaused: isPlaybackPaused, isMuted: isMuted,
      isMicrophoneOff: isMicrophoneOff)
  }

  // MARK: - Controls

  /// The stream that the window's arrows and a media player's keys go to: the one after the chosen one, round in a circle,
  /// or before it. While the window is open, those without a picture yet are passed over. Nil where there is no other.
  public func neighbour(forward: Bool) -> StreamID? {
    if keepsPlaceOfEndedStream { return streamSelector.selected }
    return streamSelector.neighbour(forward: forward) { [phase, handover] id in !phase.isOpen || handover.isReady(id) }
  }

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

  /// Does what a control of the window does. One that is not offered now does nothing.
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

extension SampleBuffer {
  /// Width divided by height of the picture as it is to be shown.
  public var displayAspectRatio: Double {
    let display = formatDescription.displaySize
    return orientation.swapsSides ? display.height / display.width : display.width / display.height
  }
}
