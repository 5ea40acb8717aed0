/// The stream that is shown.
extension PictureInPictureController {
  /// The stream that the window shows or, while it is closed, will show.
  public var currentStreamID: StreamID { streamID }

  /// Shows another stream. While the window is open, the streams change between two frames in the same window.
  ///
  /// - Throws: ``PipSinkError/PictureInPicture/sourceNotReady(_:)`` while the window is open and the stream has no
  ///   picture yet; ``PipSinkError/Stream/unknown(_:known:)``; ``PipSinkError/PictureInPicture/notPossible(reason:)``
  ///   when the source is a display layer. Nothing has changed then.
  public func setSource(streamID new: StreamID) throws(PipSinkError) {
    guard let router = handover.router else {
      throw .pictureInPicture(.notPossible(reason: "its source is a display layer, not a stream"))
    }
    guard router.streamIDs.contains(new) else { throw .stream(.unknown(new, known: router.streamIDs)) }
    guard new != streamID else { return }
    if phase.isOpen, !handover.isReady(new) { throw .pictureInPicture(.sourceNotReady(new)) }
    let old = streamID
    let changesPlaces = new == secondStreamID
    if changesPlaces { forgetSecondStream() }
    if phase.isOpen {
      do throws(PipSinkError) {
        try handover.change(to: new)
      } catch {
        if changesPlaces { takeSecondStream(new) }
        throw error
      }
    }
    streamID = new
    if phase.isOpen { updateRun { $0.streamID = new } }
    awaitedStreamID = nil
    if keepsPlaceOfEndedStream || !content.isOfPlayingStream { removePlaceholder() }
    keepsPlaceOfEndedStream = false
    streamAspectRatio = handover.latest(of: new)?.displayAspectRatio
    // A stream that has ended is not among the selector's streams.
    if changesPlaces, old != "", isKnownOrUnmanaged(old) { takeSecondStream(old) }
    updatePresentation()
    streamSelector.select(new)
    // The first choice is not reported as a change.
    if !old.rawValue.isEmpty { emit(.sourceChanged(from: old, to: new)) }
    updateVisibility()
    // In the background, the start may have waited for a stream with a picture.
    settle()
  }

  /// Whether a stream may be chosen: the selector knows it, or the app uses no selector.
  private func isKnownOrUnmanaged(_ id: StreamID) -> Bool {
    streamSelector.streams.isEmpty || streamSelector.streams.contains { $0.id == id }
  }

  /// Reacts to a change of the selector's streams or choice.
  func followSelector(since old: PictureInPictureStreamSelector) {
    if let id = secondStreamID, old.streams.contains(where: { $0.id == id }),
      !streamSelector.streams.contains(where: { $0.id == id })
    {
      forgetSecondStream()
    }
    showOrHideSecondStream()
    let isKnown = streamSelector.streams.contains { $0.id == streamID }
    if isKnown, keepsPlaceOfEndedStream {
      keepsPlaceOfEndedStream = false
      // The stream returns to the place that was kept for it. This choice calls the method again.
      if streamSelector.selected != streamID, streamSelector.select(streamID) { return }
    }
    let isLastGone = streamSelector.streams.isEmpty && !old.streams.isEmpty
    let hasEnded = !isKnown && phase.isOpen && (isLastGone || old.streams.contains { $0.id == streamID })
    if hasEnded, endsWithItsStream { return end(.sourceEnded) }
    keepsPlaceOfEndedStream = keepsPlaceOfEndedStream || hasEnded && configuration.endAction == .placeholder
    guard hasEnded || !streamSelector.streams.isEmpty else { return }
    updatePresentation()
    guard let wanted = streamSelector.selected, !keepsPlaceOfEndedStream else {
      awaitedStreamID = nil
      let isOver = hasEnded || keepsPlaceOfEndedStream || content == .ended(name: streamID.rawValue)
      let withoutStream: PictureInPictureContent = isOver ? .ended(name: streamID.rawValue) : .inactive
      return showPlaceholder(isKnown ? .cameraOff(name: streamID.rawValue) : withoutStream)
    }
    removePlaceholder()
    guard wanted != streamID else { return }
    do throws(PipSinkError) {
      try setSource(streamID: wanted)
    } catch {
      // It is shown as soon as it has a picture.
      awaitedStreamID = wanted
      if hasEnded { showPlaceholder(.ended(name: streamID.rawValue)) }
    }
  }

  /// Chooses another stream after the end of a run, so that the next one does not start with a stream that has ended.
  func leaveEndedStream() {
    guard !streamSelector.streams.contains(where: { $0.id == streamID }) else { return }
    followSelector(since: streamSelector)
  }

  /// Whether picture-in-picture ends now that its stream has ended.
  private var endsWithItsStream: Bool {
    switch configuration.endAction {
    // If none of the streams that are left has a picture, the window says so.
    case .nextStream: streamSelector.streams.isEmpty
    case .placeholder: false
    case .stop: true
    }
  }

  /// Whether the window shows a placeholder for its stream that has ended.
  var keepsPlaceOfEndedStream: Bool {
    get { phase.run?.keepsPlaceOfEndedStream ?? false }
    set { updateRun { $0.keepsPlaceOfEndedStream = newValue } }
  }

  private func removePlaceholder() {
    switch content {
    case .cameraOff, .ended, .inactive: content = .video
    case .video, .reconnecting, .screenShare: break
    }
  }

  private func showPlaceholder(_ placeholder: PictureInPictureContent) {
    if content != placeholder { content = placeholder }
  }

  /// Reacts to the first frame of a stream.
  func streamDidBecomeReady(_ id: StreamID) {
    if id == awaitedStreamID, streamSelector.selected == id { try? setSource(streamID: id) }
    // The window's controls may lead to the stream from now on.
    updatePresentation()
    if id == secondStreamID { showOrHideSecondStream() }
    guard id == streamID else { return }
    if isWaitingForPicture {
      become(.idle(.nothing))
      try? start()
    }
    settle()
  }
}

extension PictureInPictureContent {
  /// Whether there is a stream that plays or may continue.
  fileprivate var isOfPlayingStream: Bool {
    switch self {
    case .ended, .inactive: false
    case .video, .cameraOff, .reconnecting, .screenShare: true
    }
  }
}
