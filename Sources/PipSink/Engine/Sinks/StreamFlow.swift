import CGStreamer
import Synchronization

/// Whether a stream's frames flow. Its streaming thread writes the counters, and the pipeline's thread reads them,
/// without a lock.
final class StreamFlow: Sendable {
  /// The number of frames delivered in this run.
  let delivered = Atomic<UInt64>(0)
  /// The number of encoded frames withheld from a suspended decoder in this run.
  let withheld = Atomic<UInt64>(0)
  /// True from the first frame of a run, or from the first frame after a stall, until the next stall.
  let isFlowing = Atomic<Bool>(false)

  /// The time stamp of the keyframe with which a suspended decoder has resumed, in nanoseconds; 0 once frames from
  /// there on have come. Older frames, which the decoder still held, are not shown. ``closed`` when no frame is to be
  /// delivered.
  let resumedAt = Atomic<UInt64>(0)

  /// A number that changes with every frame that arrives, whether it is delivered or withheld.
  var activity: UInt64 { delivered.load(ordering: .relaxed) &+ withheld.load(ordering: .relaxed) }

  /// The number of old frames left out since the decoder has resumed. Only the streaming thread uses it.
  private let leftOverCount = Atomic<Int>(0)

  /// Whether this frame was left in a suspended decoder and must not be shown. Called on the streaming thread. A
  /// decoder holds few frames, so after a limited number of them the stream goes on, as it must when it has just jumped
  /// back.
  @inline(__always)
  func isLeftOver(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    let resumed = resumedAt.load(ordering: .relaxed)
    return resumed != 0 && isLeftOver(buffer, from: resumed)
  }

  /// GStreamer's value for "no time stamp", which no frame has as its time.
  private static let closed = UInt64.max

  /// Makes sure that no further frame is passed to the consumer, because the stream is being stopped.
  func close() { resumedAt.store(Self.closed, ordering: .sequentiallyConsistent) }

  /// Notes that a suspended decoder resumes with the frame that has this time stamp, in nanoseconds.
  func resume(at time: UInt64) {
    var old = resumedAt.load(ordering: .relaxed)
    while old != Self.closed {
      let (isDone, original) = resumedAt.compareExchange(expected: old, desired: time, ordering: .relaxed)
      if isDone { return }
      old = original
    }
  }

  private func isLeftOver(_ buffer: UnsafeMutablePointer<GstBuffer>, from resumed: UInt64) -> Bool {
    guard resumed != Self.closed else { return true }
    let count = leftOverCount.load(ordering: .relaxed)
    let isOld = UInt64(buffer.pointee.pts) < resumed && count < 32
    leftOverCount.store(isOld ? count + 1 : 0, ordering: .relaxed)
    if !isOld { resume(at: 0) }
    return isOld
  }

  /// Counts a delivered frame. Called on the streaming thread.
  ///
  /// - Parameter number: the frame's number in this run, from 1.
  /// - Returns: whether it is the first frame of the run, or the first after a stall.
  @inline(__always)
  func noteDelivery(_ number: UInt64) -> Bool {
    delivered.store(number, ordering: .relaxed)
    guard !isFlowing.load(ordering: .relaxed) else { return false }
    isFlowing.store(true, ordering: .relaxed)
    return true
  }
}
