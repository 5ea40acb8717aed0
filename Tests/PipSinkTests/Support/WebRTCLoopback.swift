import CGStreamer

@testable import PipSink

/// The signalling between two webrtcbins in one process: the messages that two apps would exchange through their
/// server.
enum WebRTCLoopback {
  typealias Element = UnsafeMutablePointer<GstElement>

  /// Connects the two elements and negotiates the media that the first one sends. Both elements must be running.
  static func connect(_ sender: Element, _ receiver: Element) {
    forwardCandidates(from: sender, to: receiver)
    forwardCandidates(from: receiver, to: sender)
    let offer = ask(sender, "create-offer", for: "offer")
    tell(sender, "set-local-description", offer)
    tell(receiver, "set-remote-description", offer)
    let answer = ask(receiver, "create-answer", for: "answer")
    tell(receiver, "set-local-description", answer)
    tell(sender, "set-remote-description", answer)
  }

  private static func forwardCandidates(from element: Element, to other: Element) {
    let handler: @convention(c) (Element, guint, UnsafePointer<gchar>, UnsafeMutableRawPointer) -> Void = {
      _, line, candidate, other in
      WebRTCLoopback.emit(
        other.assumingMemoryBound(to: GstElement.self), "add-ice-candidate",
        [{ g_value_set_uint($0, line) }, { g_value_set_string($0, candidate) }])
    }
    g_signal_connect_data(
      element, "on-ice-candidate", unsafeBitCast(handler, to: GCallback.self), gst_object_ref(other),
      { other, _ in gst_object_unref(other) }, GConnectFlags(rawValue: 0))
  }

  /// Asks an element for an offer or an answer, which describes what it sends and receives.
  private static func ask(_ element: Element, _ signal: String, for field: String) -> Description {
    let promise = gst_promise_new()
    defer { gst_promise_unref(promise) }
    emit(element, signal, [{ _ in }, { g_value_set_boxed($0, promise) }])
    gst_promise_wait(promise)
    return Description(gst_structure_get_value(gst_promise_get_reply(promise), field))
  }

  private static func tell(_ element: Element, _ signal: String, _ description: Description) {
    let promise = gst_promise_new()
    defer { gst_promise_unref(promise) }
    emit(element, signal, [{ g_value_copy(&description.value, $0) }, { g_value_set_boxed($0, promise) }])
    gst_promise_wait(promise)
  }

  /// Keeps a copy of a GValue.
  private final class Description {
    var value = GValue()

    init(_ other: UnsafePointer<GValue>?) {
      guard let other else { return }
      g_value_init(&value, other.pointee.g_type)
      g_value_copy(other, &value)
    }

    deinit {
      if value.g_type != 0 { g_value_unset(&value) }
    }
  }

  private static func emit(
    _ element: Element, _ signal: String, _ arguments: [(UnsafeMutablePointer<GValue>) -> Void]
  ) {
    let type = element.pointee.object.object.g_type_instance.g_class.pointee.g_type
    let id = g_signal_lookup(signal, type)
    var query = GSignalQuery()
    g_signal_query(id, &query)
    var values = [GValue](repeating: GValue(), count: arguments.count + 1)
    values.withUnsafeMutableBufferPointer { values in
      guard let first = values.baseAddress, Int(query.n_params) == arguments.count else { return }
      g_value_init(first, type)
      g_value_set_object(first, element)
      for (index, set) in arguments.enumerated() {
        // The lowest bit is a flag for an argument that is not copied.
        g_value_init(first + index + 1, query.param_types[index] & ~1)
        set(first + index + 1)
      }
      g_signal_emitv(first, id, 0, nil)
      for index in 0...arguments.count { g_value_unset(first + index) }
    }
  }
}
