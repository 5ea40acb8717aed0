import CGStreamer

/// What is known of a stream that delivers no frames.
extension Pipeline {
  /// Whether a stream's source may send nothing for any time: files, whose pictures may be far apart, and WebRTC. Other
  /// sources than those of the network may, too, where their frame rate is variable, as that of a shared screen is.
  func maySendNothing(_ stream: Stream, hasVariableRate: Bool = false) -> Bool {
    let elements = upstreamElements(of: stream.sink)
    if elements.contains(where: { $0.kinds.contains("WebRTC") }) { return true }
    let sources = elements.flatMap(\.sourceKinds)
    return !sources.isEmpty && sources.allSatisfy { $0.contains("File") || hasVariableRate && !$0.contains("Network") }
  }

  /// The pipeline's sinks, also in bins, that are no stream's. The caller owns a reference to each.
  var otherSinks: [GstElementPointer] {
    collectObjects(gst_bin_iterate_recurse(element.asBin), as: GstElement.self).filter { element in
      let isOther = element.isA(gst_base_sink_get_type()) && !streams.contains { $0.sink == element }
      if !isOther { gst_object_unref(element) }
      return isOther
    }
  }

  /// The number of buffers that sinks have rendered which have a source in common with a stream.
  func renderedCount(of sinks: [GstElementPointer], sharingTheSourceOf stream: Stream) -> UInt64 {
    guard !sinks.isEmpty else { return 0 }
    let own = upstreamElements(of: stream.sink)
    return sinks.filter { !own.isDisjoint(with: upstreamElements(of: $0)) }.reduce(0) { $0 &+ $1.renderedCount }
  }
}

extension UnsafeMutablePointer where Pointee == GstElement {
  /// The words of the classes of the sources that the element is or contains.
  fileprivate var sourceKinds: [Set<Substring>] {
    let isBin = isA(gst_bin_get_type())
    let all = isBin ? withObjects(gst_bin_iterate_recurse(asBin), as: GstElement.self) { $0.map(\.kinds) } : [kinds]
    return all.filter { $0.contains("Source") && !$0.contains("Bin") }
  }

  fileprivate var renderedCount: UInt64 {
    let sink = UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstBaseSink.self)
    guard let statistics = gst_base_sink_get_stats(sink) else { return 0 }
    defer { gst_structure_free(statistics) }
    var count: guint64 = 0
    gst_structure_get_uint64(statistics, "rendered", &count)
    return UInt64(count)
  }
}
