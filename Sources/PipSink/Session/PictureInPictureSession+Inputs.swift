import CGStreamer

/// Streams whose frames come from outside of the session's engine.
extension PictureInPictureSession {
  /// Adds a stream whose frames the app pushes, from any thread. It counts as playing from its first frame on, and as
  /// stalled when no frame comes for a while; the next frame resumes it. ``pauseInput(_:)``, ``reconnectInput(_:)`` and
  /// ``endInput(_:)`` say why none comes.
  ///
  /// - Parameters:
  ///   - streamID: the stream's ID.
  ///   - stallTimeout: after how long without a frame the stream counts as stalled; nil for never, for an engine that
  ///     sends frames only when the picture changes. A shared screen (``setScreenShare(_:of:)``) never stalls, and
  ///     neither does a stream whose camera is off (``setCameraState(_:of:)``).
  /// - Throws: ``PipSinkError/Stream/duplicate(_:)``, or the errors of ``SessionDisplay/add(_:for:)``. Nothing has
  ///   changed then.
  public func addInput(
    _ streamID: StreamID, stallTimeout: Duration? = .seconds(3)
  ) throws(PipSinkError) -> StreamInput {
    StreamInput(streamID: streamID, deliveringTo: try addStream(streamID, stallTimeout: stallTimeout))
  }

  /// Adds a stream whose frames the app takes from a sink in a GStreamer pipeline of its own, such as an appsink, and
  /// pushes. It plays and stalls as one of ``addInput(_:stallTimeout:)`` does. While nobody sees it, its video decoder is
  /// suspended and it does not stall; when somebody sees it again, a keyframe is requested and decoding resumes with the
  /// next one. The elements before the sink learn of the stream's demand (``SessionEvent/demandChanged(_:_:)``).
  ///
  /// Where an element between the decoder and the sink passes the pictures to others, too, such as a tee, the decoder is
  /// not suspended, and the log says why. ``VideoEngine/isBackgroundDecodingEnabled`` of the session's engine applies,
  /// as it is when the demand changes.
  ///
  /// - Parameters:
  ///   - streamID: the stream's ID.
  ///   - sinkPad: the sink's pad. The session keeps a reference to it until the stream is removed.
  ///   - stallTimeout: as for ``addInput(_:stallTimeout:)``.
  /// - Throws: ``PipSinkError/Stream/duplicate(_:)``, or the errors of ``SessionDisplay/add(_:for:)``. Nothing has
  ///   changed then.
  public func addInput(
    _ streamID: StreamID, unsafeSinkPad sinkPad: UnsafeMutablePointer<GstPad>, stallTimeout: Duration? = .seconds(3)
  ) throws(PipSinkError) -> StreamInput {
    let upstream = makeUpstream(before: sinkPad, of: streamID)
    let consumer = try addStream(streamID, stallTimeout: stallTimeout)
    setUpstream(upstream, of: streamID)
    return StreamInput(streamID: streamID, deliveringTo: LeftOverFilter(upstream: upstream, next: consumer))
  }

  /// Adds a stream of an engine that belongs to the app. It plays and stalls as one of
  /// ``addInput(_:stallTimeout:)`` does.
  ///
  /// - Parameters:
  ///   - streamID: the stream's ID.
  ///   - stallTimeout: after how long without a frame the stream counts as stalled; nil for never.
  /// - Returns: the consumer for the stream's frames, which any one thread may call.
  /// - Throws: ``PipSinkError/Stream/duplicate(_:)``, or the errors of ``SessionDisplay/add(_:for:)``. Nothing has
  ///   changed then.
  public func addStream(
    _ streamID: StreamID, stallTimeout: Duration? = .seconds(3)
  ) throws(PipSinkError) -> any SampleBufferConsumer {
    try addInput(streamID, layer: nil)
    known[streamID]?.stallTimeout = stallTimeout.map { max(.milliseconds(10), $0) }
    // Whoever keeps the consumer does not keep the engine.
    return FormatNotice(next: Self.input(of: streamID, router, known[streamID]?.chain)) { [weak engine] in
      engine?.noteInput(streamID, format: $0)
    }
  }

  /// Adds a stream that its owner routes, and that stays in the router when the session removes it.
  ///
  /// - Parameters:
  ///   - layer: shows the stream in the app.
  ///   - prepare: called when the session knows the stream, before its place in the app shows anything.
  package func addStream(
    _ id: StreamID, layer: SampleBufferDisplayLayer, prepare: () -> Void
  ) throws(PipSinkError) {
    try addInput(id, layer: layer, prepare: prepare)
  }

  private func addInput(
    _ id: StreamID, layer: SampleBufferDisplayLayer?, prepare: () -> Void = {}
  ) throws(PipSinkError) {
    try engine.addInput(id)
    do throws(PipSinkError) {
      try add(makeStream(id, .requesting, layer), id, prepare)
    } catch {
      engine.removeInput(id)
      throw error
    }
    if router.latestSampleBuffer(of: id) != nil { noteAwaitedFrame(of: id) }
  }

