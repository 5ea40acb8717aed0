/// The streams that are shown.
extension PictureInPictureController {
  /// The stream that the window shows or, while it is closed, will show: the one in its first place.
  public var currentStreamID: StreamID { streamID }

  /// The stream that has, or will have, the window's second place; nil where the layout has none, and in a grid. The
  /// user's request counts until it can be fulfilled.
  public var secondStreamID: StreamID? {
    guard configuration.layout.placeCount == 2 else { return nil }
    let places = streamSelector.places
    if places.count > 1 { return places[1].streamID }
    let request = streamSelector.requests.count > 1 ? streamSelector.requests[1] : nil
    return request == streamID ? nil : request
  }

  /// Shows another stream, whenever it has a picture, until another one is chosen. While the window is open, the
  /// streams change between two frames in the same window.
  ///
  /// - Throws: ``PipSinkError/PictureInPicture/sourceNotReady(_:)`` while the window is open and the stream has no
  ///   picture; ``PipSinkError/Stream/unknown(_:known:)``; ``PipSinkError/PictureInPicture/notPossible(reason:)``
  ///   when the source is a display layer. Nothing has changed then.
  public func setSource(streamID new: StreamID) throws(PipSinkError) {
    try checkSource(new)
    streamSelector.select(new)
  }

  /// Withdraws the user's choice of a stream. From now on the selector's policy chooses.
  public func resetSource() { streamSelector.select(nil) }

  /// - Throws: why ``setSource(streamID:)`` would be refused.
  func checkSource(_ new: StreamID) throws(PipSinkError) {
    guard let router = handover.router else {
      throw .pictureInPicture(.notPossible(reason: "its source is a display layer, not a stream"))
    }
    guard router.streamIDs.contains(new) else { throw .stream(.unknown(new, known: router.streamIDs)) }
    guard new != streamID, phase.isOpen else { return }
    noteFrames()
    let isReady = streamSelector.isManaged ? streamSelector.mayShow(new) : handover.isReady(new)
    if !isReady { throw .pictureInPicture(.sourceNotReady(new)) }
  }

  /// Shows another stream in the window's second place, whenever it has a picture. The layout `single` becomes `split`,
  /// until nil is set. The setting persists until it is changed. While the stream has no picture, another remote stream
  /// has its half; the half of a local stream stays closed.
  ///
  /// When the window's first stream is replaced by the second one, the two change places.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, or ``PipSinkError/PictureInPicture/notPossible(reason:)`` for
  ///   the stream that was chosen for the first place, and where the source or the window supports one stream only.
  ///   Nothing has changed then.
  public func setSecondStream(_ new: StreamID?) throws(PipSinkError) {
    guard let new else {
      streamSelector.selectSecond(nil)
      if configuration.layout == .split { configuration.layout = .single }
      return
    }
    guard let router = handover.router else {
      throw .pictureInPicture(.notPossible(reason: "its source is a display layer, which takes the whole window"))
    }
    guard !window.otherRenderers.isEmpty else {
      throw .pictureInPicture(.notPossible(reason: "its window can show one stream only"))
    }
    guard router.streamIDs.contains(new) else { throw .stream(.unknown(new, known: router.streamIDs)) }
    guard new != streamSelector.requests[0] else {
      throw .pictureInPicture(.notPossible(reason: "\"\(new)\" has the window already; choose another second stream"))
    }
    streamSelector.selectSecond(new)
    if configuration.layout == .single { configuration.layout = .split }
  }

  /// The layout that the window's control leads to; nil where the streams can be arranged in one way only.
  var nextLayout: PictureInPictureLayout? {
    guard !window.otherRenderers.isEmpty, streamSelector.streams.count(where: { !$0.isOver }) > 1 else { return nil }
    let hasLocal = streamSelector.streams.contains { $0.isLocal && !$0.isOver }
    let all = PictureInPictureLayout.allCases.filter { $0 != .speaker || hasLocal || $0 == configuration.layout }
    let index = all.firstIndex(of: configuration.layout) ?? 0
    return all[(index + 1) % all.count]
  }

  // MARK: - Following the selector

  /// Tells the selector what the window is doing.
  func updateSituation() {
    let takesAny = isChoosing || isWaitingForPicture && isPatienceOver && streamSelector.requests[0] == nil
    let situation = PictureInPictureRules.Situation(
      isOpen: phase.run != nil || takesAny, keepsEnded: configuration.endAction == .placeholder)
    if streamSelector.situation != situation { streamSelector.situation = situation }
  }

  /// Chooses a stream with a picture, if there is one, because the window is about to open. A start by the user waits
  /// for the stream that the user has chosen.
  func chooseForStart(isAutomatic: Bool) {
    noteFrames()
    guard streamSelector.isManaged, !isReady, isAutomatic || streamSelector.requests[0] == nil else { return }
    isChoosing = true
    updateSituation()
    if !isReady { endChoosing() }
  }

  /// Notes that a start has chosen its stream.
  func endChoosing() {
    isChoosing = false
    updateSituation()
  }

  /// Tells the selector which streams have delivered a frame.
  private func noteFrames() {
    if streamSelector.streams.contains(where: { $0.hasFrame != true }) { streamSelector.noteFrames(handover.isReady) }
  }

