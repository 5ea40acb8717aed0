import CGStreamer
import CWebRTC

@testable import PipSink
@testable import PipSinkCalls
@testable import TestSupport

/// Drops some of the packets that come from the network, until it is ended.
///
/// `@unchecked Sendable`: the pointer is constant, and GStreamer's pads may be used from every thread.
final class PacketLoss: @unchecked Sendable {
  private let pad: UnsafeMutablePointer<GstPad>
  private let probe: gulong
  private let chances: Chances

  /// How many packets have been dropped.
  var count: Int { chances.count }

  /// - Parameters:
  ///   - pipeline: has a webrtcbin that is connected; nil is the result where it is not.
  ///   - interval: of so many packets one is dropped, by chance, and always by the same chances.
  init?(in pipeline: Element, ofOneIn interval: Int) {
    let elements = collectObjects(gst_bin_iterate_recurse(pipeline.asBin), as: GstElement.self)
    defer { for element in elements { gst_object_unref(element) } }
    guard let source = elements.first(where: { String(taking: pipsink_webrtc_factory_name($0)) == "nicesrc" }),
      let pad = gst_element_get_static_pad(source, "src")
    else { return nil }
    self.pad = pad
    chances = Chances(interval)
    probe = gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      { _, _, chances in
        let isLost = chances.map { Unmanaged<Chances>.fromOpaque($0).takeUnretainedValue().isNextLost() } ?? false
        return isLost ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(chances).toOpaque(),
      { $0.map { Unmanaged<Chances>.fromOpaque($0).release() } })
  }

  deinit { gst_object_unref(pad) }

  func end() { gst_pad_remove_probe(pad, probe) }

  /// How many packets have come because the jitter buffers of a connection have asked for them again.
  static func repairedCount(in pipeline: Element) -> UInt64 { count("rtx-success-count", in: pipeline) }

  /// How many packets the jitter buffers of a connection have given up.
  static func lostCount(in pipeline: Element) -> UInt64 { count("num-lost", in: pipeline) }

  private static func count(_ name: String, in pipeline: Element) -> UInt64 {
    let elements = collectObjects(gst_bin_iterate_recurse(pipeline.asBin), as: GstElement.self)
    defer { for element in elements { gst_object_unref(element) } }
    return elements.filter { String(taking: pipsink_webrtc_factory_name($0)) == "rtpjitterbuffer" }
      .reduce(0) { sum, buffer in
        sum
          + buffer.property("stats") { value in
            var count: guint64 = 0
            gst_structure_get_uint64(gst_value_get_structure(&value), name, &count)
            return UInt64(count)
          }
      }
  }

  private final class Chances: Sendable {
    private let interval: Int
    private let state = Locked((generator: SeededGenerator(seed: 1), count: 0))

    init(_ interval: Int) { self.interval = interval }

    var count: Int { state.withLock { $0.count } }

    func isNextLost() -> Bool {
      state.withLock { state in
        let isLost = Int.random(in: 0..<interval, using: &state.generator) == 0
        if isLost { state.count += 1 }
        return isLost
      }
    }
  }
}
