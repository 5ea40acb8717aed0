import CGStreamer

/// What is known of a stream that delivers no frames.
extension Pipeline {
  /// Whether a stream's source may send nothing for any time: files, whose pictures may be far apart, and WebRTC. Other
  /// sources than those of the network may, too, where their frame rate is variable, as that of a shared screen is.
  func maySendNothing(_ stream: Stream, hasVariableRate: Bool = false) -> Bool {
    let elements = upstreamElements(of: stream.sink)
    if elements.contains(where: { $0.kinds.contains("WebRTC") }) { return true }
    return elements.flatMap(\.sourceKinds).maySendNothing(hasVariableRate)
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

  /// Whether the element is a part of an element for WebRTC.
  fileprivate var isInWebRTC: Bool {
    if kinds.contains("WebRTC") { return true }
    guard let parent = gst_object_get_parent(asObject) else { return false }
    defer { gst_object_unref(parent) }
    return gobjectIsA(parent, gst_element_get_type())
      && UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GstElement.self).isInWebRTC
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

extension [Set<Substring>] {
  /// Whether sources whose classes have these words may send nothing for any time.
  fileprivate func maySendNothing(_ hasVariableRate: Bool) -> Bool {
    !isEmpty && allSatisfy { $0.contains("File") || hasVariableRate && !$0.contains("Network") }
  }
}

extension UnsafeMutablePointer where Pointee == GstPad {
  /// Whether a frame is being handled at this sink pad, as while it waits for its time. The streaming thread has the
  /// pad's lock until then.
  var isOccupied: Bool {
    guard g_rec_mutex_trylock(&pointee.stream_rec_lock) != 0 else { return true }
    g_rec_mutex_unlock(&pointee.stream_rec_lock)
    return false
  }

  /// Whether nothing arrives at this sink pad of a pipeline that belongs to somebody else, although nothing is wrong: a
  /// frame waits for its time, the pipeline does not play, or the sources may send nothing, as those of
  /// ``Pipeline/maySendNothing(_:hasVariableRate:)`` may. A peer by WebRTC may not, because only its silence tells that
  /// it has gone. Of sources that are not known, nothing is expected.
  func mayGetNothing(hasVariableRate: Bool) -> Bool {
    guard !isOccupied, let element = gst_pad_get_parent_element(self) else { return true }
    defer { gst_object_unref(element) }
    guard element.pointee.current_state == GST_STATE_PLAYING else { return true }
    var sources: [Set<Substring>] = []
    var isInWebRTC = false
    gst_object_ref(self)
    goUpstream(from: [self]) { element, inputs in
      if element.isInWebRTC { isInWebRTC = true } else if inputs.isEmpty { sources.append(element.kinds) }
      return !isInWebRTC
    }
    return !isInWebRTC && (sources.isEmpty || sources.maySendNothing(hasVariableRate))
  }
}
