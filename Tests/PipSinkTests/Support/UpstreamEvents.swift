import CGStreamer

@testable import PipSink
@testable import TestSupport

/// The upstream events of PipSink that pass a pad: "pipsink-demand WIDTHxHEIGHT", and requests for keyframes.
final class UpstreamEvents: Sendable {
  private let events = Locked<[String]>([])

  /// - Parameter pad: keeps a reference to this object.
  init(at pad: UnsafeMutablePointer<GstPad>) {
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
      { _, info, context in
        let event = info?.pointee.data?.assumingMemoryBound(to: GstEvent.self)
        if let event, let structure = gst_event_get_structure(event), let context {
          Unmanaged<UpstreamEvents>.fromOpaque(context).takeUnretainedValue().note(structure)
        }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(self).toOpaque(),
      { context in if let context { Unmanaged<UpstreamEvents>.fromOpaque(context).release() } })
  }

  private func note(_ structure: UnsafePointer<GstStructure>) {
    let name = String(cString: gst_structure_get_name(structure))
    var (width, height): (gint, gint) = (-1, -1)
    gst_structure_get_int(structure, "width", &width)
    gst_structure_get_int(structure, "height", &height)
    events.withLock { $0.append(name == "pipsink-demand" ? "\(name) \(width)x\(height)" : name) }
  }

  /// The demands so far, as "WIDTHxHEIGHT".
  var demands: [String] {
    events.withLock { $0 }.filter { $0.hasPrefix("pipsink-demand ") }.map { String($0.dropFirst(15)) }
  }

  /// The number of requests for a keyframe so far.
  var keyframeRequestCount: Int { events.withLock { $0.count { $0 == "GstForceKeyUnit" } } }
}
