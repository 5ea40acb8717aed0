/// Adding and removing streams, and following what they do.
extension PictureInPictureSession {
  /// What the engine knows of every stream, sorted by ID.
  public var streams: [StreamInfo] { engine.streams }

  /// What the engine knows of a stream; nil for an unknown stream.
  public func info(of streamID: StreamID) -> StreamInfo? { engine.info(of: streamID) }

  /// Checks that the session knows a stream.
  func check(_ streamID: StreamID) throws(PipSinkError) {
    guard known[streamID] != nil else { throw .stream(.unknown(streamID, known: known.keys.sorted())) }
  }

  /// Plays a stream with a pipeline of its own, which begins when the main actor has finished what it is doing. So the
  /// streams of a call that are started in one go are compared with each other before one of them is shown.
  ///
  /// - Parameters:
  ///   - streamID: the stream's ID.
  ///   - description: the pipeline, which needs exactly one appsink. The appsink's name does not matter.
  ///   - configuration: how the stream is played.
  /// - Throws: the errors of ``VideoEngine/startPlayingStream(_:from:configuration:deliveringTo:)`` and
  ///   ``SessionDisplay/add(_:for:)``. Nothing has changed then.
  public func startStream(
    _ streamID: StreamID, from description: PipelineDescription, configuration: PipelineConfiguration = .init()
  ) throws(PipSinkError) {
    try start(streamID) { engine, consumer throws(PipSinkError) in
      try engine.startPlayingStream(
        streamID, from: description, configuration: configuration, deliveringTo: consumer)
    }
  }

  /// Plays a URI as a stream: a file, HTTP, HLS or RTSP.
  ///
  /// - Parameters:
  ///   - streamID: the stream's ID.
  ///   - uri: what is played.
  ///   - configuration: how the stream is played.
  /// - Throws: the errors of ``VideoEngine/startPlayingStream(_:uri:configuration:deliveringTo:)`` and
  ///   ``SessionDisplay/add(_:for:)``. Nothing has changed then.
  public func startStream(
    _ streamID: StreamID, uri: String, configuration: PipelineConfiguration = .init()
  ) throws(PipSinkError) {
    try start(streamID) { engine, consumer throws(PipSinkError) in
      try engine.startPlayingStream(streamID, uri: uri, configuration: configuration, deliveringTo: consumer)
    }
  }

  /// The consumer for the frames of a new run of a stream.
  nonisolated static func input(
    of id: StreamID, _ router: FrameRouter, _ chain: ProcessorChain?
  ) -> any SampleBufferConsumer {
    let input = router.input(for: id)
    return chain ?? input
  }

  /// The processors that a stream's frames go through before they are shown, in their order.
  public func processors(of streamID: StreamID) -> [any FrameProcessor] {
    known[streamID]?.chain?.processors ?? []
  }

  /// Replaces the processors of a stream while its frames flow. The next frame goes through the new ones. A processor
  /// that is in both lists keeps its state.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, which also applies to streams whose frames do not come
  ///   through the session, such as those of the element.
  public func setProcessors(_ processors: [any FrameProcessor], of streamID: StreamID) throws(PipSinkError) {
    guard let chain = known[streamID]?.chain else {
      throw .stream(.unknown(streamID, known: known.filter { $0.value.chain != nil }.keys.sorted()))
    }
    chain.processors = processors
  }

  /// Removes a stream that was started or added. Its pipeline is stopped, or abandoned, in the background; the call
  /// does not wait for it.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)`` for other streams, including those of the session's own
  ///   pipeline.
  public func removeStream(_ streamID: StreamID) throws(PipSinkError) {
    let removable = engine.playingStreamIDs + engine.inputIDs
    guard removable.contains(streamID) else { throw .stream(.unknown(streamID, known: removable.sorted())) }
    let (info, stream) = (engine.info(of: streamID), known[streamID])
    if engine.inputIDs.contains(streamID) {
      engine.removeInput(streamID)
    } else {
      Task.immediate { [engine] in _ = try? await engine.stopPlayingStream(streamID) }
    }
    // Picture-in-picture changes to another stream before this one has gone.
    stream?.controller?.uninitialize()
    controller.streamSelector.remove(streamID)
    let isRouted = stream?.chain != nil
    if isRouted, router.table.entries[.primary]?.streamID == streamID { router.leavePictureInPicture() }
    let summary = summary(of: streamID, info)
    stream?.upstream?.end()
    known[streamID] = nil
    if stream?.duration != nil { noteDurationChange(of: streamID) } else { updateHandledActions() }
    for layer in router.attachedLayers(ofStream: streamID) { layer.detach() }
    if isRouted { router.removeStream(streamID) }
    removeFromApp(streamID)
    updatePlaces()
    if startsAutomatically { updateAutomaticStart() }
    emit(.streamRemoved(streamID, summary))
    _ = stream?.endHandler?()
    for sender in senders[streamID] ?? [] { sender.streamWasRemoved() }
  }

