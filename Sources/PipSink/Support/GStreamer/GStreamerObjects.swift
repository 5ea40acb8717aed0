import CGStreamer

/// Small helpers for GStreamer's C objects.

typealias GstElementPointer = UnsafeMutablePointer<GstElement>

extension UnsafeMutablePointer where Pointee == GstElement {
  package var asObject: UnsafeMutablePointer<GstObject> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstObject.self)
  }

  package var asBin: UnsafeMutablePointer<GstBin> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstBin.self)
  }

  var elementName: String { asObject.objectName }

  /// Whether the element has source pads that appear only while it runs ("sometimes" pads).
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

  /// Whether the element is an instance of `type` or of a type derived from it.
  func isA(_ type: GType) -> Bool { gobjectIsA(self, type) }

  /// Calls `body` with the element's sink pads. They are borrowed for the time of the call.
  func withSinkPads<Result>(_ body: ([UnsafeMutablePointer<GstPad>]) -> Result) -> Result {
    withObjects(gst_element_iterate_sink_pads(self), as: GstPad.self, body)
  }
}

extension UnsafeMutablePointer where Pointee == GstPad {
  var asObject: UnsafeMutablePointer<GstObject> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstObject.self)
  }
}

extension UnsafeMutablePointer where Pointee == GstObject {
  package var objectName: String { String(taking: gst_object_get_name(self)) ?? "" }

  /// Whether the object is `element` itself or is contained in it.
  func isInside(_ element: GstElementPointer) -> Bool {
    self == element.asObject || gst_object_has_as_ancestor(self, element.asObject) != 0
  }
}

extension String {
  /// Copies a text that a C function has allocated for its caller, and frees it. The memory may come from malloc or
  /// from GLib, which have used the same allocator since GLib 2.46.
  package init?(taking text: UnsafeMutablePointer<CChar>?) {
    guard let text else { return nil }
    defer { g_free(text) }
    self.init(cString: text)
  }
}

/// Whether a GObject is an instance of `type` or of a type derived from it.
func gobjectIsA(_ object: UnsafeMutableRawPointer, _ type: GType) -> Bool {
  g_type_check_instance_is_a(object.assumingMemoryBound(to: GTypeInstance.self), type) != 0
}

/// Collects the objects of a GstIterator and frees the iterator. Each object comes with a reference that the caller has
/// to release. The collection starts over when the list changes meanwhile.
package func collectObjects<Object>(
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

/// Calls `body` with the objects of a GstIterator, which are borrowed for the time of the call, and frees the iterator.
func withObjects<Object, Result>(
  _ iterator: UnsafeMutablePointer<GstIterator>?, as type: Object.Type,
  _ body: ([UnsafeMutablePointer<Object>]) -> Result
) -> Result {
  let objects = collectObjects(iterator, as: type)
  defer { for object in objects { gst_object_unref(object) } }
  return body(objects)
}

/// Caps as GStreamer writes them, cut off after `limit` characters so that they fit into a message.
func shortDescription(of caps: UnsafeMutablePointer<GstCaps>, limit: Int = 160) -> String {
  let string = String(taking: gst_caps_to_string(caps)) ?? "no caps"
  return string.count > limit ? string.prefix(limit) + "…" : string
}

/// Messages that PipSink posts to itself on a pipeline's bus, so that they keep their order among the messages of
/// elements.
enum BusNote: String {
  /// A stream's sink posts it at the end of the stream, after any error that caused the end. GStreamer itself posts
  /// only one end for the whole pipeline, after the last stream's.
  case streamEnded = "pipsink-stream-ended"
  /// A stream's sink posts it when it cannot take the format that it is offered.
  case streamRefused = "pipsink-stream-refused"
  /// An element whose `mute` property has changed posts it.
  case muteChanged = "pipsink-mute-changed"

  /// Posts the message on the bus of the element's pipeline.
  func post(from element: GstElementPointer) {
    gst_element_post_message(
      element, gst_message_new_application(element.asObject, gst_structure_new_empty(rawValue)))
  }

  /// Whether a message is this note.
  func isIn(_ message: UnsafeMutablePointer<GstMessage>) -> Bool { gst_message_has_name(message, rawValue) != 0 }
}

extension GstEventType {
  /// Whether events of this type arrive between the buffers, on the streaming thread (with the pad's stream lock held).
  package var isSerialized: Bool { rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0 }
}

/// Names for GObject types that PipSink registers.
package enum GObjectTypeName {
  /// Returns `name`, with a number appended where that type is registered already. A process may contain PipSink twice,
  /// linked and in the plugin, and the names of GObject types are shared by the whole process.
  package static func unused(_ name: String) -> String {
    guard g_type_from_name(name) != 0 else { return name }
    var number = 2
    while g_type_from_name("\(name)\(number)") != 0 { number += 1 }
    return "\(name)\(number)"
  }
}

/// Goes upstream from sink pads, which it releases, from element to element and through bins.
///
/// - Parameter visit: called with each element, and with its sink pads from which the way goes on. They are borrowed for
///   the time of the call. It returns whether the way goes on.
func goUpstream(
  from sinkPads: [UnsafeMutablePointer<GstPad>],
  _ visit: (_ element: GstElementPointer, _ inputs: [UnsafeMutablePointer<GstPad>]) -> Bool
) {
  var seen: Set<UnsafeMutablePointer<GstPad>> = []
  // The pads in this list are owned.
  var open = sinkPads
  while let sinkPad = open.popLast() {
    defer { gst_object_unref(sinkPad) }
    guard seen.insert(sinkPad).inserted, let source = gst_pad_get_peer(sinkPad) else { continue }
    defer { gst_object_unref(source) }
    let inputs = collectObjects(gst_pad_iterate_internal_links(source), as: GstPad.self)
    // The way goes into and out of a bin through a pair of proxy pads, which have internal links as an element has.
    if !gobjectIsA(source, gst_proxy_pad_get_type()), let element = gst_pad_get_parent_element(source) {
      defer { gst_object_unref(element) }
      guard visit(element, inputs) else {
        for pad in inputs { gst_object_unref(pad) }
        continue
      }
    }
    open += inputs
  }
}
