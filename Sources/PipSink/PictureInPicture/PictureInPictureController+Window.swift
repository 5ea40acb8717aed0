/// What the window shows and tells, and what is reported of it.
extension PictureInPictureController {
  func handle(_ event: PictureInPictureWindowEvent) {
    switch event {
    case .action(let action): perform(action)
    case .lost(let error): lose(error)
    case .renderSizeChanged(let size):
      emit(.renderSizeChanged(size))
      source.playbackDelegate?.pictureInPictureController(self, didTransitionToRenderSize: size)
    case .visibilityChanged(let isVisible):
      guard phase != .idle, isSuspended == isVisible else { return }
      isSuspended = !isVisible
      updateVisibility()
      emit(.suspendedChanged(isSuspended))
    }
  }

  func lose(_ error: PipSinkError) {
    if case .stopping = phase { finishStopping() } else { end(.failed(error)) }
  }

  func streamDidChange(aspectRatio: Double) {
    streamAspectRatio = aspectRatio
    updatePresentation()
  }

  /// The window's shape: width divided by height.
  public var aspectRatio: Double? {
    if let size = configuration.preferredContentSize, size.isValid { return Double(size.width) / Double(size.height) }
    return streamAspectRatio
  }

  func forgetAspectRatio() {
    streamAspectRatio = handover.latest(of: streamID)?.displayAspectRatio
  }

  func updatePresentation() {
    guard phase != .idle else { return }
    window.update(presentation)
  }

  var presentation: PictureInPicturePresentation {
    PictureInPicturePresentation(
      streamID: streamID, content: content, aspectRatio: aspectRatio, actions: actions, isPaused: isPlaybackPaused,
      isMuted: isMuted)
  }

  // MARK: - Events

  func emit(_ event: PictureInPictureEvent) {
    broadcast.send(event)
    switch event {
    case .willStart: delegate?.pictureInPictureControllerWillStart(self)
    case .didStart: delegate?.pictureInPictureControllerDidStart(self)
    case .failedToStart(let error): delegate?.pictureInPictureController(self, failedToStartWith: error)
    case .willStop: delegate?.pictureInPictureControllerWillStop(self)
    case .didStop(let reason): delegate?.pictureInPictureController(self, didStopBecause: reason)
    case .renderSizeChanged(let size):
      delegate?.pictureInPictureController(self, didTransitionToRenderSize: size)
    case .sourceChanged(let old, let new):
      delegate?.pictureInPictureController(self, didChangeSourceFrom: old, to: new)
    case .action(let action): delegate?.pictureInPictureController(self, didReceive: action)
    case .restoreUserInterface, .stateChanged, .suspendedChanged: break
    }
  }
}
