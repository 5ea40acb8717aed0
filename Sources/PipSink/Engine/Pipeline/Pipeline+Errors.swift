import CGStreamer

/// What is wrong with a pipeline that failed.
extension Pipeline {
  /// The error that made a state change fail, with a reference to its element.
  func takeFirstError() -> (PipSinkError, UnsafeMutablePointer<GstObject>?) {
    let bus = gst_element_get_bus(element)
    defer { gst_object_unref(bus) }
    guard let message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR) else {
      return (.pipeline(.stateChangeFailed(pipeline: element.elementName)), nil)
    }
    defer { gst_message_unref(message) }
    let source = message.pointee.src
    if let source { gst_object_ref(source) }
    return (BusMessage.error(in: message, readsFiles: readsFiles), source)
  }

  /// GStreamer reports a decoder that is missing, or caps that do not fit, as "Internal data stream error"; this says
  /// what is wrong.
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

  /// That what upstream offers a stream has nothing in common with what its sink takes; nil where it has, or where
  /// nobody is there yet who offers something, as before a decodebin has its pads.
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
