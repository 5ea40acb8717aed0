/// Streams that come and go while the engine runs, each with a pipeline of its own.
extension VideoEngine {
  /// Plays a stream beside those that there are, which notice nothing of it. It is started again when it fails, as the
  /// configuration says; ``EngineEvent/streamStateChanged(_:_:)`` tells what it does.
  ///
  /// - Parameters:
  ///   - description: with one appsink, whatever its name.
  ///   - consumer: asked once for every time that its pipeline is started.
  /// - Throws: as ``init(_:)``; ``PipSinkError/Pipeline/notOneStream(_:)``; ``PipSinkError/System/invalidArgument(_:reason:)`` for an ID
  ///   that is empty or has a NUL in it, and ``PipSinkError/Stream/duplicate(_:)`` for a stream that there is. Nothing has
  ///   changed then.
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

  /// Plays what is at a URI: a file, HTTP, HLS, RTSP.
  ///
  /// - Throws: as above.
  public func startPlayingStream(
    _ streamID: StreamID, uri: String, configuration: StreamConfiguration = .init(),
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    try startPlayingStream(
      streamID, from: .text(Self.uriPipeline(uri, playsAudio: configuration.playsAudio)),
      configuration: configuration, deliveringTo: consumer)
  }

  /// The URI is one value whatever is in it, since it may come from somebody else.
  private static func uriPipeline(_ uri: String, playsAudio: Bool) -> String {
    let video = "uridecodebin name=source uri=\(LaunchText.quoted(uri)) ! videoconvert ! appsink name=video"
    return playsAudio ? video + " source. ! audioconvert ! audioresample ! level ! volume ! autoaudiosink" : video
  }

  /// Stops a stream that was started so, forgets it, and waits until it delivers nothing any more, but no longer than the
  /// `stateChangeTimeout` of its configuration: a pipeline that does not stop by then is given up. The ID may be used
  /// anew at once.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func stopPlayingStream(_ streamID: StreamID) throws(PipSinkError) {
    let player = try retirePlayer(streamID)
    player.waitForStop(until: player.deadline())
    forget(player)
    status.finishWithoutStopped()
  }

  /// The same for tasks: suspends meanwhile. It begins on the caller's actor, and the stream is forgotten before the first
  /// suspension.
  ///
  /// - Parameter time: what its pipeline gets; nil for the `stateChangeTimeout` of its configuration.
  /// - Returns: whether it has stopped. If not, its pipeline was given up.
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

  /// Takes a player out and has it stop. What it does from here on is not told any more, but that its pipeline had to be
  /// given up.
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

  /// A player's pipeline has come to its end, or was given up.
  func forget(_ player: StreamPlayer) {
    let isLast = retiredPlayers.withLock { $0.removeValue(forKey: ObjectIdentifier(player)) != nil }
    // Whoever else has waited for it has been here, too.
    if isLast { endCustomVideoRender() }
  }

  /// The streams that were started so, sorted.
  public var playingStreamIDs: [StreamID] { players.withLock { $0.keys.sorted() } }

  /// Every stream that there is, sorted by its ID.
  public var streams: [StreamInfo] {
    status.state.withLock { $0.streams.keys.sorted() }.compactMap(info)
  }

  /// Whether every stream that there is has come to its end or failed, and one at least. ``EngineEvent/finished`` tells when that
  /// becomes so; whoever starts streams meanwhile asks again when it is told.
  public var hasFinished: Bool { status.state.withLock { $0.hasFinished } }

  /// What is known of a stream; nil of one that there is not.
  public func info(of streamID: StreamID) -> StreamInfo? { status.info(of: streamID) }

  /// What a stream does; `stopped` of one that there is not.
  public func playState(of streamID: StreamID) -> StreamPlayState { info(of: streamID)?.state ?? .stopped }

  /// The streams that are the app's own picture rather than somebody else's. May name streams that are still to come.
  public var localStreamIDs: Set<StreamID> {
    get { status.state.withLock { $0.localStreamIDs } }
    set {
      status.state.withLock { state in
        state.localStreamIDs = newValue
        for id in state.streams.keys { state.streams[id]?.isLocal = newValue.contains(id) }
      }
    }
  }

  /// What the app knows of the camera behind a stream, from its signalling for instance. It holds, whatever the frames
  /// tell, until the app says `unknown`.
  public func setCameraState(_ state: DeviceState, of streamID: StreamID) {
    status.say(.camera, of: streamID, state)
  }

  /// The same for the microphone.
  public func setMicrophoneState(_ state: DeviceState, of streamID: StreamID) {
    status.say(.microphone, of: streamID, state)
  }
}
