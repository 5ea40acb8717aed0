import CGStreamer

/// The video decoders that feed a pipeline's streams.
extension Pipeline {
  /// The sink pads of the video decoders nearest to a stream's sink. The caller owns a reference to each.
  func decoderPads(of stream: Stream) -> [UnsafeMutablePointer<GstPad>] {
    var decoders: [UnsafeMutablePointer<GstPad>] = []
    var seen: Set<UnsafeMutablePointer<GstPad>> = []
    // The pads in this list are owned, and released below.
    var open = collectObjects(gst_element_iterate_sink_pads(stream.sink), as: GstPad.self)
    while let sinkPad = open.popLast() {
      defer { gst_object_unref(sinkPad) }
      guard seen.insert(sinkPad).inserted, let source = gst_pad_get_peer(sinkPad) else { continue }
      defer { gst_object_unref(source) }
      let inputs = collectObjects(gst_pad_iterate_internal_links(source), as: GstPad.self)
      // The path goes into and out of a bin through a pair of proxy pads, which have internal links as an element has.
      if !gobjectIsA(source, gst_proxy_pad_get_type()), let element = gst_pad_get_parent_element(source) {
        defer { gst_object_unref(element) }
        if element.isVideoDecoder {
          decoders += inputs
          continue
        }
      }
      open += inputs
    }
    return decoders
  }

  /// Whether the pipeline contains an element, possibly in a bin, whose class has all of these words.
  func hasElement(ofKinds kinds: Set<Substring>) -> Bool {
    withObjects(gst_bin_iterate_recurse(element.asBin), as: GstElement.self) { elements in
      elements.contains { $0.kinds.isSuperset(of: kinds) }
    }
  }
}

extension UnsafeMutablePointer where Pointee == GstElement {
  /// The words of the class in the element's metadata, for instance "Codec", "Decoder" and "Video".
  var kinds: Set<Substring> {
    guard let factory = gst_element_get_factory(self),
      let text = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS)
    else { return [] }
    return Set(String(cString: text).split(separator: "/"))
  }

  fileprivate var isVideoDecoder: Bool {
    let kinds = kinds
    return kinds.contains("Decoder") && (kinds.contains("Video") || kinds.contains("Image"))
  }
}
