import CGStreamer

/// Where a stream is in its source.
public struct StreamTimeline: Equatable, Sendable {
  /// From the source's start; nil while its pipeline does not say.
  public var position: MediaTime?
  /// How long the source is; nil for a live one, and while it is not known.
  public var duration: MediaTime?
  /// Whether the stream can go on from another place.
  public var isSeekable = false
}

/// Time in sources that have an end: files, and some network streams.
extension VideoEngine {
  /// Where a stream is, be it of the engine's pipeline or of one of its own; nil of another one, and while its pipeline does
  /// not answer. Suspends for a quarter of a second at most.
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

  /// Has a stream go on from another place, and with it those that share its pipeline, as ``seek(to:isAccurate:)`` does.
  /// Suspends meanwhile, but no longer than `time`.
  ///
  /// - Throws: as ``seek(to:isAccurate:)``, and ``PipSinkError/Stream/unknown(_:known:)``.
  public func seekStream(
    _ id: StreamID, to position: MediaTime, isAccurate: Bool = false, within time: Duration
  ) async throws(PipSinkError) {
    let known = streamIDs + playingStreamIDs
    guard known.contains(id) else { throw .stream(.unknown(id, known: known)) }
    let run = currentRun(of: id)
    try finishSeek(run, await run?.perform(by: deadline(time)) { $0.seek(to: position, isAccurate: isAccurate) })
  }

  /// Where the pipeline is, from its start; nil while it does not say, which it also does not while one of its elements
  /// blocks. ``MediaTime/invalid`` is never returned. Waits a quarter of a second at most.
  public var position: MediaTime? { withRun { $0.ask { $0.time(gst_element_query_position) } } ?? nil }

  /// How long the pipeline's source is; nil for a live one, and while it is not known. Waits as ``position`` does.
  public var duration: MediaTime? { withRun { $0.duration } ?? nil }

  /// Goes on from another place: from the keyframe before it or, where `isAccurate`, from that very frame, which takes
  /// longer. Streams that had ended go on, too. Frames from there come as soon as they can. Waits for the elements'
  /// answer, but no longer than ``stateChangeTimeout``.
  ///
  /// - Throws: ``PipSinkError/Pipeline/notSeekable(reason:)``, and then nothing has changed; where an element does not answer in
  ///   time, it may still do so.
  public func seek(to time: MediaTime, isAccurate: Bool = false) throws(PipSinkError) {
    try seek(withRun { $0 }, to: time, isAccurate: isAccurate, by: deadline(nil))
  }

  /// The same for a stream with a pipeline of its own.
  ///
  /// - Throws: as above, and ``PipSinkError/Stream/unknown(_:known:)``.
  public func seekStream(_ id: StreamID, to time: MediaTime, isAccurate: Bool = false) throws(PipSinkError) {
    guard let player = players.withLock({ $0[id] }) else { throw .stream(.unknown(id, known: playingStreamIDs)) }
    try seek(player.run, to: time, isAccurate: isAccurate, by: player.deadline())
  }

  private func seek(
    _ run: PipelineRun?, to time: MediaTime, isAccurate: Bool, by deadline: MonotonicTime
  ) throws(PipSinkError) {
    try finishSeek(run, run?.perform(until: deadline) { $0.seek(to: time, isAccurate: isAccurate) })
  }

  /// - Parameter isDone: nil where there was no answer in time.
  private func finishSeek(_ run: PipelineRun?, _ isDone: Bool?) throws(PipSinkError) {
    guard run != nil else { throw .pipeline(.notSeekable(reason: "nothing is playing")) }
    guard let isDone else {
      throw .pipeline(.notSeekable(reason: "one of its elements does not answer"))
    }
    guard isDone else { throw .pipeline(.notSeekable(reason: "its source refused, as live ones do")) }
  }
}

extension Pipeline {
  /// Whether all that it plays are files, which have the same in them at every start.
  var readsFiles: Bool { hasElement(ofKinds: ["Source", "File"]) && !readsNetwork }

  /// Whether something in it reads from the network.
  fileprivate var readsNetwork: Bool { hasElement(ofKinds: ["Source", "Network"]) }

  /// Whether its source goes on from any place of its choice.
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

  /// Whether an end that comes now is taken for a failure: a server closes the connection of a source that does not know
  /// how long it is.
  var endsUnexpectedly: Bool { pipeline.readsNetwork && duration == nil }

  /// A query goes through the elements, and waits for what they hold. On the run's thread it holds up nobody else.
  fileprivate func ask(_ query: @escaping @Sendable (Pipeline) -> MediaTime?) -> MediaTime? {
    // While one is without an answer, another would only wait, too.
    guard !isQueryOpen.load(ordering: .relaxed) else { return nil }
    let deadline = clock.moment(in: Self.queryPatience)
    if let answer = perform(until: deadline, { query($0.pipeline) }) { return answer }
    noteOpenQuery()
    return nil
  }

  /// The same for tasks.
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
