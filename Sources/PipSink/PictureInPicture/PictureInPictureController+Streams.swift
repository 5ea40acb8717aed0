/// Which stream is shown, and what the window's controls do.
extension PictureInPictureController {
  /// The stream that is shown, or will be.
  public var currentStreamID: StreamID { streamID }

  /// Shows another stream, in the same window and between two frames while it is open.
  ///
  /// - Throws: ``PipSinkError/sourceNotReady(_:)`` while the window is open and the stream has no picture yet,
  ///   ``PipSinkError/unknownStream(_:known:)``, ``PipSinkError/pictureInPictureNotPossible(reason:)`` for a source that
  ///   is a display layer. Then nothing has changed.
  public func setSource(streamID new: StreamID) throws(PipSinkError) {
    guard let router = handover.router else {
      throw .pictureInPictureNotPossible(reason: "its source is a display layer, not a stream")
    }
    guard router.streamIDs.contains(new) else { throw .unknownStream(new, known: router.streamIDs) }
    guard new != streamID else { return }
    if isOpen {
      guard handover.isReady(new) else { throw .sourceNotReady(new) }
      try handover.change(to: new)
    }
    let old = streamID
    streamID = new
    awaitedStreamID = nil
    if keepsPlaceOfEndedStream || content == .inactive { removePlaceholder() }
    keepsPlaceOfEndedStream = false
    forgetAspectRatio()
    updatePresentation()
    streamSelector.select(new)
    emit(.sourceChanged(from: old, to: new))
    updateVisibility()
    // In the background it may have waited for a stream with a picture.
    settle()
  }

  func followSelector(since old: PictureInPictureStreamSelector) {
    let isKnown = streamSelector.streams.contains { $0.id == streamID }
    if isKnown { keepsPlaceOfEndedStream = false }
    let isLastGone = streamSelector.streams.isEmpty && !old.streams.isEmpty
    let hasEnded = !isKnown && isOpen && (isLastGone || old.streams.contains { $0.id == streamID })
    if hasEnded, endsWithItsStream { return end(.sourceEnded) }
    keepsPlaceOfEndedStream = keepsPlaceOfEndedStream || hasEnded && configuration.endAction == .placeholder
    guard hasEnded || !streamSelector.streams.isEmpty else { return }
    updatePresentation()
    guard let wanted = streamSelector.selected, !keepsPlaceOfEndedStream else {
      awaitedStreamID = nil
      return showPlaceholder(isKnown ? .cameraOff(name: streamID) : .inactive)
    }
    removePlaceholder()
    guard wanted != streamID else { return }
    do throws(PipSinkError) {
      try setSource(streamID: wanted)
    } catch {
      // It is shown as soon as it has a picture.
      awaitedStreamID = wanted
      if hasEnded { showPlaceholder(.inactive) }
    }
  }

  /// What has ended is not what picture-in-picture starts with the next time.
  func leaveEndedStream() {
    keepsPlaceOfEndedStream = false
    guard !streamSelector.streams.contains(where: { $0.id == streamID }) else { return }
    followSelector(since: streamSelector)
  }

  /// Whether picture-in-picture is over, now that its stream is.
  private var endsWithItsStream: Bool {
    switch configuration.endAction {
    // Of those that are left nobody may have a picture; the window says so.
    case .nextStream: streamSelector.streams.isEmpty
    case .placeholder: false
    case .stop: true
    }
  }

  private var isOpen: Bool {
    switch phase {
    case .starting, .active: true
    case .idle, .stopping: false
    }
  }

  private func removePlaceholder() {
    switch content {
    case .cameraOff, .inactive: content = .video
    case .video, .reconnecting, .screenShare: break
    }
  }

  private func showPlaceholder(_ placeholder: PictureInPictureContent) {
    if content != placeholder { content = placeholder }
  }

  func streamDidBecomeReady(_ id: StreamID) {
    if id == awaitedStreamID, streamSelector.selected == id { try? setSource(streamID: id) }
    guard id == streamID else { return }
    if isWaitingForPicture {
      isWaitingForPicture = false
      try? start()
    }
    settle()
  }

  // MARK: - Controls

  /// The stream that the window's arrows go to.
  private func neighbour(forward: Bool) -> StreamID? {
    keepsPlaceOfEndedStream ? streamSelector.selected : streamSelector.neighbour(forward: forward)
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
      if !range.isLive, !requiresLinearPlayback { actions.formUnion([.skipBackward, .skipForward]) }
    } else {
      actions.formUnion(handledActions.intersection([.playPause, .mute]))
      if neighbour(forward: true) != nil { actions.formUnion([.previousStream, .nextStream]) }
    }
    return actions
  }

  /// Does what a control of the window does. One that is not offered now does nothing.
  public func perform(_ action: PictureInPictureAction) {
    guard phase != .idle, actions.contains(action) else { return }
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
      guard let delegate = source.playbackDelegate else { return }
      let seconds = configuration.skipSeconds * (action == .skipForward ? 1 : -1)
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
