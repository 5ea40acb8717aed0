import CGStreamer
import PipSink

/// Counts how many of the buffers that elements have sent are alive. The process has one counter, which GStreamer may
/// call on any thread at any time.
final class BufferCounter: Sendable {
  static let shared = BufferCounter()

  private let count = Locked((alive: 0, atMost: 0))

  var alive: Int { count.withLock { $0.alive } }
  var atMost: Int { count.withLock { $0.atMost } }

  /// Counts the buffers that the element's source pad sends from now on.
  func watch(_ element: UnsafeMutablePointer<GstElement>) {
    guard let pad = gst_element_get_static_pad(element, "src") else { return }
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      { _, info, _ in
        if let buffer = info?.pointee.data?.assumingMemoryBound(to: GstMiniObject.self) {
          BufferCounter.shared.add(1)
          gst_mini_object_weak_ref(buffer, { _, _ in BufferCounter.shared.add(-1) }, nil)
        }
        return GST_PAD_PROBE_OK
      }, nil, nil)
    gst_object_unref(pad)
  }

  private func add(_ number: Int) {
    count.withLock { count in
      count.alive += number
      count.atMost = max(count.atMost, count.alive)
    }
  }
}
