/// Picture-in-picture in the session's window and in those of single streams.
extension PictureInPictureSession {
  /// The stream in the picture-in-picture window, from the start's beginning to the stop's end; nil while there is none.
  public var pictureInPictureStreamID: StreamID? { controller.pictureInPictureStreamID }

  /// Starts picture-in-picture, now or with its stream's first picture; while it is open, shows another stream in it.
  ///
  /// - Parameter streamID: nil for the one that is chosen.
  /// - Throws: as ``PictureInPictureController/setSource(streamID:)`` and
  ///   ``PictureInPictureController/startWhenReady()``; then nothing has changed.
  public func startPictureInPicture(_ streamID: StreamID? = nil) throws(PipSinkError) {
    defer { updatePlaceholders() }
    if let streamID { try controller.setSource(streamID: streamID) }
    try controller.startWhenReady()
  }

  /// Chooses the stream for picture-in-picture, whether that is open or not.
  ///
  /// - Throws: as ``PictureInPictureController/setSource(streamID:)``; then nothing has changed.
  public func setPictureInPictureSource(_ streamID: StreamID) throws(PipSinkError) {
    defer { updatePlaceholders() }
    try controller.setSource(streamID: streamID)
  }

  /// The stream in the other half of the picture-in-picture window, or that will be when there is something to see.
  public var secondPictureInPictureStreamID: StreamID? { controller.secondStreamID }

  /// Shows another stream beside the one in the picture-in-picture window, in a half each; nil gives that one the whole
  /// window again.
  ///
  /// - Throws: as ``PictureInPictureController/setSecondStream(_:)``; then nothing has changed.
  public func setSecondPictureInPictureStream(_ streamID: StreamID?) throws(PipSinkError) {
    // The router may have a stream before the session, which could not tell of its end then.
    if let streamID, playStates[streamID] == nil {
      throw .stream(.unknown(streamID, known: playStates.keys.sorted()))
    }
    defer { updatePlaceholders() }
    try controller.setSecondStream(streamID)
  }

  /// The stream that the configuration names is there.
  func takeConfiguredSecondStream(_ id: StreamID) {
    guard id == configuration.secondPictureInPictureStreamID, secondPictureInPictureStreamID != id else { return }
    attempt { () throws(PipSinkError) in try setSecondPictureInPictureStream(id) }
  }

  /// Brings the frames back to the app and closes the window; also forgets a start that waits for a picture.
  ///
  /// - Returns: false where there was nothing to stop.
  @discardableResult
  public func stopPictureInPicture() -> Bool {
    defer { updatePlaceholders() }
    return controller.stop()
  }

  /// Gives picture-in-picture up, in all windows: it ends, is not started by itself any more, and is refused until
  /// ``initializePictureInPicture()``. Streams go on in the app.
  public func uninitializePictureInPicture() {
    startsAutomatically = false
    for controller in controllers { controller.uninitialize() }
    updatePlaceholders()
  }

  /// Sets picture-in-picture up again, after ``uninitializePictureInPicture()`` or where it could not be had. A session
  /// begins with it by itself; where it has been set up, nothing happens.
  ///
  /// - Throws: as ``PictureInPictureController/initialize()``.
  public func initializePictureInPicture() throws(PipSinkError) {
    for controller in controllers { try controller.initialize() }
  }

  /// Has every controller start by itself, or not. The session's own window has nothing to start with when all streams
  /// have windows for themselves.
  func updateAutomaticStart() {
    for controller in controllers {
      controller.startsAutomatically =
        startsAutomatically && (controller !== self.controller || !ownStreamsAreGone)
    }
    updateBackgroundWatch()
  }

  private var ownStreamsAreGone: Bool {
    !dedicatedControllers.isEmpty && controller.streamSelector.streams.isEmpty
  }

  /// Tells the session that the app cannot be seen any more, or can be seen again. Displays with windows tell it by
  /// themselves.
  public func setBackground(_ isInBackground: Bool) {
    for controller in controllers {
      isInBackground ? controller.applicationDidEnterBackground() : controller.applicationWillEnterForeground()
    }
  }

  /// Watching costs wake-ups on Wayland, so it is done only where something follows from it.
  func updateBackgroundWatch() {
    display.watchBackground(startsAutomatically || !engine.isBackgroundDecodingEnabled)
  }

  /// Does what a key or a button of the app stands for.
  ///
  /// - Throws: as ``startPictureInPicture(_:)``.
  public func perform(_ action: SessionAction) throws(PipSinkError) {
    switch action {
    case .togglePictureInPicture:
      if pictureInPictureStreamID != nil || controller.isWaitingForPicture {
        stopPictureInPicture()
      } else {
        try startPictureInPicture()
      }
    case .nextStream:
      try startPictureInPicture(controller.neighbour(forward: true) ?? controller.currentStreamID)
    case .togglePause: isPaused.toggle()
    case .toggleMute: isMuted.toggle()
    case .toggleFullscreen: display.perform(.toggleFullscreen)
    }
  }

  // MARK: - Windows for single streams

  /// The session's controller and those of streams with windows for themselves.
  public var controllers: [PictureInPictureController] { [controller] + dedicatedControllers.values }

  /// Gives a stream a picture-in-picture window for itself, which is started and stopped by the controller that is
  /// returned. The session's own window does not choose the stream any more.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, and as ``SessionDisplay/makePictureInPictureHost()``.
  @discardableResult
  public func addPictureInPictureWindow(
    for streamID: StreamID
  ) throws(PipSinkError) -> PictureInPictureController {
    if let known = dedicatedControllers[streamID] { return known }
    try check(streamID)
    let new = PictureInPictureController(
      contentSource: ContentSource(router: router, streamID: streamID),
      window: try display.makePictureInPictureHost(), configuration: controller.configuration)
    dedicatedControllers[streamID] = new
    connect(new)
    new.observeEvents { [weak self] _ in
      self?.updatePlaceholders()
      self?.updateSkipping()
    }
    controller.streamSelector.remove(streamID)
    updateAutomaticStart()
    updateContent(of: streamID)
    updatePlaceholders()
    return new
  }
}

/// What the session does about its windows' controls.
extension PictureInPictureSession: PictureInPictureControllerDelegate {
  public func pictureInPictureControllerRestoreUserInterface(_ controller: PictureInPictureController) async -> Bool {
    if let restoreUserInterface { return await restoreUserInterface() }
    display.present()
    return display.canPresent
  }

  public func pictureInPictureController(
    _ controller: PictureInPictureController, didReceive action: PictureInPictureAction
  ) {
    if actionHandler?(action) == true { return }
    switch action {
    case .playPause: isPaused.toggle()
    case .mute: isMuted.toggle()
    case .skipBackward, .skipForward:
      let seconds = controller.configuration.skipInterval / .seconds(action == .skipForward ? 1 : -1)
      skip(controller.currentStreamID, by: MediaTime(seconds: seconds))
    default: break
    }
  }
}