  /// Whether the source has a frame to begin with, as far as the selector knows. A stream that the selector has lost has
  /// none: another window may have it.
  var isReady: Bool {
    guard streamSelector.isManaged else { return handover.isReady(streamID) }
    guard let stream = streamSelector.streams.first(where: { $0.id == streamID }) else { return false }
    return stream.hasFrame ?? handover.isReady(streamID)
  }

  /// Applies what the selector has decided.
  func followSelector() {
    noteFrames()
    // The user may have withdrawn the request that a start waits for.
    updateSituation()
    if phase.isOpen, endsWithItsStream { return end(.sourceEnded) }
    let first = streamSelector.selected ?? streamID
    if first != streamID { change(to: first) }
    showFirstStream()
    fillOtherPlaces()
    fit()
    if isWaitingForPicture, isReady {
      become(.idle(.nothing))
      try? start()
    }
    updatePresentation()
    guard background.awaitsStream, !endsWithItsStream else { return }
    background.awaitsStream = false
    background.invalidate()
    updateForBackground()
  }

  /// Whether picture-in-picture ends now, or does not start by itself, because its stream has ended.
  var endsWithItsStream: Bool {
    guard streamSelector.isOver(streamID) else { return false }
    return switch configuration.endAction {
    // If none of the streams that are left has a picture, the window says so.
    case .nextStream: streamSelector.streams.allSatisfy(\.isOver)
    case .placeholder: false
    case .stop: true
    }
  }

  private func change(to new: StreamID) {
    let old = streamID
    streamID = new
    streamAspectRatio = handover.latest(of: new)?.displayAspectRatio
    if phase.isOpen { updateRun { $0.streamID = new } }
    showFirstStream()
    // The first choice is not reported as a change.
    if !old.rawValue.isEmpty { emit(.sourceChanged(from: old, to: new)) }
    updateVisibility()
    // In the background, the start may have waited for a stream with a picture.
    updateForBackground()
  }

  /// Shows the current stream in the open window, if it has a picture and is not there.
  private func showFirstStream() {
    guard phase.isOpen, handover.isInside, handover.streamID != streamID, isReady else { return }
    // The router knows every stream that has a picture.
    try? handover.change(to: streamID)
    hideDarkPicture()
  }

  /// Removes the last picture of a stream whose camera is off from the window, where a placeholder covers it already.
  func hideDarkPicture() {
    if streamSelector.places.first?.placeholder == .cameraOff { removePicture(of: streamID) }
  }

  /// Sends the frames of a stream to the window from the first one on, if the start waits for it. A stream that is only
  /// there instead of the user's is shown in the app until then.
  func prepare(_ id: StreamID) {
    if isWaitingForPicture, id == streamID, streamSelector.requests[0] ?? id == id { handover.prepare(id) }
  }

  /// Reacts to the first frame of a stream.
  func streamDidBecomeReady(_ id: StreamID) {
    // The window's controls may lead to the stream from now on.
    followSelector()
    if id == streamID { updateForBackground() }
  }

  // MARK: - The other places

  /// Whether the window has a renderer for a place.
  func hasRenderer(_ place: PictureInPicturePlace) -> Bool { place.slot <= window.otherRenderers.count }

  /// Shows the streams of the other places while the window is open. A window that closes keeps its streams until it has
  /// closed.
  private func fillOtherPlaces() {
    if case .stopping = phase { return }
    let places = phase.isOpen ? streamSelector.places.filter { $0.slot > 0 && hasRenderer($0) } : []
    let wanted = places.filter { handover.isReady($0.streamID) }
    for place in wanted where others[place.slot]?.streamID != place.streamID {
      let other = others[place.slot] ?? makeHandover(place)
      others[place.slot] = other
      // The router knows every stream that has a picture.
      try? other?.show(place.streamID, on: window.otherRenderers[place.slot - 1])
      if place.placeholder == .cameraOff { removePicture(of: place.streamID) }
    }
    // By now, streams that have another slot have moved there.
    for (slot, other) in others where other.isInside && !wanted.contains(where: { $0.slot == slot }) { other.leave() }
    updateVisibility()
  }

  private func makeHandover(_ place: PictureInPicturePlace) -> PictureInPictureHandover? {
    guard case .stream(let router, _, let keepsShowingInApp) = source.kind else { return nil }
    return PictureInPictureHandover(
      ContentSource(router: router, streamID: place.streamID, keepsShowingInApp: keepsShowingInApp), clock)
  }

  /// Whether a stream is in the window.
  func contains(_ id: StreamID) -> Bool {
    pictureInPictureStreamID == id || others.values.contains { $0.streamID == id }
      || phase.run != nil && shownPlaces.contains { $0.streamID == id }
  }

  /// Removes the picture of a stream from the window.
  func removePicture(of id: StreamID) {
    for handover in [handover] + others.values where handover.streamID == id { handover.layer.flushAndRemoveImage() }
  }

  /// Fits the frames to the window as the configuration says. A shared screen is never cropped.
  func fit() {
    for place in streamSelector.places {
      let isScreen = streamSelector.streams.contains { $0.id == place.streamID && $0.isScreenShare }
      let handover = place.slot == 0 ? handover : others[place.slot]
      handover?.setGravity(isScreen ? .resizeAspect : configuration.videoGravity)
    }
  }
}
