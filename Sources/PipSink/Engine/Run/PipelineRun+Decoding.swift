import CGStreamer
import Synchronization

/// Suspending the decoders of hidden streams.
extension PipelineRun {
  /// Closes the gates in front of decoders that only hidden streams need, and opens all others. A stream that has not
  /// delivered its first frame is not suspended.
  func updateDecoding() {
    sendDemand()
    requestKeyframes()
    let open = gates.withLock { gates -> (() -> Void)? in
      let suspended = pipeline.streams.filter { stream in
        engine.state.withLock({ $0.isSuspended(stream.id) }) && stream.flow.delivered.load(ordering: .relaxed) > 0
      }
      guard !suspended.isEmpty || !gates.isEmpty else { return nil }
      let ids = Set(suspended.map(\.id))
      let paths = ids.isEmpty ? [] : pipeline.streams.map { (stream: $0, pads: pipeline.decoderPads(of: $0)) }
      defer { for pad in paths.flatMap(\.pads) { gst_object_unref(pad) } }
      let shared = Set(paths.filter { !ids.contains($0.stream.id) }.flatMap(\.pads))
      // The pads of decoders that no visible stream needs, with the flows of the streams that they feed.
      var wanted: [UnsafeMutablePointer<GstPad>: [StreamFlow]] = [:]
      for path in paths where ids.contains(path.stream.id) {
        for pad in path.pads where !shared.contains(pad) { wanted[pad, default: []].append(path.stream.flow) }
      }
      let open = gates.update(wanted, clock: clock)
      let withheld = wanted.values.flatMap(\.self)
      for stream in pipeline.streams {
        let isWithheld = withheld.contains { $0 === stream.flow }
        report { $0.setDecodingSuspended(isWithheld, of: stream.id) }
      }
      return open
    }
    open?()
  }

  /// Begins to request keyframes for streams that are frozen, and ends that for all others.
  private func requestKeyframes() {
    for stream in pipeline.streams {
      let pads = engine.info(of: stream.id)?.isFrozen == true ? pipeline.decoderPads(of: stream) : []
      defer { for pad in pads { gst_object_unref(pad) } }
      stream.keyframeRequests.update(pads)
    }
  }

  /// Tells the elements before each sink how large the stream's pictures have to be, where that has changed.
  private func sendDemand() {
    for stream in pipeline.streams {
      guard let demand = engine.info(of: stream.id)?.demand else { continue }
      let isNew = toldDemands.withLock { $0.updateValue(demand, forKey: stream.id) ?? .hidden } != demand
      if isNew { stream.sink.withSinkPads { for pad in $0 { gst_pad_push_event(pad, demand.makeEvent()) } } }
    }
  }
}

/// The gates in front of suspended decoders, by their sink pads, to each of which there is a reference.
struct DecodingGates {
  private var gates: [UnsafeMutablePointer<GstPad>: DecodingGate] = [:]

  var isEmpty: Bool { gates.isEmpty }
  var count: Int { gates.count }

  /// Closes gates in front of the decoders that are wanted.
  ///
  /// - Parameter wanted: the sink pads of the decoders to suspend, with the flows of the streams that they feed.
  /// - Returns: opens all other gates. It has to be called once, and without a lock, since elements may block in the
  ///   request for a keyframe.
  mutating func update(
    _ wanted: [UnsafeMutablePointer<GstPad>: [StreamFlow]], clock: SchedulingClock
  ) -> () -> Void {
    let opening = gates.filter { wanted[$0.key] == nil }
    for pad in opening.keys { gates[pad] = nil }
    for (pad, flows) in wanted where gates[pad] == nil {
      gst_object_ref(pad)
      gates[pad] = DecodingGate(on: pad, flows: flows, clock: clock)
    }
    return {
      for (pad, gate) in opening {
        gate.open(on: pad)
        gst_object_unref(pad)
      }
    }
  }

  /// Forgets all gates, when their pipeline is gone.
  func forget() { for pad in gates.keys { gst_object_unref(pad) } }
}
