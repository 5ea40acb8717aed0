/// Picture-in-picture in the session's window and in those of single streams.
extension PictureInPictureSession {
  /// The stream in the session's picture-in-picture window, from the beginning of its start to the end of its stop; nil
  /// while there is none.
  public var pictureInPictureStreamID: StreamID? { controller.pictureInPictureStreamID }

  /// Starts picture-in-picture now, or with its stream's first picture. While the window is open, it shows another
  /// stream in it.
  ///
  /// - Parameter streamID: the stream that the user wants; nil for the one that is chosen already.
  /// - Throws: the errors of ``setPictureInPictureSource(_:)``, and ``PictureInPictureController/impossibility`` unless
  ///   the only obstacle is that the stream has no picture yet. Nothing has changed then.
  public func startPictureInPicture(_ streamID: StreamID? = nil) throws(PipSinkError) {
    defer { updatePlaces() }
    if let streamID { try checkSource(streamID) }
    if !known.isEmpty, known.values.allSatisfy(\.isExcluded) {
      throw .pictureInPicture(.notPossible(reason: "no stream may be in picture-in-picture"))
    }
    if let refusal = controller.refusal { throw refusal }
    if let streamID { controller.streamSelector.select(streamID) }
    try controller.startWhenReady()
  }

  /// Chooses the stream for picture-in-picture, whether or not the window is open. It is shown whenever it has a
  /// picture, until another one is chosen. With nil, ``PictureInPictureController/streamSelector`` chooses again.
  ///
  /// - Throws: the errors of ``PictureInPictureController/setSource(streamID:)``, and
  ///   ``PipSinkError/PictureInPicture/notPossible(reason:)`` for a stream with a window for itself, or that may not be
  ///   in picture-in-picture. Nothing has changed then.
  public func setPictureInPictureSource(_ streamID: StreamID?) throws(PipSinkError) {
    defer { updatePlaces() }
    if let streamID { try checkSource(streamID) }
    controller.streamSelector.select(streamID)
  }

  private func checkSource(_ streamID: StreamID) throws(PipSinkError) {
    try checkWindow(of: streamID)
    try controller.checkSource(streamID)
  }

  /// Says that a stream may be in picture-in-picture, as every stream may at first, or that it may not, for instance
  /// because it shows something private. Where it is in the window, another one with a picture is shown there instead,
  /// or the window closes. The app offers no button for it.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, or ``PipSinkError/PictureInPicture/notPossible(reason:)`` for a
  ///   stream with a window for itself.
  public func setPictureInPictureAllowed(_ isAllowed: Bool, of streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    guard known[streamID]?.isExcluded == isAllowed else { return }
    if known[streamID]?.controller != nil { try checkWindow(of: streamID) }
    known[streamID]?.isExcluded = !isAllowed
    if !isAllowed { withdraw(streamID) }
    offerPictureInPicture(isAllowed, of: streamID)
    show(streamID)
    updateAutomaticStart()
  }

  /// Has the session's window show other streams, or none, and nothing of this one from now on.
  private func withdraw(_ streamID: StreamID) {
    controller.streamSelector.giveAway(streamID)
    if controller.currentStreamID == streamID {
      controller.stop()
    } else if router.table.entries[.primary]?.streamID == streamID {
      // The other stream has no picture, so that nobody has told the router of it.
      controller.removePicture(of: streamID)
      router.leavePictureInPicture()
    }
  }

  func offerPictureInPicture(_ isOffered: Bool, of id: StreamID) {
    (display as? any PictureInPictureOfferingDisplay)?.offerPictureInPicture(isOffered, of: id)
  }

  /// - Throws: ``PipSinkError/PictureInPicture/notPossible(reason:)`` for a stream with a window for itself, or that may
  ///   not be in picture-in-picture.
  private func checkWindow(of streamID: StreamID) throws(PipSinkError) {
    if known[streamID]?.isExcluded == true {
      throw .pictureInPicture(.notPossible(reason: "\"\(streamID)\" may not be in picture-in-picture"))
    }
    if known[streamID]?.controller != nil {
      throw .pictureInPicture(.notPossible(reason: "\"\(streamID)\" has a window for itself"))
    }
  }

  /// The stream in the second place of the picture-in-picture window, or the one that gets it when it has a picture; nil
  /// where the layout has none, and in a grid.
  package var secondPictureInPictureStreamID: StreamID? { controller.secondStreamID }

  /// Shows another stream in the second place of the picture-in-picture window: in one half, or in the
  /// corner of the layout `speaker`. With nil there is no such stream any more.
  ///
  /// - Throws: the errors of ``PictureInPictureController/setSecondStream(_:)``, and
  ///   ``PipSinkError/PictureInPicture/notPossible(reason:)`` for a stream with a window for itself, or that may not be
  ///   in picture-in-picture. Nothing has changed then.
  public func setSecondPictureInPictureStream(_ streamID: StreamID?) throws(PipSinkError) {
    // The router may know a stream before the session, which could not notice the stream's end then.
    if let streamID {
      try check(streamID)
      try checkWindow(of: streamID)
    }
    defer { updatePlaces() }
    try controller.setSecondStream(streamID)
    comingSecondStreamID = nil
  }

  /// Shows the second stream that the configuration names, now that it exists.
  func takeConfiguredSecondStream(_ id: StreamID) {
    guard id == comingSecondStreamID else { return }
    attempt { () throws(PipSinkError) in try setSecondPictureInPictureStream(id) }
  }

