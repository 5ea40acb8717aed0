/// Streams that come and go.
extension PictureInPictureSession {
  /// What the engine knows of every stream that there is, sorted by their IDs.
  public var streams: [StreamInfo] { engine.streams }

  /// What the engine knows of a stream; nil of one that is not there.
  public func info(of streamID: StreamID) -> StreamInfo? { engine.info(of: streamID) }

  func check(_ streamID: StreamID) throws(PipSinkError) {
    guard playStates[streamID] != nil else { throw .stream(.unknown(streamID, known: playStates.keys.sorted())) }
  }

  /// Plays a stream with a pipeline of its own.
  ///
  /// - Parameter description: with one appsink, whatever its name.
  /// - Throws: as ``VideoEngine/startPlayingStream(_:from:configuration:deliveringTo:)``, and as
  ///   ``SessionDisplay/add(_:for:)``; then nothing has changed.
  public func startStream(
    _ streamID: StreamID, from description: PipelineDescription, configuration: StreamConfiguration = .init()
  ) throws(PipSinkError) {
    try start(streamID) { engine, consumer throws(PipSinkError) in
      try engine.startPlayingStream(
        streamID, from: description, configuration: configuration, deliveringTo: consumer)
    }
  }

  /// Plays what is at a URI: a file, HTTP, HLS, RTSP.
  ///
  /// - Throws: as above.
  public func startStream(
    _ streamID: StreamID, uri: String, configuration: StreamConfiguration = .init()
  ) throws(PipSinkError) {
    try start(streamID) { engine, consumer throws(PipSinkError) in
      try engine.startPlayingStream(streamID, uri: uri, configuration: configuration, deliveringTo: consumer)
    }
  }

  /// Adds a stream whose frames the app pushes, from any thread. Its first frame makes it a stream that plays;
  /// ``endInput(_:)`` says that no more come.
  ///
  /// - Throws: ``PipSinkError/Stream/duplicate(_:)``, and as ``SessionDisplay/add(_:for:)``; then nothing has changed.
  public func addInput(_ streamID: StreamID) throws(PipSinkError) -> StreamInput {
    StreamInput(streamID: streamID, deliveringTo: try addStream(streamID))
  }

  /// Adds a stream of an engine that is the app's own.
  ///
  /// - Returns: what takes its frames, on any one thread.
  /// - Throws: as ``addInput(_:)``.
  public func addStream(_ streamID: StreamID) throws(PipSinkError) -> any SampleBufferConsumer {
    try addInput(streamID, layer: nil)
    return Self.input(of: streamID, router, chains[streamID])
  }

  /// What takes the frames of another run of a stream.
  nonisolated static func input(
    of id: StreamID, _ router: FrameRouter, _ chain: ProcessorChain?
  ) -> any SampleBufferConsumer {
    let input = router.input(for: id)
    return chain ?? input
  }

  /// What a stream's frames go through before they are shown, first to last.
  public func processors(of streamID: StreamID) -> [any FrameProcessor] { chains[streamID]?.processors ?? [] }

  /// Exchanges what a stream's frames go through before they are shown, while they flow: the next frame goes through the
  /// new ones. A processor that stays keeps its state.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``, also for a stream whose way to the session is somebody else's, as
  ///   that of the element's streams is.
  public func setProcessors(_ processors: [any FrameProcessor], of streamID: StreamID) throws(PipSinkError) {
    guard let chain = chains[streamID] else { throw .stream(.unknown(streamID, known: chains.keys.sorted())) }
    chain.processors = processors
  }

  /// Adds a stream whose way through the router is its owner's, and stays that when the session removes the stream.
  ///
  /// - Parameters:
  ///   - layer: shows it in the app.
  ///   - prepare: called when the session knows the stream and before its place in the app shows anything.
  package func addStream(
    _ id: StreamID, layer: SampleBufferDisplayLayer, prepare: () -> Void
  ) throws(PipSinkError) {
    try addInput(id, layer: layer, prepare: prepare)
    routedElsewhere.insert(id)
  }

