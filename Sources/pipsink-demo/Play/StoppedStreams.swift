import PipSink

/// What a run's report tells of streams that were stopped: numbers alone, so that nothing of the streams is kept, and of
/// so many streams at most.
struct StoppedStreams {
  private(set) var streams: [StreamID: Report.Stream] = [:]
  /// In the order that they were stopped in.
  private(set) var streamIDs: [StreamID] = []
  private(set) var forgotten: Report.ForgottenStreams?
  /// The last of their moves between surfaces.
  private(set) var changes: [SurfaceChange] = []

  static let limit = 256
  private static let changeLimit = 1000

  /// - Parameter stream: added to what was counted when the stream was stopped before.
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

  /// Makes sums of the streams that were stopped longest ago.
  mutating func forgetOldest() {
    while streamIDs.count > Self.limit {
      guard let stream = streams.removeValue(forKey: streamIDs.removeFirst()) else { continue }
      var sum = forgotten ?? .init()
      sum.count += 1
      sum.received += stream.received
      sum.shown += stream.shown
      sum.late += stream.late
      sum.lateUpstream += stream.lateUpstream
      forgotten = sum
    }
  }
}

extension Report.Stream {
  /// With an earlier run's frames; its times and its state are this one's.
  fileprivate func adding(_ earlier: Report.Stream) -> Report.Stream {
    var sum = self
    for path: WritableKeyPath<Report.Stream, UInt64> in [
      \.received, \.inApp, \.pip, \.replaced, \.shown, \.late, \.hidden, \.refused, \.lateUpstream,
    ] { sum[keyPath: path] += earlier[keyPath: path] }
    for path: WritableKeyPath<Report.Stream, UInt64?> in [\.dropped, \.skipped] {
      if let count = earlier[keyPath: path] { sum[keyPath: path] = (sum[keyPath: path] ?? 0) + count }
    }
    sum.format = format ?? earlier.format
    sum.frameInterval = frameInterval ?? earlier.frameInterval
    sum.frameRate = frameRate ?? earlier.frameRate
    sum.latency = latency ?? earlier.latency
    return sum
  }
}
