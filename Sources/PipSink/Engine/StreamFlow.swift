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
  /// What the decoder had still in hand from before is not shown any more.
  let resumedAt = Atomic<UInt64>(0)

  var activity: UInt64 { delivered.load(ordering: .relaxed) &+ withheld.load(ordering: .relaxed) }
}
