/// Where the session's streams are shown in the app, and the placeholders for them.
extension PictureInPictureSession {
  /// The layer that shows a stream in the app; nil for an unknown stream, and where the display does not show streams.
  public func layer(of streamID: StreamID) -> SampleBufferDisplayLayer? { known[streamID]?.layer }

  /// The placeholder for a stream in the app; nil while its picture is shown.
  public func placeholder(of streamID: StreamID) -> StreamPlaceholder? {
    if case .placeholder(let placeholder) = known[streamID]?.shownInApp { placeholder } else { nil }
  }

  /// Shows a stream on another renderer instead of its place in the app, with another gravity. This is possible while
  /// frames flow. The place shows nothing any more, and the renderer begins with the newest frame.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, which also applies where the display does not show streams.
  public func updateView(
    _ renderer: any VideoRenderer, for streamID: StreamID, gravity: VideoGravity
  ) throws(PipSinkError) {
    try setVideoGravity(gravity, of: streamID)
    layer(of: streamID)?.attach(to: renderer)
  }

  /// Sets how a stream's frames are fitted to its place in the app. A screen is never cropped; the gravity applies when
  /// the stream shows none any more. The gravity of picture-in-picture is part of the controller's configuration.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, which also applies where the display does not show streams.
  public func setVideoGravity(_ gravity: VideoGravity, of streamID: StreamID) throws(PipSinkError) {
    guard layer(of: streamID) != nil else {
      throw .stream(.unknown(streamID, known: known.filter { $0.value.layer != nil }.keys.sorted()))
    }
    known[streamID]?.gravity = gravity
  }

  /// Shows every frame of a stream on `renderer` from now on, in addition to its place in the app and
  /// picture-in-picture. The stream need not exist yet. Any number of renderers may show a stream, and none waits for
  /// another. They are released when the stream is removed.
  ///
  /// - Parameters:
  ///   - renderer: shows the frames.
  ///   - streamID: the stream.
  ///   - gravity: how frames are fitted to the renderer.
  ///   - formatSeries: the kind of pixels that the renderer gets, in place of its ``VideoRenderer/formatSeries``; with
  ///     `any`, that one applies. Frames of another kind are converted as it says.
  /// - Returns: whether the stream has delivered a frame. If it has not, the renderer waits for one.
  @discardableResult
  public func attach(
    _ renderer: any VideoRenderer, toStream streamID: StreamID, gravity: VideoGravity = .resizeAspect,
    formatSeries: FrameFormatSeries = .any
  ) -> Bool {
    let layer =
      router.attachedLayers(ofStream: streamID).first { $0.renderer === renderer }
      ?? SampleBufferDisplayLayer(name: streamID.rawValue, renderer: renderer, videoGravity: gravity)
    layer.videoGravity = gravity
    layer.formatSeries = formatSeries
    return router.attach(layer, toStream: streamID)
  }

  /// Stops showing a stream on a renderer that ``attach(_:toStream:gravity:formatSeries:)`` has attached. Other
  /// renderers go on.
  public func detach(_ renderer: any VideoRenderer, fromStream streamID: StreamID) {
    guard let layer = router.attachedLayers(ofStream: streamID).first(where: { $0.renderer === renderer }) else {
      return
    }
    router.detach(layer, fromStream: streamID)
    layer.detach()
  }

