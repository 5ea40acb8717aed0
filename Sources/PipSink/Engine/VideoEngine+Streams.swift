import CGStreamer
import Glibc

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
    configuration: PipelineConfiguration = .init(),
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    try Self.check(streamID)
    let player = PipelinePlayer(
      try PipelineFactory(description, as: streamID), configuration, in: status, deliveringTo: consumer)
    try players.withLock { players throws(PipSinkError) in
      let isTaken = players.contains { !$0.isRemoved && $0.streamIDs.contains(streamID) }
      guard !isTaken, !streamIDs.contains(streamID), !inputIDs.contains(streamID) else {
        throw .stream(.duplicate(streamID))
      }
      players.append(player)
      status.add([streamID])
    }
    player.start()
  }

  /// Starts a stream that plays a URI, such as that of a file or one with HTTP, HLS or RTSP, and returns at once.
  ///
  /// Its subtitles become captions: those of a file "film.srt" or "film.vtt" beside a "film.mkv", or else the first ones
  /// in the film that are text.
  ///
  /// - Parameters:
  ///   - streamID: an ID that no other stream of the engine has.
  ///   - uri: what GStreamer's uridecodebin can play.
  ///   - configuration: when the stream is restarted, its timeouts, and whether its sound is played.
  ///   - consumer: returns the consumer of the stream's frames. It is called for each start of the pipeline.
  /// - Throws: the errors of ``startPlayingStream(_:from:configuration:deliveringTo:)``.
  public func startPlayingStream(
    _ streamID: StreamID, uri: String, configuration: PipelineConfiguration = .init(),
    deliveringTo consumer: @escaping @Sendable (StreamID) -> any SampleBufferConsumer
  ) throws(PipSinkError) {
    try startPlayingStream(
      streamID, from: .text(Self.uriPipeline(uri, playsAudio: configuration.playsAudio)),
      configuration: configuration, deliveringTo: consumer)
  }

  /// The pipeline that plays a URI. The URI is quoted, since it may come from an untrusted source.
  private static func uriPipeline(_ uri: String, playsAudio: Bool) -> String {
    let video = "uridecodebin name=source uri=\(LaunchText.quoted(uri)) ! videoconvert ! appsink name=video"
    let captions = subtitleFile(beside: uri).map { "filesrc location=\(LaunchText.quoted($0)) ! subparse" } ?? "source."
    let text = " \(captions) ! appsink name=video-text caps=text/x-raw"
    let audio = " source. ! audioconvert ! audioresample ! level ! volume ! autoaudiosink"
    return video + text + (playsAudio ? audio : "")
  }

  /// The path of the file with subtitles that has the name of a film's file but for the extension; nil where there is
  /// none.
  private static func subtitleFile(beside uri: String) -> String? {
    guard let name = g_filename_from_uri(uri, nil, nil) else { return nil }
    defer { g_free(name) }
    let path = String(cString: name)
    guard let dot = path.utf8.lastIndex(of: UInt8(ascii: ".")), !path[dot...].utf8.contains(UInt8(ascii: "/")) else {
      return nil
    }
    return ["srt", "vtt"].map { path[..<dot] + "." + $0 }.first { $0 != path && access($0, R_OK) == 0 }
  }

  /// Stops a stream with its own pipeline and removes it, and suspends until it delivers no more frames. The method
  /// begins on the caller's actor. The stream is removed before the first suspension: from then on no consumer of it is
  /// asked for, and its ID may be used again.
  ///
  /// - Parameters:
  ///   - streamID: a stream that ``startPlayingStream(_:from:configuration:deliveringTo:)`` started.
  ///   - time: the longest time to wait; nil for the `stateChangeTimeout` of the stream's configuration. A pipeline
  ///     that has not stopped by then is abandoned.
  /// - Returns: true when the pipeline has stopped; false when it was abandoned.
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  @discardableResult
  public nonisolated(nonsending) func stopPlayingStream(
    _ streamID: StreamID, within time: Duration? = nil
  ) async throws(PipSinkError) -> Bool {
    guard let player = player(of: streamID), !player.isFirst else {
      throw .stream(.unknown(streamID, known: playingStreamIDs))
    }
    let deadline = player.deadline(in: time)
    player.requestStop(by: deadline, isRemoved: true)
    defer { status.finishWithoutStopped() }
    return await stop(player, by: deadline)
  }

  /// The player of a stream that has not been removed.
  func player(of streamID: StreamID) -> PipelinePlayer? {
    players.withLock { $0.first { !$0.isRemoved && $0.streamIDs.contains(streamID) } }
  }

  /// The IDs of the streams with their own pipelines, sorted.
  package var playingStreamIDs: [StreamID] {
    players.withLock { $0.filter { !$0.isFirst && !$0.isRemoved }.flatMap(\.streamIDs) }.sorted()
  }

  /// What the engine knows of all its streams, sorted by their IDs.
  public var streams: [StreamInfo] {
    status.state.withLock { $0.streams.keys.sorted() }.compactMap(info)
  }

  /// Whether there is at least one stream, and all of them have ended or failed.
  ///
  /// ``EngineEvent/finished`` is sent when this becomes true. An app that starts streams meanwhile should check this
  /// property again when it receives the event.
  package var hasFinished: Bool { status.state.withLock { $0.hasFinished } }

  /// What the engine knows of a stream; nil for an unknown stream.
  public func info(of streamID: StreamID) -> StreamInfo? { status.info(of: streamID) }

  /// The state of a stream; `stopped` for an unknown stream.
  package func playState(of streamID: StreamID) -> StreamPlayState { info(of: streamID)?.state ?? .stopped }

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
