import CGStreamer

/// The position of a stream in its source, such as a file.
public struct StreamTimeline: Equatable, Sendable {
  /// The time from the start of the source; nil while it is unknown.
  public var position: MediaTime?
  /// The duration of the source; nil for a live source, and while it is unknown.
  public var duration: MediaTime?
  /// Whether the stream can jump to another position.
  public var isSeekable = false
}

/// Positions in sources that have an end: files and some network streams.
extension VideoEngine {
  /// The position of a stream, which may belong to the engine's pipeline or have its own. Suspends for a quarter of a
  /// second at most.
  ///
  /// - Returns: nil for an unknown stream, and while the pipeline does not answer.
  public func timeline(of id: StreamID) async -> StreamTimeline? {
    await currentRun(of: id)?.ask { pipeline in
      StreamTimeline(
        position: pipeline.time(gst_element_query_position), duration: pipeline.time(gst_element_query_duration),
        isSeekable: pipeline.isSeekable)
    }
  }

  private func currentRun(of id: StreamID) -> PipelineRun? {
    if let player = players.withLock({ $0[id] }) { return player.run }
    return streamIDs.contains(id) ? withRun { $0 } : nil
  }

  /// Jumps to another position of a stream, and of all streams that share its pipeline. Suspends until the elements
  /// have answered.
  ///
  /// - Parameters:
  ///   - id: a stream of the engine's pipeline, or one with its own.
  ///   - position: the time from the start of the source.
  ///   - isAccurate: whether to begin with exactly that frame rather than with the keyframe before it.
  ///   - time: the longest time to wait.
  /// - Throws: the errors of ``seek(to:isAccurate:)``, and ``PipSinkError/Stream/unknown(_:known:)``.
  public func seekStream(
    _ id: StreamID, to position: MediaTime, isAccurate: Bool = false, within time: Duration
  ) async throws(PipSinkError) {
    let known = streamIDs + playingStreamIDs
    guard known.contains(id) else { throw .stream(.unknown(id, known: known)) }
    let run = currentRun(of: id)
    try finishSeek(run, await run?.perform(by: deadline(time)) { $0.seek(to: position, isAccurate: isAccurate) })
  }

  /// The position of the engine's own pipeline, from the start of its source. It is nil while the position is unknown,
  /// for instance because an element blocks, and never ``MediaTime/invalid``. Blocks for a quarter of a second at most.
  public var position: MediaTime? { withRun { $0.ask { $0.time(gst_element_query_position) } } ?? nil }

  /// The duration of the source of the engine's own pipeline; nil for a live source, and while it is unknown. Blocks
  /// for a quarter of a second at most.
  public var duration: MediaTime? { withRun { $0.duration } ?? nil }

  /// Jumps to another position of the engine's own pipeline. Streams that have ended begin to play again, too.
  ///
  /// Blocks until the elements have answered, but not longer than ``stateChangeTimeout``. The first frame from the new
  /// position comes later.
  ///
  /// - Parameters:
  ///   - time: the time from the start of the source.
  ///   - isAccurate: whether to begin with exactly that frame, which takes longer than to begin with the keyframe
  ///     before it.
  /// - Throws: ``PipSinkError/Pipeline/notSeekable(reason:)``. Then nothing has changed, except that an element that
  ///   did not answer in time may still jump later.
  public func seek(to time: MediaTime, isAccurate: Bool = false) throws(PipSinkError) {
    try seek(withRun { $0 }, to: time, isAccurate: isAccurate, by: deadline(nil))
  }

  /// Jumps to another position of a stream with its own pipeline. Blocks as ``seek(to:isAccurate:)`` does.
  ///
  /// - Parameters:
  ///   - id: a stream that ``startPlayingStream(_:from:configuration:deliveringTo:)`` started.
  ///   - time: the time from the start of the source.
  ///   - isAccurate: whether to begin with exactly that frame rather than with the keyframe before it.
  /// - Throws: the errors of ``seek(to:isAccurate:)``, and ``PipSinkError/Stream/unknown(_:known:)``.
  public func seekStream(_ id: StreamID, to time: MediaTime, isAccurate: Bool = false) throws(PipSinkError) {
    guard let player = players.withLock({ $0[id] }) else { throw .stream(.unknown(id, known: playingStreamIDs)) }
    try seek(player.run, to: time, isAccurate: isAccurate, by: player.deadline())
  }

