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