  // MARK: - What the app says

  /// Says that no more frames of a pushed stream come for now. The next frame resumes the stream.
  public func endInput(_ streamID: StreamID) { setInput(streamID, to: .ended) }

  /// Says that a pushed stream pauses: its last picture stays, and it does not stall. The next frame resumes it.
  public func pauseInput(_ streamID: StreamID) {
    awaitFrame(of: streamID)
    if router.latestSampleBuffer(of: streamID) != nil { setInput(streamID, to: .playing) }
    router.setGapExpected(true, of: streamID)
  }

  /// Says that the app's engine tries to get a pushed stream back, whose place says so. The next frame resumes the
  /// stream.
  public func reconnectInput(_ streamID: StreamID) {
    let attempt = if case .reconnecting(let attempt, _, _) = known[streamID]?.state { attempt } else { 0 }
    setInput(
      streamID, to: .reconnecting(attempt: attempt + 1, pause: .zero, after: .stream(.endedUnexpectedly(streamID))))
  }

  /// Says that a pushed stream has sound alone for now. The next frame resumes it.
  package func noteInputHasNoVideo(_ id: StreamID) {
    guard engine.info(of: id)?.hasNoVideo == false else { return }
    awaitFrame(of: id)
    engine.noteInput(id, hasNoVideo: true)
    setInput(id, to: .playing)
    show(id)
  }

  /// Has a closure called when the session stops, and when a stream has been removed. It ends what pushes the stream's
  /// frames, and returns what completes when that is done.
  package func setEndHandler(of streamID: StreamID, _ handler: @escaping @MainActor () -> [Completion<Void>]) {
    known[streamID]?.endHandler = handler
  }

  /// Ends what pushes frames of streams, where that was started with the stream, and what sends frames away.
  ///
  /// - Returns: what completes when that is done.
  func endInputsAndSenders() -> [Completion<Void>] {
    let ends = senders.values.joined().flatMap { $0.sessionWillStop() }
    return ends
      + known.filter { $1.endHandler != nil }.flatMap { id, stream in
        let ends = stream.endHandler?() ?? []
        setInput(id, to: .stopped)
        return ends
      }
  }

  /// Says that a pushed stream that had ended goes on.
  package func resumeInput(_ streamID: StreamID) { setInput(streamID, to: .playing) }

  /// Sets the state of a pushed stream. Everything that follows from it has been done when the call returns.
  package func setInput(_ id: StreamID, to state: StreamPlayState) {
    if state != .playing { awaitFrame(of: id) }
    engine.setInput(id, to: state)
    follow(id)
  }

  // MARK: - The frames

  /// Expects no frame of a stream, and resumes the stream with the next one.
  private func awaitFrame(of id: StreamID) {
    router.awaitFrame(of: id)
    known[id]?.flow = nil
  }

  /// Notes that the frame has come that a stream waits for, unless the stream has begun to wait for another one since.
  /// A frame that was on its way when its source was ended does not resume the stream.
  func noteAwaitedFrame(of id: StreamID) {
    guard engine.inputIDs.contains(id), !router.awaitsFrame(of: id) else { return }
    if let stream = known[id], stream.endHandler != nil, stream.state == .stopped { return }
    if engine.info(of: id)?.hasNoVideo == true {
      engine.noteInput(id, hasNoVideo: false)
      show(id)
    }
    setInput(id, to: .playing)
    known[id]?.upstream?.repeatDemand()
    beginFlow(of: id)
    updateGap(of: id)
  }
}

/// Leaves out the frames that a suspended decoder still held.
private final class LeftOverFilter: SampleBufferConsumer {
  private let upstream: UpstreamDemand
  private let next: any SampleBufferConsumer

  init(upstream: UpstreamDemand, next: any SampleBufferConsumer) {
    (self.upstream, self.next) = (upstream, next)
  }

  func consume(_ sampleBuffer: consuming SampleBuffer) {
    if !upstream.isLeftOver(sampleBuffer.pixelBuffer.buffer) { next.consume(sampleBuffer) }
  }
}

/// Says each new format of a pushed stream before its first frame is passed on.
private final class FormatNotice: SampleBufferConsumer {
  private let next: any SampleBufferConsumer
  private let note: @Sendable (VideoFormatDescription) -> Void
  private let format = Locked<VideoFormatDescription?>(nil)

  init(next: any SampleBufferConsumer, note: @escaping @Sendable (VideoFormatDescription) -> Void) {
    (self.next, self.note) = (next, note)
  }

  func consume(_ sampleBuffer: consuming SampleBuffer) {
    let new = sampleBuffer.formatDescription
    if format.exchange(new) !== new { note(new) }
    next.consume(sampleBuffer)
  }
}
