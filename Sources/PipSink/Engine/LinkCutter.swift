import CGStreamer

/// Unlinks a source pad as soon as nothing is being pushed through it.
///
/// `@unchecked Sendable`: the pad is constant, and GStreamer's calls on it lock for themselves.
final class LinkCutter: @unchecked Sendable {
  private let pad: UnsafeMutablePointer<GstPad>
  private let isDone = Locked(false)
  private var probe: gulong = 0

  /// - Parameter pad: ownership of one reference passes to the cutter.
  init(_ pad: UnsafeMutablePointer<GstPad>) {
    self.pad = pad
    // Called at once where the pad is idle, and else on its streaming thread.
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
    isDone.withLock { $0 = true }
    isDone.wakeAll()
  }

  /// Waits until it is done; from the deadline on it leaves the link alone.
  func wait(until deadline: MonotonicTime) {
    let wasDone = isDone.wait(until: deadline) { $0 ? true : nil } ?? false
    if !wasDone, probe != 0 { gst_pad_remove_probe(pad, probe) }
  }
}
