/// The counts of one stream's frames in a router.
package struct StreamStatistics: Sendable {
  /// The number of frames routed to the stream's surface in the app.
  package private(set) var inApp: UInt64 = 0
  /// The number of frames routed to a picture-in-picture surface.
  package private(set) var pictureInPicture: UInt64 = 0
  /// The number of routed frames that were never shown because a newer one came first.
  package internal(set) var replaced: UInt64 = 0
  /// The format of the newest frame; nil before the first one.
  package internal(set) var format: VideoFormatDescription?
  /// The times between the arrivals of successive frames.
  package private(set) var intervals = IntervalHistogram()
  /// When the first frame arrived; nil before that.
  package private(set) var firstArrival: MonotonicTime?
  /// When the newest frame arrived; nil before the first one.
  package private(set) var lastArrival: MonotonicTime?

  /// The number of frames that the router has received.
  package var received: UInt64 { inApp + pictureInPicture }

  private var isContinuous = false
  private var rateMeter = FrameRateMeter()

  /// Counts a frame.
  ///
  /// - Parameters:
  ///   - surface: the kind of surface that it is routed to.
  ///   - now: when it arrived.
  mutating func countFrame(to surface: SurfaceKind, at now: MonotonicTime) {
    if surface == .inApp { inApp += 1 } else { pictureInPicture += 1 }
    if let lastArrival, isContinuous {
      intervals.record(nanoseconds: now.nanoseconds(since: lastArrival))
    } else {
      firstArrival = firstArrival ?? now
      rateMeter = FrameRateMeter()
      isContinuous = true
    }
    rateMeter.countFrame(at: now)
    lastArrival = now
  }

  /// Notes that the stream has stopped, after which the time to the next frame is not a frame interval.
  mutating func forgetLastArrival() {
    isContinuous = false
  }

  /// The number of frames per second while the stream ran; nil before the second frame.
  package var averageFrameRate: Double? {
    intervals.totalNanoseconds == 0 ? nil : Double(intervals.count) * 1e9 / Double(intervals.totalNanoseconds)
  }

  /// The number of frames per second in the last second or two before `now`; nil before the second frame.
  package func frameRate(at now: MonotonicTime) -> Double? { rateMeter.rate(at: now) ?? averageFrameRate }
}
