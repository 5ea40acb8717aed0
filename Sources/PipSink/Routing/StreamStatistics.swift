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
  /// The freezes that are over.
  private var freezes = FreezeMeter()
  /// When the first frame arrived; nil before that.
  package private(set) var firstArrival: MonotonicTime?
  /// When the newest frame arrived; nil before the first one.
  package private(set) var lastArrival: MonotonicTime?

  /// The number of frames that the router has received.
  package var received: UInt64 { inApp + pictureInPicture }

  private var isContinuous = false
  /// Whether frames may stay away for a reason that is known.
  private(set) var isGapExpected = false
  private var rateMeter = FrameRateMeter()

  /// Counts a frame.
  ///
  /// - Parameters:
  ///   - surface: the kind of surface that it is routed to.
  ///   - now: when it arrived.
  mutating func countFrame(to surface: SurfaceKind, at now: MonotonicTime) {
    if surface == .inApp { inApp += 1 } else { pictureInPicture += 1 }
    if let lastArrival, isContinuous {
      let interval = now.nanoseconds(since: lastArrival)
      intervals.record(nanoseconds: interval)
      if !isGapExpected { freezes.record(nanoseconds: interval) }
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

  /// Notes whether frames may stay away for a reason that is known, such as a pause. Such a gap is no freeze, and the
  /// time from its begin to the next frame is no frame interval.
  mutating func setGapExpected(_ isExpected: Bool, at now: MonotonicTime) {
    guard isExpected != isGapExpected else { return }
    if isExpected, let time = freezeTime(at: now) { freezes.add(nanoseconds: time) }
    isGapExpected = isExpected
    // A frame may come after the gap has begun, so that both ends count.
    forgetLastArrival()
  }

  /// How long the stream has been frozen, in nanoseconds since its newest frame; nil while it is not.
  func freezeTime(at now: MonotonicTime) -> UInt64? {
    guard let lastArrival, isContinuous, !isGapExpected else { return nil }
    let time = now.nanoseconds(since: lastArrival)
    return time >= freezes.limit ? time : nil
  }

  /// When the stream would be frozen if no frame came; nil while that is not known, or no freeze.
  var freezesAt: MonotonicTime? {
    guard let lastArrival, isContinuous, !isGapExpected, freezes.limit != .max else { return nil }
    return MonotonicTime(nanoseconds: lastArrival.nanoseconds + freezes.limit)
  }

  /// The number of freezes and their whole time, with the one that has not ended at `now`.
  ///
  /// - Parameter mayBeFrozen: whether frames are to come at `now`.
  package func freezes(at now: MonotonicTime, mayBeFrozen: Bool = true) -> (count: UInt64, time: Duration) {
    let time = mayBeFrozen ? freezeTime(at: now) : nil
    return (freezes.count + (time == nil ? 0 : 1), .nanoseconds(freezes.totalNanoseconds + (time ?? 0)))
  }

  /// The number of frames per second while the stream ran; nil before the second frame.
  package var averageFrameRate: Double? {
    intervals.totalNanoseconds == 0 ? nil : Double(intervals.count) * 1e9 / Double(intervals.totalNanoseconds)
  }

  /// The number of frames per second in the last second or two before `now`; nil before the second frame.
  package func frameRate(at now: MonotonicTime) -> Double? { rateMeter.rate(at: now) ?? averageFrameRate }
}
