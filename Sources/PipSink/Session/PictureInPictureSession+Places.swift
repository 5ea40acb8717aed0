/// Where the session's streams are shown in the app, and the placeholders for them.
extension PictureInPictureSession {
  /// The layer that shows a stream in the app; nil for an unknown stream, and where the display does not show streams.
  public func layer(of streamID: StreamID) -> SampleBufferDisplayLayer? { layers[streamID] }

  /// The placeholder for a stream in the app; nil while its picture is shown.
  public func placeholder(of streamID: StreamID) -> StreamPlaceholder? { placeholders[streamID] ?? nil }

  /// Shows a stream on another renderer instead of its place in the app, with another gravity. This is possible while
  /// frames flow. The place shows nothing any more, and the renderer begins with the newest frame.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, which also applies where the display does not show streams.
  public func updateView(
    _ renderer: any VideoRenderer, for streamID: StreamID, gravity: VideoGravity
  ) throws(PipSinkError) {
    guard let layer = layers[streamID] else { throw .stream(.unknown(streamID, known: layers.keys.sorted())) }
    layer.videoGravity = gravity
    layer.attach(to: renderer)
  }

  /// Sets how a stream's frames are fitted to its place in the app. The gravity of picture-in-picture is part of the
  /// controller's configuration.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, which also applies where the display does not show streams.
  public func setVideoGravity(_ gravity: VideoGravity, of streamID: StreamID) throws(PipSinkError) {
    guard let layer = layers[streamID] else { throw .stream(.unknown(streamID, known: layers.keys.sorted())) }
    layer.videoGravity = gravity
  }

  /// Shows every frame of a stream on `renderer` from now on, in addition to its place in the app and
  /// picture-in-picture. The stream need not exist yet. Any number of renderers may show a stream, and none waits for
  /// another. They are released when the stream is removed.
  ///
  /// - Returns: whether the stream has delivered a frame. If it has not, the renderer waits for one.
  @discardableResult
  public func attach(
    _ renderer: any VideoRenderer, toStream streamID: StreamID, gravity: VideoGravity = .resizeAspect
  ) -> Bool {
    if let known = attachments[streamID]?.first(where: { $0.renderer === renderer })?.layer {
      known.videoGravity = gravity
      return router.attach(known, toStream: streamID)
    }
    let layer = SampleBufferDisplayLayer(name: streamID.rawValue, renderer: renderer, videoGravity: gravity)
    attachments[streamID, default: []].append((renderer, layer))
    return router.attach(layer, toStream: streamID)
  }

  /// Stops showing a stream on a renderer that ``attach(_:toStream:gravity:)`` has attached. Other renderers go on.
  public func detach(_ renderer: any VideoRenderer, fromStream streamID: StreamID) {
    guard let index = attachments[streamID]?.firstIndex(where: { $0.renderer === renderer }),
      let layer = attachments[streamID]?.remove(at: index).layer
    else { return }
    router.detach(layer, fromStream: streamID)
    layer.detach()
  }

  /// Forgets everything about where a stream is shown.
  func forgetPlaces(of id: StreamID) {
    placeholders[id] = nil
    microphonesOff.remove(id)
    camerasOff.remove(id)
    for attachment in attachments.removeValue(forKey: id) ?? [] { attachment.layer.detach() }
  }

  /// Updates the placeholders and microphone marks of all streams, and the microphone marks of picture-in-picture.
  func updatePlaceholders() {
    for id in playStates.keys {
      let isNew = isOff(.camera, of: id) ? camerasOff.insert(id).inserted : camerasOff.remove(id) != nil
      if isNew { removePictures(of: id) }
    }
    for id in playStates.keys {
      let new = wantedPlaceholder(of: id)
      if let told = placeholders[id], told == new { continue }
      placeholders.updateValue(new, forKey: id)
      display.setPlaceholder(new, for: id)
    }
    for id in playStates.keys {
      let isNew = isOff(.microphone, of: id) ? microphonesOff.insert(id).inserted : microphonesOff.remove(id) != nil
      if isNew { display.setMicrophoneOff(isMicrophoneOff(of: id), for: id) }
    }
    for controller in controllers { controller.isMicrophoneOff = isMicrophoneOff(of: controller.currentStreamID) }
  }

  /// Removes a stream's pictures: whoever switches a camera off must not be seen any more, not even for a moment when
  /// the camera is on again.
  private func removePictures(of id: StreamID) {
    layers[id]?.flushAndRemoveImage()
    for controller in controllers where controller.shows(id) { controller.displayLayer.flushAndRemoveImage() }
  }

  /// The placeholder that a stream should have; nil for its picture.
  private func wantedPlaceholder(of id: StreamID) -> StreamPlaceholder? {
    let elsewhere: StreamPlaceholder? = controllers.contains { $0.shows(id) } ? .inPictureInPicture : nil
    switch playStates[id] ?? .stopped {
    case .ended: return .ended
    case .failed(let error): return .failed(error.description)
    // The last picture of somebody who has switched the camera off must not be seen, whether or not frames come.
    case _ where isOff(.camera, of: id): return elsewhere ?? .cameraOff
    case .stopped where router.latestSampleBuffer(of: id) != nil: return elsewhere
    case .stopped, .requesting: return elsewhere ?? .waiting
    case .playing: return elsewhere
    // Nobody knows whether a pipeline that several streams share will deliver more, so the last picture stays.
    case .stalled where engine.streamIDs.contains(id): return elsewhere
    case .stalled, .reconnecting: return .reconnecting
    }
  }
}

extension PictureInPictureController {
  /// Whether a stream is in the window, or will be with its first picture.
  fileprivate func shows(_ id: StreamID) -> Bool {
    pictureInPictureStreamID == id || showsSecondStream && secondStreamID == id
      || awaitedStreamID == id || isWaitingForPicture && currentStreamID == id
  }
}
