import CGStreamer
import CWebRTC

@testable import PipSink
@testable import PipSinkCalls

/// Drops some of the packets that come from the network, until it is ended.
///
/// `@unchecked Sendable`: the pointer is constant, and GStreamer's pads may be used from every thread.
final class PacketLoss: @unchecked Sendable {
  private let pad: UnsafeMutablePointer<GstPad>
  private let probe: gulong

  /// - Parameters:
  ///   - pipeline: has a webrtcbin that is connected; nil is the result where it is not.
  ///   - interval: of so many packets one is dropped.
  init?(in pipeline: Element, ofOneIn interval: Int) {
    let elements = collectObjects(gst_bin_iterate_recurse(pipeline.asBin), as: GstElement.self)
    defer { for element in elements { gst_object_unref(element) } }
    guard let source = elements.first(where: { String(taking: pipsink_webrtc_factory_name($0)) == "nicesrc" }),
      let pad = gst_element_get_static_pad(source, "src")
    else { return nil }
    self.pad = pad
    probe = gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      { _, _, counter in
        let isDue = counter.map { Unmanaged<Counter>.fromOpaque($0).takeUnretainedValue().isDue() } ?? false
        return isDue ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(Counter(interval)).toOpaque(),
      { $0.map { Unmanaged<Counter>.fromOpaque($0).release() } })
  }

  deinit { gst_object_unref(pad) }

  func end() { gst_pad_remove_probe(pad, probe) }

  private final class Counter: Sendable {
    private let interval: Int
    private let count = Locked(0)

    init(_ interval: Int) { self.interval = interval }

    func isDue() -> Bool {
      count.withLock { count in
        count += 1
        return count % interval == 0
      }
    }
  }
}
