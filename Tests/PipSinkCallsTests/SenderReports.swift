import CGStreamer
import CWebRTC

@testable import PipSink
@testable import PipSinkCalls

/// Counts the sender's reports (RTCP SR) by which GStreamer shows the pictures of a connection with their sound. It makes
/// nothing of those in which the times do not fit the packets.
final class SenderReports: Sendable {
  private let counts = Locked<[Int]>([])

  /// The numbers of useful reports, for each stream.
  var usefulCounts: [Int] { counts.withLock { $0 } }

  init(in pipeline: Element) {
    let elements = collectObjects(gst_bin_iterate_recurse(pipeline.asBin), as: GstElement.self)
    defer { for element in elements { gst_object_unref(element) } }
    let added: @convention(c) (Element, UnsafePointer<GstStructure>, UnsafeMutableRawPointer) -> Void = {
      _, report, box in
      ClosureBox<UnsafePointer<GstStructure>>.borrow(box)?.body(report)
    }
    for buffer in elements where String(taking: pipsink_webrtc_factory_name(buffer)) == "rtpjitterbuffer" {
      let index = counts.withLock { counts in
        counts.append(0)
        return counts.count - 1
      }
      let box = ClosureBox<UnsafePointer<GstStructure>> { [counts] report in
        var time: guint64 = 0
        guard gst_structure_get_uint64(report, "sr-ext-rtptime", &time) != 0, time != .max else { return }
        counts.withLock { $0[index] += 1 }
      }
      g_signal_connect_data(
        buffer, "handle-sync", unsafeBitCast(added, to: GCallback.self), box.retained(),
        { box, _ in ClosureBox<UnsafePointer<GstStructure>>.take(box) }, GConnectFlags(rawValue: 0))
    }
  }
}
