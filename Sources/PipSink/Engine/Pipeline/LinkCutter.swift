import CGStreamer

/// Unlinks a source pad as soon as no data are being pushed through it.
///
/// `@unchecked Sendable`: the pad is constant, and GStreamer's functions for pads are thread-safe.
final class LinkCutter: @unchecked Sendable {
  private let pad: UnsafeMutablePointer<GstPad>
  private let done = Completion<Void>()
  private var probe: gulong = 0

  /// - Parameter pad: ownership of one reference passes to the cutter.
  init(_ pad: UnsafeMutablePointer<GstPad>) {
    self.pad = pad
    // The probe is called at once if the pad is idle, and otherwise on its streaming thread.
    probe = gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_IDLE,
      { pad, _, context in
        guard let pad, let context else { return GST_PAD_PROBE_REMOVE }
        Unmanaged<LinkCutter>.fromOpaque(context).takeUnretainedValue().cut(pad)
        return GST_PAD_PROBE_REMOVE
      }, Unmanaged.passRetained(self).toOpaque(),
      { context in if let context { Unmanaged<LinkCutter>.fromOpaque(context).release() } })
  }

  deinit {
    gst_object_unref(pad)
  }

  private func cut(_ pad: UnsafeMutablePointer<GstPad>) {
    if let peer = gst_pad_get_peer(pad) {
      gst_pad_unlink(pad, peer)
      gst_object_unref(peer)
    }
    done.complete(())
  }

  /// Waits until the pad is unlinked. At the deadline it leaves the pad linked.
  func wait(until deadline: MonotonicTime) {
    if done.wait(until: deadline) == nil, probe != 0 { gst_pad_remove_probe(pad, probe) }
  }
}
