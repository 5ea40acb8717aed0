import CGStreamer
import CWebRTC
import Foundation

@testable import PipSink
@testable import PipSinkCalls
@testable import TestSupport

/// Drops some of the packets that come from the network, until it is ended.
///
/// `@unchecked Sendable`: the pointer is constant, and GStreamer's pads may be used from every thread.
final class PacketLoss: @unchecked Sendable {
  private let pad: UnsafeMutablePointer<GstPad>
  private let probe: gulong
  private let network: Network

  /// How many packets have been dropped.
  var count: Int { network.state.withLock { $0.lostCount } }

  /// - Parameters:
  ///   - pipeline: has a webrtcbin that is connected; nil is the result where it is not.
  ///   - interval: of so many packets one is dropped, by chance, and always by the same chances.
  convenience init?(in pipeline: Element, ofOneIn interval: Int) {
    self.init(in: pipeline, Network(loses: interval, bitRate: .infinity, hasQueue: false))
  }

  /// Lets through what a network carries. It makes up for half a second in which less came.
  ///
  /// - Parameter hasQueue: whether what is more waits, for however long, and is not dropped.
  convenience init?(in pipeline: Element, above bitRate: Double, hasQueue: Bool) {
    self.init(in: pipeline, Network(loses: .max, bitRate: bitRate, hasQueue: hasQueue))
  }

  private init?(in pipeline: Element, _ network: Network) {
    let elements = collectObjects(gst_bin_iterate_recurse(pipeline.asBin), as: GstElement.self)
    defer { for element in elements { gst_object_unref(element) } }
    guard let source = elements.first(where: { String(taking: pipsink_webrtc_factory_name($0)) == "nicesrc" }),
      let pad = gst_element_get_static_pad(source, "src")
    else { return nil }
    self.pad = pad
    self.network = network
    probe = gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_BUFFER,
      { _, info, network in
        guard let network, let buffer = info.flatMap(gst_pad_probe_info_get_buffer) else { return GST_PAD_PROBE_OK }
        let isLost = Unmanaged<Network>.fromOpaque(network).takeUnretainedValue().loses(
          Int(gst_buffer_get_size(buffer)))
        return isLost ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(network).toOpaque(),
      { $0.map { Unmanaged<Network>.fromOpaque($0).release() } })
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

  private final class Network: Sendable {
    struct State {
      var generator = SeededGenerator(seed: 1)
      var lostCount = 0
      /// How many bits may come now, and since when.
      var (free, since) = (0.0, MonotonicTime.now)
    }

    private let interval: Int
    private let bitRate: Double
    private let hasQueue: Bool
    let state = Locked(State())

    init(loses interval: Int, bitRate: Double, hasQueue: Bool) {
      (self.interval, self.bitRate, self.hasQueue) = (interval, bitRate, hasQueue)
    }

    /// Whether the next packet is lost. It returns when the network has carried it.
    func loses(_ byteCount: Int) -> Bool {
      let bits = Double(byteCount * 8)
      let (isLost, wait) = state.withLock { state -> (Bool, Double) in
        guard bitRate.isFinite else {
          return (Int.random(in: 0..<interval, using: &state.generator) == 0, 0)
        }
        let now = MonotonicTime.now
        state.free = min(bitRate / 2, state.free + bitRate * (state.since.duration(to: now) / .seconds(1)))
        state.since = now
        guard state.free < bits else {
          state.free -= bits
          return (false, 0)
        }
        guard hasQueue else { return (true, 0) }
        state.free -= bits
        return (false, -state.free / bitRate)
      }
      if isLost { state.withLock { $0.lostCount += 1 } }
      if wait > 0 { Thread.sleep(forTimeInterval: wait) }
      return isLost
    }
  }
}
