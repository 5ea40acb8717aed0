/// Limits the number of frames per second by dropping frames evenly. Frames are measured by their presentation times,
/// or by their times of arrival if they have none.
///
/// Frames are compared with a grid of due times, one interval apart, and not with the frame before. So the average rate
/// equals the limit, and is not rounded down to a divisor of the source's rate. A frame may be early by a quarter of an
/// interval, to allow for network jitter. A frame that ``SampleBuffer/Attachments/mustNotBeDropped`` always passes.
public final class FrameRateLimiter: FrameProcessor {
  /// The maximum number of frames per second.
  package let maximumRate: Double
  private let state = Locked(State())
  private let now: @Sendable () -> MonotonicTime

  private struct State {
    var due: Double?
    var latest = -Double.infinity
    var usesPresentationTime: Bool?
  }

  /// Makes a limiter.
  ///
  /// - Parameter maximumRate: the maximum number of frames per second.
  /// - Returns: nil if the rate is not above 0 or not finite.
  public convenience init?(maximumRate: Double) { self.init(maximumRate: maximumRate) { .now } }

  /// Makes a limiter with a clock for frames without a presentation time.
  package init?(maximumRate: Double, now: @escaping @Sendable () -> MonotonicTime) {
    guard maximumRate > 0, maximumRate.isFinite else { return nil }
    self.maximumRate = maximumRate
    self.now = now
  }

  /// The effect: a limit on the frame rate.
  public var effect: FrameEffect { FrameEffect(maximumRate: maximumRate) }

  /// Returns the frame, or nil if it comes too early.
  public func process(_ sampleBuffer: SampleBuffer) -> SampleBuffer? {
    let stamp = sampleBuffer.timing.presentationTimeStamp
    let time = stamp.isNumeric ? stamp.seconds : Double(now().nanoseconds) / 1e9
    let interval = 1 / maximumRate
    let isDue = state.withLock { state in
      // The grid starts again with another clock, and after a seek or a step.
      if sampleBuffer.attachments.mustNotBeDropped || state.usesPresentationTime != stamp.isNumeric
        || time < state.latest
      {
        state.due = nil
      }
      state.usesPresentationTime = stamp.isNumeric
      state.latest = time
      guard let due = state.due else {
        state.due = time + interval
        return true
      }
      guard time + interval / 4 >= due else { return false }
      // After a pause, missing frames are not made up for.
      state.due = time > due + interval ? time + interval : due + interval
      return true
    }
    return isDue ? sampleBuffer : nil
  }
}

/// Passes every Nth frame, beginning with the first and again with each one that
/// ``SampleBuffer/Attachments/mustNotBeDropped``, and drops the others.
public final class FrameDecimator: FrameProcessor {
  /// The number N: one of so many frames passes.
  let interval: Int
  private let position = Locked(0)

  /// Makes a decimator.
  ///
  /// - Parameter interval: the number N. With 1, or less, every frame passes.
  public init(every interval: Int) {
    self.interval = max(1, interval)
  }

  /// The effect: one of N frames passes.
  public var effect: FrameEffect { FrameEffect(interval: interval) }

  /// Returns every Nth frame, and nil for the others.
  public func process(_ sampleBuffer: SampleBuffer) -> SampleBuffer? {
    let isDue = position.withLock { position in
      if sampleBuffer.attachments.mustNotBeDropped { position = 0 }
      defer { position = (position + 1) % interval }
      return position == 0
    }
    return isDue ? sampleBuffer : nil
  }
}
