import CGStreamer

/// The video decoders that feed a pipeline's streams.
extension Pipeline {
  /// The sink pads of the video decoders nearest to a stream's sink. The caller owns a reference to each.
  func decoderPads(of stream: Stream) -> [UnsafeMutablePointer<GstPad>] {
    let sinkPads = collectObjects(gst_element_iterate_sink_pads(stream.sink), as: GstPad.self)
    return DecoderPath(before: sinkPads).pads
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

/// The way from a stream's sink up to the video decoders nearest to it.
struct DecoderPath {
  /// The sink pads of the decoders. The owner of the path releases them.
  var pads: [UnsafeMutablePointer<GstPad>] = []
  /// The name of the first element found that passes what the decoders make to somebody else, too.
  var branch: String?

  /// Makes an empty path.
  init() {}

  /// Goes upstream from sink pads, which it releases.
  init(before sinkPads: [UnsafeMutablePointer<GstPad>]) {
    goUpstream(from: sinkPads) { element, inputs in
      guard !element.isVideoDecoder else {
        for pad in inputs { gst_object_ref(pad) }
        pads += inputs
        return false
      }
      if branch == nil, inputs.contains(where: \.feedsSeveral) { branch = element.elementName }
      return true
    }
  }

  /// Why the decoders cannot be suspended for the stream alone; nil when they can.
  var refusal: String? {
    if let branch { return "the element \"\(branch)\" passes the stream's pictures to others, too" }
    return pads.isEmpty ? "there is no video decoder before the stream's sink" : nil
  }

  func release() { for pad in pads { gst_object_unref(pad) } }
}

extension UnsafeMutablePointer where Pointee == GstPad {
  /// The way from this sink pad up to the video decoders nearest to it.
  var decoderPath: DecoderPath {
    gst_object_ref(self)
    return DecoderPath(before: [self])
  }

  /// Whether what arrives at this sink pad leaves the element through several pads that are linked.
  fileprivate var feedsSeveral: Bool {
    withObjects(gst_pad_iterate_internal_links(self), as: GstPad.self) { $0.count { gst_pad_is_linked($0) != 0 } > 1 }
  }
}
