import CGStreamer
import PipSink
import Synchronization

/// An element as the main actor knows it: not kept alive by that.
///
/// `@unchecked Sendable`: a GWeakRef may be used from every thread.
final class ElementReference: @unchecked Sendable {
  private static let count = Atomic<UInt64>(0)

  /// How many elements had been made when this one was: in a pipeline from a description, its place there.
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

  /// Calls `body` while the element lives; does nothing when it has gone.
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

  func notify(_ property: String) {
    use { g_object_notify(UnsafeMutableRawPointer($0).assumingMemoryBound(to: GObject.self), property) }
  }

  /// Whether the application, or what it has bound a property to, hears of the property's changes.
  func isNotifying(_ property: String) -> Bool {
    // GObject's number among GLib's fundamental types.
    let signal = g_signal_lookup("notify", GType(20 << 2))
    return use { g_signal_has_handler_pending($0, signal, g_quark_from_string(property), 0) != 0 } ?? false
  }

  /// Asks the application to pause its pipeline, or to play it.
  func request(_ state: GstState) {
    use { element in
      let object = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstObject.self)
      gst_element_post_message(element, gst_message_new_request_state(object, state))
    }
  }

  /// Posts an error on the bus, which ends the pipeline, or a warning.
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
