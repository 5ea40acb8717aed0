/// Lets at most so many frames a second through, evenly: by presentation time, or by time of arrival for frames that
/// have none.
///
/// Frames are measured against a grid of due times, one interval apart, rather than against the frame before, so that
/// the rate is kept on average and not rounded down to a divisor of the source's. A frame may be a quarter of an
/// interval early, which is what network jitter does to it.
public final class FrameRateLimiter: FrameProcessor {
  /// Frames a second.
  public let maximumRate: Double
  private let state = Locked(State())
  private let now: @Sendable () -> MonotonicTime

  private struct State {
    var due: Double?
    var latest = -Double.infinity
    var usesPresentationTime: Bool?
  }

  /// - Parameters:
  ///   - maximumRate: frames a second, above 0.
  ///   - now: the clock for frames without a presentation time.
  /// - Returns: nil when the rate is not above 0 or not finite.
  public init?(maximumRate: Double, now: @escaping @Sendable () -> MonotonicTime = { .now }) {
    guard maximumRate > 0, maximumRate.isFinite else { return nil }
    self.maximumRate = maximumRate
    self.now = now
  }

  public var effect: FrameEffect { FrameEffect(maximumRate: maximumRate) }

  public func process(_ sampleBuffer: SampleBuffer) -> SampleBuffer? {
    let stamp = sampleBuffer.timing.presentationTimeStamp
    let time = stamp.isNumeric ? stamp.seconds : Double(now().nanoseconds) / 1e9
    let interval = 1 / maximumRate
    let isDue = state.withLock { state in
      // Another clock, or a jump back as after a seek: the grid starts over.
      if state.usesPresentationTime != stamp.isNumeric || time < state.latest { state.due = nil }
      state.usesPresentationTime = stamp.isNumeric
      state.latest = time
      guard let due = state.due else {
        state.due = time + interval
        return true
      }
      guard time + interval / 4 >= due else { return false }
      // After a pause the frames that were not there are not made up for.
      state.due = time > due + interval ? time + interval : due + interval
      return true
    }
    return isDue ? sampleBuffer : nil
  }
}

/// Lets every Nth frame through: the first, the one N later, and so on.
public final class FrameDecimator: FrameProcessor {
  public let interval: Int
  private let position = Locked(0)

  /// - Parameter interval: N; 1 lets every frame through. Anything below counts as 1.
  public init(every interval: Int) {
    self.interval = max(1, interval)
  }

  public var effect: FrameEffect { FrameEffect(interval: interval) }

  public func process(_ sampleBuffer: SampleBuffer) -> SampleBuffer? {
    let isDue = position.withLock { position in
      defer { position = (position + 1) % interval }
      return position == 0
    }
    return isDue ? sampleBuffer : nil
  }
}
