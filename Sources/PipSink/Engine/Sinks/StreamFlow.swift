import CGStreamer
import Synchronization

/// Whether a stream's frames flow: told by its streaming thread, looked at by the engine's bus thread, without a lock.
final class StreamFlow: Sendable {
  /// Frames that were delivered in this run.
  let delivered = Atomic<UInt64>(0)
  /// Frames that were kept from its decoder in this run.
  let withheld = Atomic<UInt64>(0)
  /// Set with the first frame of a run and the first after a stall.
  let isFlowing = Atomic<Bool>(false)

  /// The time stamp of the keyframe that its decoder went on with, in nanoseconds; 0 once frames from there on come.
  /// What the decoder had still in hand from before is not shown any more. ``closed`` when no frame is to be delivered.
  let resumedAt = Atomic<UInt64>(0)

  var activity: UInt64 { delivered.load(ordering: .relaxed) &+ withheld.load(ordering: .relaxed) }

  /// Frames left out since its decoder went on. The streaming thread's.
  private let leftOverCount = Atomic<Int>(0)

  /// On the streaming thread: whether a decoder that stood still had this frame in hand from before. It has a few at
  /// most: a stream that jumps back just then goes on, too.
  @inline(__always)
  func isLeftOver(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    let resumed = resumedAt.load(ordering: .relaxed)
    return resumed != 0 && isLeftOver(buffer, from: resumed)
  }

  /// No time stamp: GStreamer's own for none.
  private static let closed = UInt64.max

  /// The stream is being stopped: no frame begins its way to the consumer from now on.
  func close() { resumedAt.store(Self.closed, ordering: .sequentiallyConsistent) }

  /// A decoder goes on with the frame that has this time stamp.
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

  /// On the streaming thread, after a frame.
  ///
  /// - Returns: whether it is the first of a run, or after a stall.
  @inline(__always)
  func noteDelivery(_ number: UInt64) -> Bool {
    delivered.store(number, ordering: .relaxed)
    guard !isFlowing.load(ordering: .relaxed) else { return false }
    isFlowing.store(true, ordering: .relaxed)
    return true
  }
}
