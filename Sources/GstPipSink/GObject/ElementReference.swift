import CGStreamer
import PipSink
import Synchronization

/// Tells the pipelines of elements apart. It keeps none of them alive.
struct PipelineIdentity: Hashable {
  /// The address of the outermost bin, which is only compared; nil when the element has been freed.
  let outermost: UnsafeMutableRawPointer?
}

/// A weak reference to an element.
///
/// `@unchecked Sendable`: a GWeakRef may be used from every thread.
final class ElementReference: @unchecked Sendable {
  private static let count = Atomic<UInt64>(0)

  /// The number of elements that were made before this one. In a pipeline from a description it gives the order in the
  /// description.
  let number = ElementReference.count.wrappingAdd(1, ordering: .relaxed).oldValue
  private let reference = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)

  init(_ element: UnsafeMutableRawPointer) {
    reference.initialize(to: GWeakRef())
    g_weak_ref_init(reference, element)
  }

  deinit {
    g_weak_ref_clear(reference)
    reference.deallocate()
  }

  /// Calls `body` with the element, which stays alive during the call. Does nothing when the element has been freed.
  @discardableResult
  func use<Result>(_ body: (UnsafeMutablePointer<GstElement>) -> Result) -> Result? {
    guard let object = g_weak_ref_get(reference) else { return nil }
    defer { gst_object_unref(object) }
    return body(object.assumingMemoryBound(to: GstElement.self))
  }

  var name: String {
    use { element in
      let name = gst_object_get_name(UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self))
      defer { g_free(name) }
      return name.map { String(cString: $0) } ?? ""
    } ?? ""
  }

  /// The outermost bin that the element is in, which is the application's pipeline; the element itself outside of bins.
  var pipeline: PipelineIdentity { PipelineIdentity(outermost: usePipeline { UnsafeMutableRawPointer($0) }) }

  /// Whether the application has set its pipeline to play, even if it does not play yet.
  var isToPlay: Bool { usePipeline { $0.pointee.target_state == GST_STATE_PLAYING } ?? false }

  private func usePipeline<Result>(_ body: (UnsafeMutablePointer<GstElement>) -> Result) -> Result? {
    use { element in
      var object = UnsafeMutableRawPointer(element)
      gst_object_ref(object)
      while let parent = gst_object_get_parent(object.assumingMemoryBound(to: GstObject.self)) {
        gst_object_unref(object)
        object = UnsafeMutableRawPointer(parent)
      }
      defer { gst_object_unref(object) }
      return body(object.assumingMemoryBound(to: GstElement.self))
    }
  }

  func notify(_ property: String) {
    use { g_object_notify(UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObject.self), property) }
  }

  /// Whether a handler is connected to changes of a property: one of the application, or a binding to the property.
  func isNotifying(_ property: String) -> Bool {
    let signal = g_signal_lookup("notify", PIPSINK_TYPE_OBJECT)
    return use { g_signal_has_handler_pending($0, signal, g_quark_from_string(property), 0) != 0 } ?? false
  }

  /// Asks the application to pause or to play its pipeline.
  func request(_ state: GstState) {
    use { element in
      let object = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self)
      gst_element_post_message(element, gst_message_new_request_state(object, state))
    }
  }

  /// Posts an error on the bus, on which applications end their pipeline, or a warning.
  func post(
    _ text: String, _ detail: String, code: GstResourceError = GST_RESOURCE_ERROR_FAILED, isWarning: Bool = false
  ) {
    use {
      // The message owns the texts.
      gst_element_message_full(
        $0, isWarning ? GST_MESSAGE_WARNING : GST_MESSAGE_ERROR, gst_resource_error_quark(), gint(code.rawValue),
        g_strdup(text), g_strdup(detail), #fileID, #function, #line)
    }
  }
}
