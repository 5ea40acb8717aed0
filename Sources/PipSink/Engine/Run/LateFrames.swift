import CGStreamer

/// Counts the frames that a pipeline's elements drop because they are late, from their QoS messages.
final class LateFrames: Sendable {
  private struct Counts {
    /// For each element, the number of frames that it has dropped so far.
    var totals: [UnsafeMutablePointer<GstObject>: UInt64] = [:]
    /// For each element, of which there is a reference here, the frames since the last look.
    var new: [UnsafeMutablePointer<GstObject>: UInt64] = [:]
  }

  private let counts = Locked(Counts())

  deinit {
    for element in counts.withLock({ $0.new.keys }) { gst_object_unref(element) }
  }

  /// Notes a QoS message. Any thread may call it.
  func note(_ message: UnsafeMutablePointer<GstMessage>) {
    guard let source = message.pointee.src else { return }
    var format = GST_FORMAT_UNDEFINED
    var dropped: guint64 = 0
    gst_message_parse_qos_stats(message, &format, nil, &dropped)
    // Audio elements count samples instead of frames.
    guard format == GST_FORMAT_BUFFERS || format == GST_FORMAT_DEFAULT, dropped != guint64.max else { return }
    counts.withLock { counts in
      let old = counts.totals.updateValue(UInt64(dropped), forKey: source) ?? 0
      guard UInt64(dropped) > old else { return }
      if counts.new[source] == nil { gst_object_ref(source) }
      counts.new[source, default: 0] += UInt64(dropped) - old
    }
  }

  /// Calls `body` with each element that has dropped frames since the last look, and their number.
  func look(_ body: (UnsafeMutablePointer<GstObject>, UInt64) -> Void) {
    let new = counts.exchange(\.new, [:])
    for (element, count) in new {
      body(element, count)
      gst_object_unref(element)
    }
  }
}
