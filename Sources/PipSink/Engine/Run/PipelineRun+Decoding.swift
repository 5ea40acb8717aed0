import CGStreamer
import Synchronization

/// Suspending the decoders of hidden streams.
extension PipelineRun {
  /// Closes the gates in front of decoders that only hidden streams need, and opens all others. A stream that has not
  /// delivered its first frame is not suspended.
  func updateDecoding() {
    gates.withLock { gates in
      let suspended = pipeline.streams.filter { stream in
        engine.state.withLock({ $0.isSuspended(stream.id) }) && stream.flow.delivered.load(ordering: .relaxed) > 0
      }
      guard !suspended.isEmpty || !gates.isEmpty else { return }
      let ids = Set(suspended.map(\.id))
      let paths = ids.isEmpty ? [] : pipeline.streams.map { (stream: $0, pads: pipeline.decoderPads(of: $0)) }
      defer { for pad in paths.flatMap(\.pads) { gst_object_unref(pad) } }
      let shared = Set(paths.filter { !ids.contains($0.stream.id) }.flatMap(\.pads))
      // The pads of decoders that no visible stream needs, with the flows of the streams that they feed.
      var wanted: [UnsafeMutablePointer<GstPad>: [StreamFlow]] = [:]
      for path in paths where ids.contains(path.stream.id) {
        for pad in path.pads where !shared.contains(pad) { wanted[pad, default: []].append(path.stream.flow) }
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
        report { $0.setDecodingSuspended(isWithheld, of: stream.id) }
      }
    }
  }
}
