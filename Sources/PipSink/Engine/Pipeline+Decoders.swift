import CGStreamer

/// Which video decoders feed which streams.
extension Pipeline {
  /// The sink pads of the video decoders nearest to a stream's appsink, each with a reference that the caller gives back.
  func decoderPads(of stream: Stream) -> [UnsafeMutablePointer<GstPad>] {
    var decoders: [UnsafeMutablePointer<GstPad>] = []
    var seen: Set<UnsafeMutablePointer<GstPad>> = []
    // References, until they are given back below.
    var open = collectObjects(gst_element_iterate_sink_pads(stream.sink), as: GstPad.self)
    while let sinkPad = open.popLast() {
      defer { gst_object_unref(sinkPad) }
      guard seen.insert(sinkPad).inserted, let source = Self.elementPad(feeding: sinkPad) else { continue }
      defer { gst_object_unref(source) }
      guard let element = gst_pad_get_parent_element(source) else { continue }
      defer { gst_object_unref(element) }
      let inputs = collectObjects(gst_pad_iterate_internal_links(source), as: GstPad.self)
      if element.isVideoDecoder { decoders += inputs } else { open += inputs }
    }
    return decoders
  }

  /// The element's pad that a sink pad is linked to, across the borders of bins; with a reference.
  private static func elementPad(
    feeding sinkPad: UnsafeMutablePointer<GstPad>
  ) -> UnsafeMutablePointer<GstPad>? {
    var next = gst_pad_get_peer(sinkPad)
    while let pad = next {
      let pointer = UnsafeMutableRawPointer(pad)
      if gobjectIsA(pointer, gst_ghost_pad_get_type()) {
        // Into a bin: what stands for its inner pad.
        next = gst_ghost_pad_get_target(pointer.assumingMemoryBound(to: GstGhostPad.self))
      } else if gobjectIsA(pointer, gst_proxy_pad_get_type()) {
        // Out of a bin: the inner side of the bin's own sink pad.
        let outer = gst_proxy_pad_get_internal(pointer.assumingMemoryBound(to: GstProxyPad.self))
        next = outer.flatMap {
          gst_pad_get_peer(UnsafeMutableRawPointer($0).assumingMemoryBound(to: GstPad.self))
        }
        if let outer { gst_object_unref(outer) }
      } else {
        return pad
      }
      gst_object_unref(pad)
    }
    return nil
  }
}

extension Pipeline {
  /// Whether an element, also one inside of another, says that it is of all these kinds.
  func hasElement(ofKinds kinds: Set<Substring>) -> Bool {
    let elements = collectObjects(gst_bin_iterate_recurse(element.asBin), as: GstElement.self)
    defer { for element in elements { gst_object_unref(element) } }
    return elements.contains { $0.kinds.isSuperset(of: kinds) }
  }
}

extension UnsafeMutablePointer where Pointee == GstElement {
  /// The words of its class: "Codec", "Decoder", "Video".
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