  /// Brings the frames back to the app and closes the window. It also cancels a start that waits for a picture.
  ///
  /// - Returns: false where there was nothing to stop.
  @discardableResult
  public func stopPictureInPicture() -> Bool {
    defer { updatePlaces() }
    return controller.stop()
  }

  /// Ends picture-in-picture in all windows and refuses it until ``initializePictureInPicture()`` is called. It does
  /// not start by itself any more. Streams go on in the app.
  public func uninitializePictureInPicture() {
    startsAutomatically = false
    for controller in controllers { controller.uninitialize() }
    updatePlaces()
  }

  /// Sets up picture-in-picture again in all windows, after ``uninitializePictureInPicture()`` or after a failed
  /// set-up. A new session does this by itself, and where picture-in-picture has been set up, nothing happens.
  ///
  /// - Throws: ``PipSinkError/PictureInPicture/unsupported(reason:)`` where picture-in-picture is not possible here.
  public func initializePictureInPicture() throws(PipSinkError) {
    for controller in controllers { try controller.initialize() }
  }

  /// Passes the automatic start on to all controllers. The session's window is left out when all streams have windows
  /// for themselves.
  func updateAutomaticStart() {
    for controller in controllers {
      controller.startsAutomatically =
        startsAutomatically && (controller !== self.controller || !ownStreamsAreGone)
    }
    updateBackgroundWatch()
  }

  /// Whether there are streams, and none that the session's window may show.
  private var ownStreamsAreGone: Bool { !known.isEmpty && controller.streamSelector.streams.isEmpty }

  /// Informs the session that the app cannot be seen any more, or can be seen again. Displays with windows do that by
  /// themselves.
  public func setBackground(_ isInBackground: Bool) {
    for controller in controllers {
      isInBackground ? controller.applicationDidEnterBackground() : controller.applicationWillEnterForeground()
    }
  }

  /// Has the display watch the background only where something depends on it, since watching costs wake-ups on Wayland.
  func updateBackgroundWatch() {
    display.watchBackground(startsAutomatically || !engine.isBackgroundDecodingEnabled)
  }

  /// Does what a key or a button of the app stands for.
  ///
  /// - Throws: the errors of ``startPictureInPicture(_:)``; and, when the keyboard is to go to the window,
  ///   ``PipSinkError/PictureInPicture/illegalTransition(state:trigger:)`` where no window is open, and
  ///   ``PipSinkError/PictureInPicture/unsupported(reason:)`` where windows cannot have the keyboard.
  public func perform(_ action: SessionAction) throws(PipSinkError) {
    switch action {
    case .togglePictureInPicture:
      if pictureInPictureStreamID != nil || controller.isWaitingForPicture {
        stopPictureInPicture()
      } else {
        try startPictureInPicture()
      }
    case .nextStream:
      try startPictureInPicture(controller.neighbour(forward: true))
    case .togglePause: togglePause()
    case .toggleMute: isMuted.toggle()
    case .toggleCaptions: showsCaptions.toggle()
    case .toggleFullscreen: display.perform(.toggleFullscreen)
    case .focusPictureInPicture:
      // The session's window comes first.
      let open = controllers.first { $0.pictureInPictureStreamID != nil }
      try (open ?? controller).focusWindow()
    }
  }

  // MARK: - Windows for single streams

  /// The controller of the session's window, and those of streams with windows for themselves.
  package var controllers: [PictureInPictureController] { [controller] + dedicatedControllers.values }

  /// Gives a stream a picture-in-picture window for itself. The returned controller starts and stops it. The session's
  /// window does not choose the stream any more. Where it shows the stream, it shows another one with a picture instead,
  /// or closes: when there is none, and where it ends with its stream (``PictureInPictureEndAction/stop``).
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, ``PipSinkError/PictureInPicture/notPossible(reason:)`` for a
  ///   stream that may not be in picture-in-picture, or the errors of ``SessionDisplay/makePictureInPictureHost()``.
  @discardableResult
  public func addPictureInPictureWindow(
    for streamID: StreamID
  ) throws(PipSinkError) -> PictureInPictureController {
    if let own = known[streamID]?.controller { return own }
    try check(streamID)
    try checkWindow(of: streamID)
    var configuration = controller.configuration
    // The window stays while its stream may come back.
    configuration.endAction = .placeholder
    let new = PictureInPictureController(
      contentSource: ContentSource(router: router, streamID: streamID),
      window: try display.makePictureInPictureHost(), configuration: configuration)
    known[streamID]?.controller = new
    connect(new)
    new.observeEvents { [weak self] _ in
      self?.updatePlaces()
      self?.updateControls()
    }
    withdraw(streamID)
    updateAutomaticStart()
    show(streamID)
    return new
  }

  /// Shows the app's window with ``restoreUserInterface``, or else through the display.
  func showApp() async -> Bool {
    if let restoreUserInterface { return await restoreUserInterface() }
    await display.present()
    return display.canPresent
  }
}

/// A display that offers picture-in-picture for each of its streams.
@MainActor
package protocol PictureInPictureOfferingDisplay: SessionDisplay {
  /// Offers picture-in-picture for a stream, as at first, or no longer. The stream need not have been added yet.
  func offerPictureInPicture(_ isOffered: Bool, of streamID: StreamID)
}
