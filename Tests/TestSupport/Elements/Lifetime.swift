import CGStreamer

@testable import PipSink

/// Whether an object of GStreamer is alive, which a test follows without a reference of its own.
final class Lifetime: Sendable {
  private let state = Locked(false)

  /// Whether the object has been freed.
  var isOver: Bool { state.withLock { $0 } }

  private func end() { state.withLock { $0 = true } }

  /// - Parameter object: an element, a pad or another GObject. The caller has a reference to it.
  init(ofObject object: UnsafeMutableRawPointer) {
    g_object_weak_ref(
      object.assumingMemoryBound(to: GObject.self),
      { context, _ in if let context { Unmanaged<Lifetime>.fromOpaque(context).takeRetainedValue().end() } },
      Unmanaged.passRetained(self).toOpaque())
  }

  /// - Parameter object: a message, a buffer or another GstMiniObject. The caller has a reference to it.
  init(ofMiniObject object: UnsafeMutableRawPointer) {
    gst_mini_object_weak_ref(
      object.assumingMemoryBound(to: GstMiniObject.self),
      { context, _ in if let context { Unmanaged<Lifetime>.fromOpaque(context).takeRetainedValue().end() } },
      Unmanaged.passRetained(self).toOpaque())
  }
}
