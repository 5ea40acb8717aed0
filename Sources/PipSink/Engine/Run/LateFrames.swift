import CGStreamer

/// Counts the frames that a pipeline's elements drop because they are late, from their QoS messages.
///
/// The messages are taken on the threads that post them. A source that is far behind has one for each of its frames,
/// and more of them than any other thread could take from the bus.
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

  /// Takes the QoS messages from the bus of a pipeline. The bus retains this object.
  func watch(_ pipeline: UnsafeMutablePointer<GstElement>) {
    guard let bus = gst_element_get_bus(pipeline) else { return }
    defer { gst_object_unref(bus) }
    gst_bus_set_sync_handler(
      bus,
      { _, message, context in
        guard let message, let context, message.pointee.type == GST_MESSAGE_QOS else { return GST_BUS_PASS }
        Unmanaged<LateFrames>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.note(message) }
        gst_message_unref(message)
        return GST_BUS_DROP
      }, Unmanaged.passRetained(self).toOpaque(),
      { context in if let context { Unmanaged<LateFrames>.fromOpaque(context).release() } })
  }

  private func note(_ message: UnsafeMutablePointer<GstMessage>) {
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