  private func seek(
    _ run: PipelineRun?, to time: MediaTime, isAccurate: Bool, by deadline: MonotonicTime
  ) throws(PipSinkError) {
    try finishSeek(run, run?.perform(until: deadline) { $0.seek(to: time, isAccurate: isAccurate) })
  }

  /// - Parameter isDone: whether the seek succeeded; nil when there was no answer in time.
  private func finishSeek(_ run: PipelineRun?, _ isDone: Bool?) throws(PipSinkError) {
    guard run != nil else { throw .pipeline(.notSeekable(reason: "nothing is playing")) }
    guard let isDone else {
      throw .pipeline(.notSeekable(reason: "one of its elements does not answer"))
    }
    guard isDone else { throw .pipeline(.notSeekable(reason: "its source refused, as live sources do")) }
  }
}

extension Pipeline {
  /// Whether all its sources are files, whose contents are the same at every start.
  var readsFiles: Bool { hasElement(ofKinds: ["Source", "File"]) && !readsNetwork }

  /// Whether one of its sources reads from the network.
  fileprivate var readsNetwork: Bool { hasElement(ofKinds: ["Source", "Network"]) }

  /// Whether its source can jump to another position.
  fileprivate var isSeekable: Bool {
    let query = gst_query_new_seeking(GST_FORMAT_TIME)
    defer { gst_query_unref(query) }
    var isSeekable: gboolean = 0
    guard gst_element_query(element, query) != 0 else { return false }
    gst_query_parse_seeking(query, nil, &isSeekable, nil, nil)
    return isSeekable != 0
  }

  fileprivate func time(
    _ query: (UnsafeMutablePointer<GstElement>?, GstFormat, UnsafeMutablePointer<gint64>?) -> gboolean
  ) -> MediaTime? {
    var nanoseconds: gint64 = -1
    guard query(element, GST_FORMAT_TIME, &nanoseconds) != 0, nanoseconds >= 0 else { return nil }
    return MediaTime(value: Int64(nanoseconds), timescale: 1_000_000_000)
  }
}

extension PipelineRun {
  private static let queryPatience = Duration.milliseconds(250)

  fileprivate var duration: MediaTime? { ask { $0.time(gst_element_query_duration) } }

  /// Whether an end at this moment is a failure. That is so for a network source of unknown duration, whose server has
  /// closed the connection.
  var endsUnexpectedly: Bool { pipeline.readsNetwork && duration == nil }

  /// Sends a query on the run's thread and waits for the answer. A query passes through the elements and may have to
  /// wait for their locks; on that thread it blocks nobody else.
  fileprivate func ask(_ query: @escaping @Sendable (Pipeline) -> MediaTime?) -> MediaTime? {
    // While one query waits for its answer, another one would only have to wait, too.
    guard !isQueryOpen.load(ordering: .relaxed) else { return nil }
    let deadline = clock.moment(in: Self.queryPatience)
    if let answer = perform(until: deadline, { query($0.pipeline) }) { return answer }
    noteOpenQuery()
    return nil
  }

  /// Sends a query as the other `ask` does, but suspends instead of blocking.
  fileprivate func ask<Answer: Sendable>(_ query: @escaping @Sendable (Pipeline) -> Answer) async -> Answer? {
    guard !isQueryOpen.load(ordering: .relaxed) else { return nil }
    let deadline = clock.moment(in: Self.queryPatience)
    if let answer = await perform(by: deadline, { query($0.pipeline) }) { return answer }
    noteOpenQuery()
    return nil
  }

  private func noteOpenQuery() {
    isQueryOpen.store(true, ordering: .relaxed)
    whenFree { $0.isQueryOpen.store(false, ordering: .relaxed) }
  }

  fileprivate func seek(to time: MediaTime, isAccurate: Bool) -> Bool {
    guard let nanoseconds = time.clockTime else { return false }
    let precision = isAccurate ? GST_SEEK_FLAG_ACCURATE : GST_SEEK_FLAG_KEY_UNIT
    let flags = GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | precision.rawValue)
    guard gst_element_seek_simple(pipeline.element, GST_FORMAT_TIME, flags, gint64(nanoseconds)) != 0 else {
      return false
    }
    reopenEnded()
    return true
  }
}
