import CGStreamer

/// Time in sources that have an end: files, and some network streams.
extension VideoEngine {
  /// Where the pipeline is, from its start; nil while it does not say. ``MediaTime/invalid`` is never returned.
  public var position: MediaTime? { withRun { $0.pipeline.time(gst_element_query_position) } ?? nil }

  /// How long the pipeline's source is; nil for a live one, and while it is not known.
  public var duration: MediaTime? { withRun { $0.pipeline.time(gst_element_query_duration) } ?? nil }

  /// Goes on from another place: from the keyframe before it or, where `isAccurate`, from that very frame, which takes
  /// longer. Streams that had ended go on, too. Returns at once; frames from there come as soon as they can.
  ///
  /// - Throws: ``PipSinkError/notSeekable(reason:)``, and then nothing has changed.
  public func seek(to time: MediaTime, isAccurate: Bool = false) throws(PipSinkError) {
    guard let isDone = withRun({ $0.seek(to: time, isAccurate: isAccurate) }) else {
      throw .notSeekable(reason: "nothing is playing")
    }
    guard isDone else { throw .notSeekable(reason: "its source refused, as live ones do") }
  }

  /// The same for a stream with a pipeline of its own.
  ///
  /// - Throws: as above, and ``PipSinkError/unknownStream(_:known:)``.
  public func seekStream(_ id: StreamID, to time: MediaTime, isAccurate: Bool = false) throws(PipSinkError) {
    guard let player = players.withLock({ $0[id] }) else { throw .unknownStream(id, known: playingStreamIDs) }
    try player.seek(to: time, isAccurate: isAccurate)
  }
}

extension VideoEngine {
  /// Whether something in the pipeline reads from the network.
  var hasNetworkSource: Bool { withRun { $0.pipeline.hasElement(ofKinds: ["Source", "Network"]) } ?? false }
}

extension Pipeline {
  /// Whether all that it plays are files, which have the same in them at every start.
  var readsFiles: Bool {
    hasElement(ofKinds: ["Source", "File"]) && !hasElement(ofKinds: ["Source", "Network"])
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
