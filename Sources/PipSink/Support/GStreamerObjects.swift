import CGStreamer

/// Small helpers around GStreamer's C objects; internal to the engine.

typealias GstElementPointer = UnsafeMutablePointer<GstElement>

extension UnsafeMutablePointer where Pointee == GstElement {
  var asObject: UnsafeMutablePointer<GstObject> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstObject.self)
  }

  var asBin: UnsafeMutablePointer<GstBin> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstBin.self)
  }

  var elementName: String { asObject.objectName }

  /// Whether the element has source pads that come and go ("sometimes" pads).
  var addsSourcePadsLater: Bool {
    guard let factory = gst_element_get_factory(self) else { return false }
    var templates = gst_element_factory_get_static_pad_templates(factory)
    while let node = templates {
      if let template = node.pointee.data?.assumingMemoryBound(to: GstStaticPadTemplate.self),
        template.pointee.direction == GST_PAD_SRC, template.pointee.presence == GST_PAD_SOMETIMES
      {
        return true
      }
      templates = UnsafePointer(node.pointee.next)
    }
    return false
  }

  func isA(_ type: GType) -> Bool { gobjectIsA(self, type) }
}

extension UnsafeMutablePointer where Pointee == GstObject {
  var objectName: String {
    guard let name = gst_object_get_name(self) else { return "" }
    defer { g_free(name) }
    return String(cString: name)
  }
}

func gobjectIsA(_ object: UnsafeMutableRawPointer, _ type: GType) -> Bool {
  g_type_check_instance_is_a(object.assumingMemoryBound(to: GTypeInstance.self), type) != 0
}

/// The objects of a GstIterator, each with a reference of its own that the caller gives back. Starts over when the list
/// changes meanwhile. Frees the iterator.
func collectObjects<Object>(
  _ iterator: UnsafeMutablePointer<GstIterator>?, as type: Object.Type
) -> [UnsafeMutablePointer<Object>] {
  guard let iterator else { return [] }
  defer { gst_iterator_free(iterator) }
  var objects: [UnsafeMutablePointer<Object>] = []
  var item = GValue()
  defer { g_value_unset(&item) }
  while true {
    switch gst_iterator_next(iterator, &item) {
    case GST_ITERATOR_OK:
      if let object = g_value_dup_object(&item) { objects.append(object.assumingMemoryBound(to: Object.self)) }
      g_value_reset(&item)
    case GST_ITERATOR_RESYNC:
      for object in objects { gst_object_unref(object) }
      objects.removeAll()
      gst_iterator_resync(iterator)
    default:
      return objects
    }
  }
}

/// Caps as GStreamer writes them, cut where they get too long for a message.
func shortDescription(of caps: UnsafeMutablePointer<GstCaps>, limit: Int = 160) -> String {
  guard let text = gst_caps_to_string(caps) else { return "no caps" }
  defer { g_free(text) }
  let string = String(cString: text)
  return string.count > limit ? string.prefix(limit) + "…" : string
}

extension GstEventType {
  /// Whether events of this type come between the buffers, on the streaming thread (under the pad's stream lock).
  package var isSerialized: Bool { rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0 }
}
