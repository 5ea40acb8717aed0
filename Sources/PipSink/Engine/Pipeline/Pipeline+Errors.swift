import CGStreamer

/// The causes of a pipeline's failures.
extension Pipeline {
  /// The real cause of an error. GStreamer reports a missing decoder or incompatible caps as "Internal data stream
  /// error".
  func cause(
    of posted: PipSinkError, affected: [Stream], missingPlugins: [StreamID: [String]]
  ) -> PipSinkError {
    let missing = affected.flatMap { missingPlugins[$0.id] ?? [] }
    if !missing.isEmpty { return .pipeline(.missingElements(missing)) }
    guard case .pipeline(.elementFailed(_, _, let detail, _)) = posted, BusMessage.isNotNegotiated(detail) else {
      return posted
    }
    return affected.lazy.compactMap(misfit).first ?? posted
  }

  /// The names of elements `webrtcbin` that nobody has given the peer's description. They have no pads for its tracks.
  var peersWithoutDescription: [String] {
    withObjects(gst_bin_iterate_recurse(element.asBin), as: GstElement.self) { elements in
      elements.filter { element in
        let type = UnsafeMutableRawPointer(element).load(as: UnsafeMutablePointer<GTypeClass>.self).pointee.g_type
        guard type == g_type_from_name("GstWebRTCBin") else { return false }
        return element.property("remote-description") { g_value_get_boxed(&$0) } == nil
      }.map(\.elementName).sorted()
    }
  }

  /// The error of a stream whose sink accepts none of the caps that upstream offers; nil when it accepts some, and
  /// while nothing is linked yet, for instance because a decodebin has no pads.
  func misfit(of stream: Stream) -> PipSinkError? {
    guard let pad = gst_element_get_static_pad(stream.sink, "sink") else { return nil }
    defer { gst_object_unref(pad) }
    guard let offered = gst_pad_peer_query_caps(pad, nil) else { return nil }
    defer { gst_caps_unref(offered) }
    guard let allowed = gst_pad_query_caps(pad, nil) else { return nil }
    defer { gst_caps_unref(allowed) }
    guard gst_caps_can_intersect(offered, allowed) == 0 else { return nil }
    return .stream(.unsupportedCaps(streamID: stream.id, caps: shortDescription(of: offered)))
  }
}
