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

  /// Calls `body` with the element's sink pads, which it borrows.
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
  var objectName: String { String(taking: gst_object_get_name(self)) ?? "" }

  /// Whether it is an element or anything in it.
  func isInside(_ element: GstElementPointer) -> Bool {
    self == element.asObject || gst_object_has_as_ancestor(self, element.asObject) != 0
  }
}

extension String {
  /// Text that a C function has made for its caller, by malloc or GLib's own (the same since GLib 2.46); freed here.
  package init?(taking text: UnsafeMutablePointer<CChar>?) {
    guard let text else { return nil }
    defer { g_free(text) }
    self.init(cString: text)
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

/// Calls `body` with the objects of a GstIterator, which it borrows. Frees the iterator.
func withObjects<Object, Result>(
  _ iterator: UnsafeMutablePointer<GstIterator>?, as type: Object.Type,
  _ body: ([UnsafeMutablePointer<Object>]) -> Result
) -> Result {
  let objects = collectObjects(iterator, as: type)
  defer { for object in objects { gst_object_unref(object) } }
  return body(objects)
}

/// Caps as GStreamer writes them, cut where they get too long for a message.
func shortDescription(of caps: UnsafeMutablePointer<GstCaps>, limit: Int = 160) -> String {
  let string = String(taking: gst_caps_to_string(caps)) ?? "no caps"
  return string.count > limit ? string.prefix(limit) + "…" : string
}

/// What PipSink tells itself by a pipeline's bus, so that it comes in its place among what elements say.
enum BusNote: String {
  /// From a stream's sink, behind any error that caused the end. GStreamer itself posts an end for the pipeline only,
  /// after the last stream's.
  case streamEnded = "pipsink-stream-ended"
  /// From a stream's sink, which cannot take what it gets.
  case streamRefused = "pipsink-stream-refused"
  /// From an element whose `mute` has changed.
  case muteChanged = "pipsink-mute-changed"
  /// There is work for whoever waits for messages.
  case work = "pipsink-work"

  func message(from source: UnsafeMutablePointer<GstObject>? = nil) -> UnsafeMutablePointer<GstMessage>? {
    gst_message_new_application(source, gst_structure_new_empty(rawValue))
  }

  func post(from element: GstElementPointer) { gst_element_post_message(element, message(from: element.asObject)) }

  func isIn(_ message: UnsafeMutablePointer<GstMessage>) -> Bool { gst_message_has_name(message, rawValue) != 0 }
}

extension GstEventType {
  /// Whether events of this type come between the buffers, on the streaming thread (under the pad's stream lock).
  package var isSerialized: Bool { rawValue & GST_EVENT_TYPE_SERIALIZED.rawValue != 0 }
}

package enum GObjectTypeName {
  /// `name`, or that with a number. A process may hold PipSink twice, once linked and once in the plugin, and the names
  /// of GObject types are the process's.
  package static func unused(_ name: String) -> String {
    guard g_type_from_name(name) != 0 else { return name }
    var number = 2
    while g_type_from_name("\(name)\(number)") != 0 { number += 1 }
    return "\(name)\(number)"
  }
}
