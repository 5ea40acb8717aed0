import CGStreamer
import Synchronization

/// Decoders of streams that nobody sees stand still.
extension PipelineRun {
  /// Closes the way to the decoders of suspended streams alone, and opens it to all others. A stream gets its first
  /// picture in any case.
  func updateDecoding() {
    gates.withLock { gates in
      let suspended = pipeline.streams.filter { stream in
        status.isSuspended(stream.id) && flows[stream.id]?.delivered.load(ordering: .relaxed) ?? 0 > 0
      }
      guard !suspended.isEmpty || !gates.isEmpty else { return }
      let wanted = pads(feedingOnly: suspended)
      defer { for pad in wanted.keys { gst_object_unref(pad) } }
      for (pad, gate) in gates where wanted[pad] == nil {
        gate.open(on: pad)
        gates[pad] = nil
        gst_object_unref(pad)
      }
      for (pad, flows) in wanted where gates[pad] == nil {
        gst_object_ref(pad)
        gates[pad] = DecodingGate(on: pad, flows: flows, clock: clock)
      }
      let withheld = wanted.values.flatMap(\.self)
      for (id, flow) in flows { status.setDecodingSuspended(withheld.contains { $0 === flow }, of: id) }
    }
  }

  /// The decoders' pads that no other stream needs, with references, and whom they feed.
  private func pads(feedingOnly suspended: [Pipeline.Stream]) -> [UnsafeMutablePointer<GstPad>: [StreamFlow]] {
    var found: [UnsafeMutablePointer<GstPad>: [StreamFlow]] = [:]
    guard !suspended.isEmpty else { return found }
    var shared: Set<UnsafeMutablePointer<GstPad>> = []
    for stream in pipeline.streams {
      let isSuspended = suspended.contains { $0.id == stream.id }
      for pad in pipeline.decoderPads(of: stream) {
        if !isSuspended { shared.insert(pad) }
        if let flow = flows[stream.id], found.updateValue((found[pad] ?? []) + [flow], forKey: pad) != nil {
          gst_object_unref(pad)
        }
      }
    }
    for pad in shared {
      found[pad] = nil
      gst_object_unref(pad)
    }
    return found
  }
}
