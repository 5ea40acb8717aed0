/// Counts of one stream's frames.
public struct StreamStatistics: Sendable {
  /// Frames routed to the stream's in-app surface.
  public private(set) var inApp: UInt64 = 0
  /// Frames routed to the picture-in-picture surface.
  public private(set) var pictureInPicture: UInt64 = 0
  /// Those of the routed frames that were never shown, because a newer one came first.
  public internal(set) var replaced: UInt64 = 0
  /// The newest frame's format.
  public internal(set) var format: VideoFormatDescription?
  /// Times between one frame's arrival and the next one's.
  public private(set) var intervals = IntervalHistogram()
  public private(set) var firstArrival: MonotonicTime?
  public private(set) var lastArrival: MonotonicTime?

  /// Frames taken from the engine; each goes to one of the two surfaces.
  public var received: UInt64 { inApp + pictureInPicture }

  private var isContinuous = false
  private var rateMeter = FrameRateMeter()

  /// - Parameter now: nil where no times are taken.
  mutating func countFrame(to surface: SurfaceKind, at now: MonotonicTime?) {
    if surface == .inApp { inApp += 1 } else { pictureInPicture += 1 }
    if let now { countArrival(at: now) } else { isContinuous = false }
  }

  private mutating func countArrival(at now: MonotonicTime) {
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

  /// After a stop the time to the next frame is no frame interval.
  mutating func forgetLastArrival() {
    isContinuous = false
  }

  /// Frames a second while the stream ran; nil before the second frame.
  public var averageFrameRate: Double? {
    intervals.totalNanoseconds == 0 ? nil : Double(intervals.count) * 1e9 / Double(intervals.totalNanoseconds)
  }

  /// Frames a second in the last second or two before `now`; nil before the second frame.
  public func frameRate(at now: MonotonicTime) -> Double? { rateMeter.rate(at: now) ?? averageFrameRate }
}