  /// Tells somebody who sends a stream's frames away of its camera and microphone, and of its end.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  package func add(_ sender: any StreamSender, to streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    guard let stream = known[streamID] else { return }
    senders[streamID, default: []].append(sender)
    updateDevices(of: stream, streamID, for: sender)
    updateHandledActions()
  }

  /// Ends what ``add(_:to:)`` has begun.
  package func remove(_ sender: any StreamSender, from streamID: StreamID) {
    senders[streamID]?.removeAll { $0 === sender }
    updateHandledActions()
  }

  private func updateDevices(of stream: SessionStream, _ id: StreamID, for sender: any StreamSender) {
    sender.setDevices(
      isCameraOff: stream.placeholder == .cameraOff, isMicrophoneOff: isSaidOff(.microphone, of: id))
  }

  /// Says that a stream shows somebody's screen, or no longer does. A screen is never cropped, and picture-in-picture
  /// shows it before other streams, unless the user has chosen one.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func setScreenShare(_ isScreenShare: Bool, of streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    known[streamID]?.isScreenShare = isScreenShare
    show(streamID)
  }

  /// Mirrors a stream's pictures wherever they are shown, or not, instead of as
  /// ``Configuration/mirrorsLocalStreams`` says. What is sent away, and what observers of frames get, is never mirrored.
  ///
  /// - Parameters:
  ///   - isMirrored: whether left and right are exchanged; nil for what the configuration says.
  ///   - streamID: the stream.
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func setMirrored(_ isMirrored: Bool?, of streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    known[streamID]?.isMirrored = isMirrored
    show(streamID)
  }

  /// Whether a stream's pictures are mirrored where they are shown.
  package func isMirrored(_ id: StreamID) -> Bool { known[id].map { isMirrored($0, id) } ?? false }

  func isMirrored(_ stream: SessionStream, _ id: StreamID) -> Bool {
    let isOwnFace = engine.localStreamIDs.contains(id) && !stream.isScreenShare
    return stream.isMirrored ?? (isOwnFace && configuration.mirrorsLocalStreams)
  }

  /// Gives a stream the name by which the user knows it: with its picture, in place of it, in the title of the
  /// picture-in-picture window, and for media players. A stream without a name has that of its ID.
  ///
  /// - Parameters:
  ///   - name: the name; nil for that of the ID. An empty name is not shown. Control characters become spaces, and what
  ///     follows the first 256 characters (code points) is left out.
  ///   - streamID: the stream.
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func setName(_ name: String?, of streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    let new = name?.displayed(atMost: 256) ?? streamID.rawValue
    guard new != participant(of: streamID).name else { return }
    updateParticipant(of: streamID) { $0.name = new }
    emit(.nameChanged(streamID))
  }

  // MARK: - Following streams

  /// Shows everywhere what is known of a stream: in picture-in-picture, whose selector is told, and in the app.
  ///
  /// - Parameter prepare: called before its place in the app shows anything.
  func show(_ id: StreamID, _ prepare: () -> Void = {}) {
    guard let old = known[id] else { return }
    var new = old
    new.placeholder = placeholder(for: id, old)
    new.participant.isMicrophoneOff = isOff(.microphone, of: id)
    if new.participant.isMicrophoneOff { new.participant.isSpeaking = false }
    known[id] = new
    router.setMirrored(isMirrored(new, id), for: id)
    if !new.isExcluded {
      (old.controller ?? controller).streamSelector.set(
        id, isLocal: engine.localStreamIDs.contains(id), isScreenShare: new.isScreenShare, placeholder: new.placeholder)
    }
    if (old.placeholder == .cameraOff) != (new.placeholder == .cameraOff) { removePictures(of: id) }
    for sender in senders[id] ?? [] { updateDevices(of: new, id, for: sender) }
    if engine.localStreamIDs.contains(id) { updateHandledActions() }
    prepare()
    if old.participant != new.participant { display.setParticipant(new.participant, for: id) }
    updatePlaces()
    updateGap(of: id)
    router.demandNotice()
  }

  /// What stands in place of a stream's picture; nil while it has one.
  private func placeholder(for id: StreamID, _ stream: SessionStream) -> StreamPlaceholder? {
    let hasFrame = router.latestSampleBuffer(of: id) != nil
    return switch stream.state {
    case .ended: .ended
    case .failed(let error): .failed(error.description)
    // The last picture of somebody who has switched the camera off must not be seen, whether or not frames come.
    case _ where isOff(.camera, of: id): .cameraOff
    case .playing: engine.info(of: id)?.hasNoVideo == true ? .audioOnly : nil
    case .stalled, .reconnecting: .reconnecting
    case .requesting where engine.info(of: id)?.failure != nil: .reconnecting
    case .requesting, .stopped: hasFrame ? nil : .waiting
    }
  }

  /// Removes a stream's pictures: whoever switches a camera off must not be seen any more, not even for a moment when
  /// the camera is on again.
  private func removePictures(of id: StreamID) {
    layer(of: id)?.flushAndRemoveImage()
    for controller in controllers { controller.removePicture(of: id) }
  }

  /// Updates the streams' places in the app, and the participants in picture-in-picture.
  func updatePlaces() {
    for (id, stream) in known {
      let placeholder = placeholderInApp(of: id, stream)
      let shown = placeholder.map(SessionStream.Shown.placeholder) ?? .picture
      guard shown != stream.shownInApp else { continue }
      known[id]?.shownInApp = shown
      display.setPlaceholder(placeholder, for: id)
    }
    let participants = known.mapValues(\.participant)
    for controller in controllers { controller.participants = participants }
  }

  private func placeholderInApp(of id: StreamID, _ stream: SessionStream) -> StreamPlaceholder? {
    switch stream.placeholder {
    case .ended, .failed, .reconnecting: stream.placeholder
    case nil, .waiting, .cameraOff, .audioOnly, .inPictureInPicture:
      controllers.contains { $0.shows(id, hasPicture: stream.placeholder == nil) }
        ? .inPictureInPicture : stream.placeholder
    }
  }
}

extension PictureInPictureController {
  /// Whether a stream is in the window, or has its first picture, with which the window opens.
  fileprivate func shows(_ id: StreamID, hasPicture: Bool) -> Bool {
    contains(id) || isWaitingForPicture && currentStreamID == id && hasPicture
  }
}