  private func addInput(
    _ id: StreamID, layer: SampleBufferDisplayLayer?, prepare: () -> Void = {}
  ) throws(PipSinkError) {
    try engine.addInput(id)
    do throws(PipSinkError) {
      try addLayer(for: id, layer)
    } catch {
      engine.removeInput(id)
      throw error
    }
    noteAdded(id, .requesting, prepare)
    if router.latestSampleBuffer(of: id) != nil { noteFirstFrame(of: id) }
  }

  /// No more frames of a pushed stream come, for now; the next one has it go on.
  public func endInput(_ streamID: StreamID) { setInput(streamID, to: .ended) }

  /// A pushed stream that had ended goes on.
  package func resumeInput(_ streamID: StreamID) { setInput(streamID, to: .playing) }

  /// Whoever says what a stream does finds everything done that follows from it.
  private func setInput(_ id: StreamID, to state: StreamPlayState) {
    engine.setInput(id, to: state)
    follow(id)
  }

  /// Removes a stream that was started or added; its pipeline comes to its end meanwhile, or is given up. Waits for
  /// nothing.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)`` for another one, also for those of the session's own pipeline.
  public func removeStream(_ streamID: StreamID) throws(PipSinkError) {
    let removable = engine.playingStreamIDs + engine.inputIDs
    guard removable.contains(streamID) else { throw .stream(.unknown(streamID, known: removable.sorted())) }
    let info = engine.info(of: streamID)
    removals.removeValue(forKey: streamID)?.withLock { $0 = true }
    if engine.inputIDs.contains(streamID) {
      engine.removeInput(streamID)
    } else {
      Task.immediate { [engine] in _ = try? await engine.stopPlayingStream(streamID, within: nil) }
    }
    // Picture-in-picture goes on with another stream before this one is gone.
    dedicatedControllers.removeValue(forKey: streamID)?.uninitialize()
    controller.streamSelector.remove(streamID)
    let isRouted = routedElsewhere.remove(streamID) == nil
    if isRouted, router.table.entries[.primary]?.streamID == streamID { router.leavePictureInPicture() }
    let summary = summary(of: streamID, info)
    playStates[streamID] = nil
    layers[streamID] = nil
    chains[streamID] = nil
    setDuration(nil, of: streamID)
    forgetPlaces(of: streamID)
    if isRouted { router.removeStream(streamID) }
    display.removeStream(streamID)
    updatePlaceholders()
    emit(.streamRemoved(streamID, summary))
  }

  /// What there is to know of a stream now; nil of one that is not there.
  public func summary(of streamID: StreamID) -> StreamSummary? { summary(of: streamID, engine.info(of: streamID)) }

  /// The same of every stream, in the order that they were added.
  public var summaries: [StreamSummary] { router.streamIDs.compactMap { summary(of: $0) } }

  package func summary(of id: StreamID, _ info: StreamInfo?) -> StreamSummary? {
    let chain = chains[id]
    return router.renderStatistics(of: id, info: info, processing: chain?.statistics).map { statistics in
      StreamSummary(
        statistics: statistics, info: info, changes: router.changes.filter { $0.streamID == id },
        processingError: chain?.error, isProcessed: chain?.isInUse == true)
    }
  }

  // MARK: - How streams come

  private final class Discard: SampleBufferConsumer {
    func consume(_ sampleBuffer: SampleBuffer) {}
  }

  private func start(
    _ id: StreamID,
    _ body: (VideoEngine, @escaping @Sendable (StreamID) -> any SampleBufferConsumer) throws(PipSinkError) -> Void
  ) throws(PipSinkError) {
    let isNew = playStates[id] == nil
    if isNew { try addLayer(for: id) }
    let chain = chains[id]
    // A restart that comes at the moment of a removal must not bring the stream back.
    let isRemoved = Locked(false)
    do throws(PipSinkError) {
      try body(engine) { [router] id in
        isRemoved.withLock { $0 ? Discard() : Self.input(of: id, router, chain) }
      }
    } catch {
      if isNew { forgetLayer(of: id) }
      throw error
    }
    removals[id] = isRemoved
    noteAdded(id, .requesting)
  }

