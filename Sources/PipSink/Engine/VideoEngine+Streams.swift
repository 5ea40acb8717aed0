/// Streams that come and go while the engine runs, each with a pipeline of its own.
extension VideoEngine {
  /// Plays a stream beside those that there are, which notice nothing of it. It is started again when it fails, as the
  /// configuration says; ``EngineEvent/streamStateChanged(_:_:)`` tells what it does.
  ///
  /// - Parameters:
  ///   - description: with one appsink, whatever its name.
  ///   - consumer: asked once for every time that its pipeline is started.
  /// - Throws: as ``StreamPlayer/init(streamID:from:configuration:deliveringTo:)``, and
  ///   ``PipSinkError/duplicateStreamID(_:)`` for a stream that there is.
  public func startPlayingStream(
    _ streamID: StreamID, from description: PipelineDescription,
    configuration: StreamPlayer.Configuration = .init(),
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    let player = try StreamPlayer(
      streamID: streamID, from: description, configuration: configuration, sharing: audioSession,
      deliveringTo: consumer)
    let broadcast = broadcast
    player.observe { broadcast.send(.streamStateChanged(streamID, $0)) }
    try players.withLock { players throws(PipSinkError) in
      guard players[streamID] == nil, !streamIDs.contains(streamID) else { throw .duplicateStreamID(streamID) }
      players[streamID] = player
    }
    player.start()
  }

  /// Plays what is at a URI: a file, HTTP, HLS, RTSP.
  ///
  /// - Throws: as above.
  public func startPlayingStream(
    _ streamID: StreamID, uri: String, configuration: StreamPlayer.Configuration = .init(),
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    try startPlayingStream(
      streamID, from: .arguments(Self.uriPipeline(uri, playsAudio: configuration.playsAudio)),
      configuration: configuration, deliveringTo: consumer)
  }

  private static func uriPipeline(_ uri: String, playsAudio: Bool) -> [String] {
    let video = ["uridecodebin", "name=source", "uri=\(uri)", "!", "videoconvert", "!", "appsink", "name=video"]
    let audio = "source. ! audioconvert ! audioresample ! level ! volume ! autoaudiosink"
    return playsAudio ? video + audio.split(separator: " ").map(String.init) : video
  }

  /// Stops a stream that was started so, and waits until it delivers nothing any more.
  ///
  /// - Throws: ``PipSinkError/unknownStream(_:known:)``.
  public func stopPlayingStream(_ streamID: StreamID) throws(PipSinkError) {
    let player = players.withLock { $0.removeValue(forKey: streamID) }
    guard let player else { throw .unknownStream(streamID, known: playingStreamIDs) }
    player.stop()
  }

  /// The streams that were started so, sorted.
  public var playingStreamIDs: [StreamID] { players.withLock { $0.keys.sorted() } }

  /// What such a stream does; `stopped` of one that there is not.
  public func playState(of streamID: StreamID) -> StreamPlayState {
    players.withLock { $0[streamID] }?.state ?? .stopped
  }
}