  /// What is known of a stream at this moment; nil for an unknown stream.
  public func summary(of streamID: StreamID) -> StreamSummary? { summary(of: streamID, engine.info(of: streamID)) }

  /// What is known of every stream at this moment, in the order in which the streams were added.
  package var summaries: [StreamSummary] { router.streamIDs.compactMap { summary(of: $0) } }

  /// What is known of a stream, with information from the engine that was taken earlier.
  package func summary(of id: StreamID, _ info: StreamInfo?) -> StreamSummary? {
    let chain = known[id]?.chain
    return router.renderStatistics(of: id, info: info, processing: chain?.statistics).map { statistics in
      StreamSummary(
        statistics: statistics, info: info, changes: router.changes.filter { $0.streamID == id },
        processingError: chain?.error, isProcessed: chain?.isInUse == true)
    }
  }

  // MARK: - Starting streams

  /// Makes a stream's layer and starts its pipeline with `body`.
  private func start(
    _ id: StreamID,
    _ body: (VideoEngine, @escaping @Sendable (StreamID) -> any SampleBufferConsumer) throws(PipSinkError) -> Void
  ) throws(PipSinkError) {
    let stream = if let stream = known[id] { stream } else { try makeStream(id, .requesting) }
    let chain = stream.chain
    do throws(PipSinkError) {
      try body(engine) { [router] id in Self.input(of: id, router, chain) }
    } catch {
      if known[id] == nil { forgetPlace(of: id) }
      throw error
    }
    add(stream, id)
  }

  /// Makes a stream known and shows it everywhere.
  func add(_ stream: SessionStream, _ id: StreamID, _ prepare: () -> Void = {}) {
    known[id] = stream
    show(id) {
      if configuration.startsInPictureInPicture { controller.prepare(id) }
      takeConfiguredSecondStream(id)
      prepare()
    }
    if startsAutomatically { updateAutomaticStart() }
    emit(.streamAdded(id))
  }

  /// Makes a stream's place in the app and routes its frames there. The stream is not known yet.
  ///
  /// - Parameter given: the layer of a stream that its owner routes.
  func makeStream(
    _ id: StreamID, _ state: StreamPlayState, _ given: SampleBufferDisplayLayer? = nil
  ) throws(PipSinkError) -> SessionStream {
    let made = given ?? SampleBufferDisplayLayer(name: id.rawValue)
    let layer = display.showsStreams ? made : nil
    if let layer { try display.add(layer, for: id) }
    if layer != nil || !router.streamIDs.contains(id) { router.setLayer(layer, for: id) }
    var chain: ProcessorChain?
    if given == nil {
      chain = ProcessorChain(next: router.input(for: id), isTransparent: true)
      chain?.processors = configuration.processors[id] ?? []
    }
    var stream = SessionStream(
      state: state, layer: layer, chain: chain, participant: Participant(name: id.rawValue),
      isScreenShare: configuration.screenShareStreamIDs.contains(id),
      gravity: configuration.videoGravity, placeholder: .waiting)
    if configuration.excludedStreamIDs.contains(id) {
      stream.isExcluded = true
      offerPictureInPicture(false, of: id)
    }
    stream.fit()
    router.setMirrored(isMirrored(stream, id), for: id)
    return stream
  }

  private func removeFromApp(_ id: StreamID) {
    display.removeStream(id)
    // The next stream with this ID may be in picture-in-picture.
    offerPictureInPicture(true, of: id)
  }

  private func forgetPlace(of id: StreamID) {
    router.removeStream(id)
    removeFromApp(id)
  }

  // MARK: - Following streams

  /// Reacts to an event of the engine. What comes late, of a stream that has been removed, is not passed on.
  func handle(_ event: EngineEvent) {
    if let id = event.streamID, known[id] == nil { return }
    switch event {
    case .streamStateChanged(let id, _):
      // Everything that waits for the stream's first picture gets it, even if the stream has ended by now.
      if router.latestSampleBuffer(of: id) != nil {
        for controller in controllers { controller.streamDidBecomeReady(id) }
      }
      follow(id)
    case .cameraStateChanged(let id, _): show(id)
    case .decodingSuspended(let id, _): updateGap(of: id)
    case .microphoneStateChanged(let id, let state):
      if state == .off { controller.streamSelector.setAudioLevel(id, 0) }
      show(id)
    case .audioLevel(let id, let level): note(level: level.linear, of: id)
    case .caption(let id, let text, let duration): show(caption: text, for: duration, over: id)
    case .audioInterruptionBegan, .audioInterruptionEnded: updatePlayback()
    case .durationChanged(let id): updateDuration(of: id)
    default: break
    }
    emit(.engine(event))
  }

  /// Follows a stream's state. An event may be older than what is known already.
  func follow(_ id: StreamID) {
    guard let stream = known[id], let state = engine.info(of: id)?.state, state != stream.state else { return }
    known[id]?.state = state
    if state == .playing { updateDuration(of: id) }
    show(id)
  }
}
