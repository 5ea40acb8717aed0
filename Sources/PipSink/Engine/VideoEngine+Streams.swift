/// Streams that are started and stopped while the engine runs, each with a pipeline of its own.
extension VideoEngine {
  /// Starts another stream, without affecting those that play already, and returns at once. When it fails, it is
  /// restarted as `configuration` says; ``EngineEvent/streamStateChanged(_:_:)`` reports its state.
  ///
  /// - Parameters:
  ///   - streamID: an ID that no other stream of the engine has.
  ///   - description: a pipeline with one appsink, whose name is ignored.
  ///   - configuration: when the stream is restarted, and its timeouts.
  ///   - consumer: returns the consumer of the stream's frames. It is called for each start of the pipeline.
  /// - Throws: the errors of ``init(_:)``; ``PipSinkError/Pipeline/notOneStream(_:)``;
  ///   ``PipSinkError/System/invalidArgument(_:reason:)`` for an ID that is empty or contains a NUL; and
  ///   ``PipSinkError/Stream/duplicate(_:)`` for an ID that is in use. Then nothing has changed.
  public func startPlayingStream(
    _ streamID: StreamID, from description: PipelineDescription,
    configuration: StreamConfiguration = .init(),
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    let player = try StreamPlayer(
      streamID: streamID, from: description, configuration: configuration, in: status
    ) { [customVideoRender] id in
      let consumer = consumer(id)
      return customVideoRender.withLock { $0.tap }?(id, consumer) ?? consumer
    }
    try players.withLock { players throws(PipSinkError) in
      let isTaken = players[streamID] != nil || streamIDs.contains(streamID) || inputIDs.contains(streamID)
      guard !isTaken else { throw .stream(.duplicate(streamID)) }
      players[streamID] = player
      status.add([streamID])
      beginCustomVideoRender()
    }
    player.updatePause()
    player.start()
  }

  /// Starts a stream that plays a URI, such as that of a file or one with HTTP, HLS or RTSP, and returns at once.
  ///
  /// - Parameters:
  ///   - streamID: an ID that no other stream of the engine has.
  ///   - uri: what GStreamer's uridecodebin can play.
  ///   - configuration: when the stream is restarted, its timeouts, and whether its sound is played.
  ///   - consumer: returns the consumer of the stream's frames. It is called for each start of the pipeline.
  /// - Throws: the errors of ``startPlayingStream(_:from:configuration:deliveringTo:)``.
  public func startPlayingStream(
    _ streamID: StreamID, uri: String, configuration: StreamConfiguration = .init(),
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    try startPlayingStream(
      streamID, from: .text(Self.uriPipeline(uri, playsAudio: configuration.playsAudio)),
      configuration: configuration, deliveringTo: consumer)
  }

  /// The pipeline that plays a URI. The URI is quoted, since it may come from an untrusted source.
  private static func uriPipeline(_ uri: String, playsAudio: Bool) -> String {
    let video = "uridecodebin name=source uri=\(LaunchText.quoted(uri)) ! videoconvert ! appsink name=video"
    return playsAudio ? video + " source. ! audioconvert ! audioresample ! level ! volume ! autoaudiosink" : video
  }

  /// Stops a stream with its own pipeline, removes it, and blocks until it delivers no more frames.
  ///
  /// A pipeline that has not stopped after the `stateChangeTimeout` of the stream's configuration is abandoned. The ID
  /// may be used again at once. The method must not be called on a streaming thread.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func stopPlayingStream(_ streamID: StreamID) throws(PipSinkError) {
    let player = try retirePlayer(streamID)
    player.waitForStop(until: player.deadline())
    forget(player)
    status.finishWithoutStopped()
  }

  /// Stops a stream with its own pipeline and removes it, as ``stopPlayingStream(_:)`` does, but suspends instead of
  /// blocking. The method begins on the caller's actor, and the stream is removed before the first suspension.
  ///
  /// - Parameters:
  ///   - streamID: a stream that ``startPlayingStream(_:from:configuration:deliveringTo:)`` started.
  ///   - time: the longest time to wait; nil for the `stateChangeTimeout` of the stream's configuration.
  /// - Returns: true when the pipeline has stopped; false when it was abandoned.
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  @discardableResult
  public nonisolated(nonsending) func stopPlayingStream(
    _ streamID: StreamID, within time: Duration?
  ) async throws(PipSinkError) -> Bool {
    let player = try retirePlayer(streamID)
    defer {
      forget(player)
      status.finishWithoutStopped()
    }
    return await player.waitForStop(by: player.deadline(in: time))
  }

  /// Removes a player and asks it to stop. From now on the engine reports nothing about it, except that its pipeline
  /// was abandoned.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  func retirePlayer(_ streamID: StreamID) throws(PipSinkError) -> StreamPlayer {
    let player = players.withLock { players -> StreamPlayer? in
      guard let player = players.removeValue(forKey: streamID) else { return nil }
      retiredPlayers.withLock { $0[ObjectIdentifier(player)] = player }
      player.disconnect { $0.retire(streamID) }
      return player
    }
    guard let player else { throw .stream(.unknown(streamID, known: playingStreamIDs)) }
    player.requestStop()
    return player
  }

  /// Forgets a player whose pipeline has stopped or was abandoned.
  func forget(_ player: StreamPlayer) {
    let isLast = retiredPlayers.withLock { $0.removeValue(forKey: ObjectIdentifier(player)) != nil }
    // Several callers may have waited for the same player; only one of them counts.
    if isLast { endCustomVideoRender() }
  }

  /// The IDs of the streams with their own pipelines, sorted.
  public var playingStreamIDs: [StreamID] { players.withLock { $0.keys.sorted() } }

  /// What the engine knows of all its streams, sorted by their IDs.
  public var streams: [StreamInfo] {
    status.state.withLock { $0.streams.keys.sorted() }.compactMap(info)
  }

  /// Whether there is at least one stream, and all of them have ended or failed.
  ///
  /// ``EngineEvent/finished`` is sent when this becomes true. An app that starts streams meanwhile should check this
  /// property again when it receives the event.
  public var hasFinished: Bool { status.state.withLock { $0.hasFinished } }

  /// What the engine knows of a stream; nil for an unknown stream.
  public func info(of streamID: StreamID) -> StreamInfo? { status.info(of: streamID) }

  /// The state of a stream; `stopped` for an unknown stream.
  public func playState(of streamID: StreamID) -> StreamPlayState { info(of: streamID)?.state ?? .stopped }

  /// The IDs of the local streams, such as the app's own camera; all others are remote. The set may name streams that
  /// do not exist yet. May be set from any thread.
  public var localStreamIDs: Set<StreamID> {
    get { status.state.withLock { $0.localStreamIDs } }
    set {
      status.state.withLock { state in
        state.localStreamIDs = newValue
        for id in state.streams.keys { state.streams[id]?.isLocal = newValue.contains(id) }
      }
    }
  }

  /// Sets the state of the camera behind a stream as the app knows it, for instance from its signalling. This state has
  /// priority over what the flow of frames shows, until the app sets `unknown`. May be called from any thread.
  public func setCameraState(_ state: DeviceState, of streamID: StreamID) {
    status.say(.camera, of: streamID, state)
  }

  /// Sets the state of the microphone behind a stream as the app knows it. This state has priority over what the
  /// stream's `level` element reports, until the app sets `unknown`. May be called from any thread.
  public func setMicrophoneState(_ state: DeviceState, of streamID: StreamID) {
    status.say(.microphone, of: streamID, state)
  }
}
