import CGStreamer

/// What GStreamer offers on this machine. All of it can be asked from any thread.
package enum ElementInspection {
  /// Whether an installed plugin has an element with this factory name.
  package static func exists(_ factory: String) -> Bool {
    guard (try? PipSink.initialize()) != nil, let found = gst_element_factory_find(factory) else { return false }
    gst_object_unref(UnsafeMutableRawPointer(found))
    return true
  }

  /// The factory names of the video decoders that say that they work in hardware, highest rank first.
  package static var hardwareVideoDecoders: [String] {
    guard (try? PipSink.initialize()) != nil else { return [] }
    // This is GST_ELEMENT_FACTORY_TYPE_DECODER with the media type video. Both are macros with casts, which Swift does
    // not import.
    let type: GstElementFactoryListType = 1 << 0 | 1 << 49
    let list = gst_element_factory_list_get_elements(type, GST_RANK_NONE)
    defer { gst_plugin_feature_list_free(list) }
    var found: [(name: String, rank: UInt32)] = []
    var node = list
    while let link = node {
      node = link.pointee.next
      guard let data = link.pointee.data else { continue }
      let factory = OpaquePointer(data)
      guard let klass = gst_element_factory_get_metadata(factory, GST_ELEMENT_METADATA_KLASS),
        String(cString: klass).contains("Hardware")
      else { continue }
      let name = data.assumingMemoryBound(to: GstObject.self).objectName
      found.append((name, gst_plugin_feature_get_rank(factory)))
    }
    return found.sorted { ($1.rank, $0.name) < ($0.rank, $1.name) }.map(\.name)
  }
}
