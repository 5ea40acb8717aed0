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
    await player(of: id)?.run?.ask { pipeline in
      StreamTimeline(
        position: pipeline.time(gst_element_query_position), duration: pipeline.time(gst_element_query_duration),
        isSeekable: pipeline.isSeekable)
    }
  }

  /// Jumps to another position of a stream, and of all streams that share its pipeline. Streams that have ended begin
  /// to play again, too. Suspends until the elements have answered; the first frame from the new position comes later.
  ///
  /// - Parameters:
  ///   - id: a stream of the engine's pipeline, or one with its own.
  ///   - position: the time from the start of the source.
  ///   - isAccurate: whether to begin with exactly that frame, which takes longer than to begin with the keyframe
  ///     before it.
  ///   - time: the longest time to wait; nil for the `stateChangeTimeout` of the pipeline's configuration.
  /// - Throws: ``PipSinkError/Pipeline/notSeekable(reason:)`` and ``PipSinkError/Stream/unknown(_:known:)``. Then
  ///   nothing has changed, except that an element that did not answer in time may still jump later.
  public func seekStream(
    _ id: StreamID, to position: MediaTime, isAccurate: Bool = false, within time: Duration? = nil
  ) async throws(PipSinkError) {
    let known = streamIDs + playingStreamIDs
    guard known.contains(id) else { throw .stream(.unknown(id, known: known)) }
    guard let player = player(of: id), let run = player.run else {
      throw .pipeline(.notSeekable(reason: "nothing is playing"))
    }
    let isDone = await run.perform(by: player.deadline(in: time)) { $0.seek(to: position, isAccurate: isAccurate) }
    guard let isDone else { throw .pipeline(.notSeekable(reason: "one of its elements does not answer")) }
    guard isDone else { throw .pipeline(.notSeekable(reason: "its source refused, as live sources do")) }
  }
}

extension Pipeline {
  /// Whether its sources are files, whose contents are the same at every start, and nothing comes from the network.
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

  /// Whether an end at this moment is a failure. That is so for a network source of unknown duration, whose server has
  /// closed the connection.
  var endsUnexpectedly: Bool {
    get async {
      guard pipeline.readsNetwork else { return false }
      return await (ask { $0.time(gst_element_query_duration) } ?? nil) == nil
    }
  }

  /// Whether its source can jump to another position, as far as it answers.
  var isSeekable: Bool { get async { await ask { $0.isSeekable } ?? false } }

  /// Sends a query on the run's thread, and suspends until the answer. A query passes through the elements and may have
  /// to wait for their locks; on that thread it blocks nobody else.
  fileprivate func ask<Answer: Sendable>(_ query: @escaping @Sendable (Pipeline) -> Answer) async -> Answer? {
    // While one query waits for its answer, another one would only have to wait, too.
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
