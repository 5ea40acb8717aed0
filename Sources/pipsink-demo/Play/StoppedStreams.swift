import PipSink

/// What the report of a run says about streams that were stopped. Only numbers are kept, and only for a limited number
/// of streams, so that a long run does not grow.
struct StoppedStreams {
  private(set) var streams: [StreamID: Report.Stream] = [:]
  /// The IDs of the streams, in the order in which they were stopped.
  private(set) var streamIDs: [StreamID] = []
  private(set) var forgotten: Report.ForgottenStreams?
  /// The last surface changes of the streams.
  private(set) var changes: [SurfaceChange] = []

  static let limit = 256
  private static let changeLimit = 1000

  /// - Parameter stream: the numbers of the stream, which are added to those from before if the stream was stopped
  ///   before.
  mutating func add(_ stream: Report.Stream, of id: StreamID) {
    if let old = streams[id] {
      streamIDs.removeAll { $0 == id }
      streams[id] = stream.adding(old)
    } else {
      streams[id] = stream
    }
    streamIDs.append(id)
  }

  mutating func add(_ changes: [SurfaceChange]) {
    self.changes += changes
    self.changes.removeFirst(max(0, self.changes.count - Self.changeLimit))
  }

  /// Replaces the numbers of the streams that were stopped first by their sums.
  mutating func forgetOldest() {
    while streamIDs.count > Self.limit {
      guard let stream = streams.removeValue(forKey: streamIDs.removeFirst()) else { continue }
      var sum = forgotten ?? .init()
      sum.count += 1
      sum.received += stream.received
      sum.shown += stream.shown
      sum.late += stream.late
      forgotten = sum
    }
  }
}

extension Report.Stream {
  /// Adds the frames of an earlier run of the stream. The times and the state remain those of the latest run.
  fileprivate func adding(_ earlier: Report.Stream) -> Report.Stream {
    var sum = self
    for path: WritableKeyPath<Report.Stream, UInt64> in [
      \.received, \.inApp, \.pip, \.replaced, \.shown, \.late, \.hidden, \.refused,
      \.freezes,
    ] { sum[keyPath: path] += earlier[keyPath: path] }
    for path: WritableKeyPath<Report.Stream, UInt64?> in [\.dropped, \.skipped] {
      if let count = earlier[keyPath: path] { sum[keyPath: path] = (sum[keyPath: path] ?? 0) + count }
    }
    sum.freezeMs += earlier.freezeMs
    sum.format = format ?? earlier.format
    sum.frameInterval = frameInterval ?? earlier.frameInterval
    sum.frameRate = frameRate ?? earlier.frameRate
    sum.latency = latency ?? earlier.latency
    return sum
  }
}
