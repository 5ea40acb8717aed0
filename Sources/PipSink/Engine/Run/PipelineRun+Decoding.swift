import CGStreamer
import Synchronization

/// Decoders of streams that nobody sees stand still.
extension PipelineRun {
  /// Closes the way to the decoders of suspended streams alone, and opens it to all others. A stream gets its first
  /// picture in any case.
  func updateDecoding() {
    gates.withLock { gates in
      let suspended = pipeline.streams.filter { stream in
        status.isSuspended(stream.id) && stream.flow.delivered.load(ordering: .relaxed) > 0
      }
      guard !suspended.isEmpty || !gates.isEmpty else { return }
      let ids = Set(suspended.map(\.id))
      let ways = ids.isEmpty ? [] : pipeline.streams.map { (stream: $0, pads: pipeline.decoderPads(of: $0)) }
      defer { for pad in ways.flatMap(\.pads) { gst_object_unref(pad) } }
      // The decoders' pads that no other stream needs, and whom they feed.
      let shared = Set(ways.filter { !ids.contains($0.stream.id) }.flatMap(\.pads))
      var wanted: [UnsafeMutablePointer<GstPad>: [StreamFlow]] = [:]
      for way in ways where ids.contains(way.stream.id) {
        for pad in way.pads where !shared.contains(pad) { wanted[pad, default: []].append(way.stream.flow) }
      }
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
      for stream in pipeline.streams {
        let isWithheld = withheld.contains { $0 === stream.flow }
        status.tell { $0.setDecodingSuspended(isWithheld, of: stream.id) }
      }
    }
  }
}