  private func noteAdded(_ id: StreamID, _ state: StreamPlayState, _ prepare: () -> Void = {}) {
    playStates[id] = state
    choose(among: id)
    takeConfiguredSecondStream(id)
    prepare()
    updatePlaceholders()
    emit(.streamAdded(id))
  }

  /// Makes a stream's layer and its way through the router.
  func addLayer(for id: StreamID, _ given: SampleBufferDisplayLayer? = nil) throws(PipSinkError) {
    let made = given ?? SampleBufferDisplayLayer(name: id.rawValue, videoGravity: configuration.videoGravity)
    let layer = display.showsStreams ? made : nil
    if let layer { try display.add(layer, for: id) }
    layers[id] = layer
    if layer != nil || !router.streamIDs.contains(id) { router.setLayer(layer, for: id) }
    // Whoever made the layer leads the frames to it.
    if given == nil, chains[id] == nil {
      let chain = ProcessorChain(next: router.input(for: id), isTransparent: true)
      chain.processors = configuration.processors[id] ?? []
      chains[id] = chain
    }
  }

  private func forgetLayer(of id: StreamID) {
    layers[id] = nil
    chains[id] = nil
    router.removeStream(id)
    display.removeStream(id)
  }

  // MARK: - What streams do

  func noteFirstFrame(of id: StreamID) {
    if engine.inputIDs.contains(id) { setInput(id, to: .playing) }
  }

  func handle(_ event: EngineEvent) {
    switch event {
    case .streamStateChanged(let id, _):
      // What waits for the stream's first picture has it, also where the stream is over by now.
      if router.latestSampleBuffer(of: id) != nil {
        for controller in controllers { controller.streamDidBecomeReady(id) }
      }
      follow(id)
    case .cameraStateChanged(let id, _): followCamera(of: id)
    case .microphoneStateChanged(let id, let state):
      if state == .off { controller.streamSelector.setAudioLevel(id, 0) }
      updatePlaceholders()
    case .audioLevel(let id, let level): controller.streamSelector.setAudioLevel(id, level.linear)
    case .audioInterruptionBegan, .audioInterruptionEnded: updatePlayback()
    case .durationChanged(let id): updateDuration(of: id)
    default: break
    }
    emit(.engine(event))
  }

  /// What a stream does is what its place in the app, the selector and, where it is there, picture-in-picture show. An
  /// event may be older than what is known.
  private func follow(_ id: StreamID) {
    guard playStates[id] != nil, let state = engine.info(of: id)?.state, state != playStates[id] else { return }
    playStates[id] = state
    updateContent(of: id)
    switch state {
    case .requesting: choose(among: id)
    case .playing:
      choose(among: id)
      updateDuration(of: id)
    case .ended, .failed: controller.streamSelector.remove(id)
    case .stopped, .stalled, .reconnecting: break
    }
    followCamera(of: id)
  }

  /// The session's own window may show the stream, unless that has one for itself.
  private func choose(among id: StreamID) {
    guard dedicatedControllers[id] == nil else { return }
    controller.streamSelector.add(id, isLocal: engine.localStreamIDs.contains(id))
  }

  /// Has picture-in-picture say what becomes of its stream's frames. Cameras and ends are the selector's business where
  /// the session's own window is concerned, which goes on with another stream.
  func updateContent(of id: StreamID) {
    let isWaitedFor =
      switch playStates[id] {
      case _ where isOff(.camera, of: id): false
      case .reconnecting: true
      case .stalled: !engine.streamIDs.contains(id)
      default: false
      }
    for controller in controllers where controller.currentStreamID == id {
      if isWaitedFor, controller.content.showsFrames {
        controller.content = .reconnecting
      } else if !isWaitedFor, controller.content == .reconnecting {
        controller.content = .video
      }
    }
    guard let own = dedicatedControllers[id] else { return }
    if playStates[id]?.isOver == true {
      own.content = .ended(name: id.rawValue)
    } else if isOff(.camera, of: id) {
      own.content = .cameraOff(name: id.rawValue)
    } else if own.content == .ended(name: id.rawValue) || own.content == .cameraOff(name: id.rawValue) {
      own.content = isWaitedFor ? .reconnecting : .video
    }
  }
}
