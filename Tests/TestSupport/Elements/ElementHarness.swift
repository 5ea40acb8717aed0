import CGStreamer
import CGStreamerCheck
import Glibc
import Testing

@testable import GstPipSink
@testable import PipSink

/// A `pipsink` that gets its buffers from a source pad of the test and has its own bus. It shows nothing unless its
/// properties ask for it.
final class ElementHarness {
  let element: UnsafeMutablePointer<GstElement>
  let harness: UnsafeMutablePointer<GstHarness>
  private let bus: UnsafeMutablePointer<GstBus>

  static let isSanitized = ["__tsan_init", "__asan_init"].contains { name in
    let program = dlopen(nil, RTLD_LAZY)
    defer { if let program { dlclose(program) } }
    return dlsym(program, name) != nil
  }

  /// - Parameter properties: the properties in the syntax of a pipeline description.
  init(_ properties: String = "surface=none sync=false") throws {
    element = try Self.makeElement(properties)
    bus = try #require(gst_bus_new())
    gst_element_set_bus(element, bus)
    harness = try #require(gst_harness_new_with_element(element, "sink", nil))
    gst_harness_set_live(harness, 0)
  }

  deinit {
    gst_element_set_bus(element, nil)
    gst_harness_teardown(harness)
    gst_object_unref(element)
    gst_object_unref(bus)
  }

  static func makeElement(_ properties: String = "surface=none sync=false") throws -> UnsafeMutablePointer<GstElement> {
    try PipSinkPlugin.register()
    let element = try #require(gst_parse_launch("pipsink \(properties)", nil))
    gst_object_ref_sink(element)
    return element
  }

  var state: ElementState { PipSinkElement.state(of: element) }
  var session: ElementSession? { state.member?.session }
  var latest: SampleBuffer? { state.member.flatMap { $0.session.router.latestSampleBuffer(of: $0.streamID) } }
  var received: UInt64 { state.member?.statistics?.received ?? 0 }

  func set(_ property: String, _ value: String) {
    gst_util_set_object_arg(object, property, value)
  }

  /// Returns the value of a property as GStreamer serializes it.
  func value(_ property: String) -> String {
    var value = GValue()
    g_object_get_property(object, property, &value)
    defer { g_value_unset(&value) }
    let text = gst_value_serialize(&value)
    defer { g_free(text) }
    return text.map { String(cString: $0) } ?? ""
  }

  private var object: UnsafeMutablePointer<GObject> {
    UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
  }

  func emit(_ signal: String) { Self.emit(signal, on: element) }

  static func emit(_ signal: String, on element: UnsafeMutablePointer<GstElement>) {
    var instance = GValue()
    g_value_init(&instance, PipSinkElement.type)
    g_value_set_object(&instance, element)
    g_signal_emitv(&instance, g_signal_lookup(signal, PipSinkElement.type), 0, nil)
    g_value_unset(&instance)
  }

  // MARK: - Frames

  /// Sends caps. The next frames have this format.
  func setCaps(_ format: PixelFormat = .i420, _ width: Int = 32, _ height: Int = 24) {
    gst_harness_set_src_caps_str(
      harness, "video/x-raw,format=\(format.rawValue),width=\(width),height=\(height),framerate=30/1")
  }

  /// Pushes an empty frame that matches the caps. `milliseconds` is its presentation time.
  @discardableResult
  func push(milliseconds: UInt = 0, byteCount: Int = 32 * 24 * 3 / 2) -> GstFlowReturn {
    let buffer = gst_harness_create_buffer(harness, gsize(byteCount))
    buffer?.pointee.pts = GstClockTime(milliseconds) * 1_000_000
    buffer?.pointee.duration = 33_000_000
    return gst_harness_push(harness, buffer)
  }

  func push(_ sample: OpaquePointer) -> GstFlowReturn {
    gst_harness_set_src_caps(harness, gst_caps_ref(gst_sample_get_caps(sample)))
    return gst_harness_push(harness, gst_buffer_ref(gst_sample_get_buffer(sample)))
  }

  // MARK: - Messages

  /// Returns the next message of the given types, or nil when none arrives within the given seconds.
  func message(_ types: GstMessageType, seconds: Double = 20) -> String? {
    guard let message = gst_bus_timed_pop_filtered(bus, UInt(seconds * 1e9), types) else { return nil }
    defer { gst_message_unref(message) }
    if types == GST_MESSAGE_ERROR || types == GST_MESSAGE_WARNING { return debugText(of: message) }
    return gst_message_get_structure(message).map { String(cString: gst_structure_get_name($0)) }
  }

  /// Calls `body` on the session's main actor after everything that the element has asked of it so far, and returns the
  /// result.
  func onInterface<Answer: Sendable>(
    _ body: @escaping @MainActor @Sendable (ElementSessionAdapter) -> Answer
  ) async throws -> Answer {
    let member = try #require(state.member)
    return await withCheckedContinuation { continuation in
      member.session.post(for: member) { continuation.resume(returning: body($0)) }
    }
  }

  /// An element message: its name and those of its fields that are strings or booleans.
  struct Message {
    var name: String
    var fields: [String: String] = [:]
  }

  /// Removes and returns the element messages that are on the bus.
  func takeMessages() -> [Message] {
    var messages: [Message] = []
    while let message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT) {
      defer { gst_message_unref(message) }
      guard let structure = gst_message_get_structure(message) else { continue }
      var entry = Message(name: String(cString: gst_structure_get_name(structure)))
      for field in ["stream-id", "reason", "from", "to", "action", "click-through"] {
        if let text = gst_structure_get_string(structure, field) { entry.fields[field] = String(cString: text) }
        var flag: gboolean = 0
        if gst_structure_get_boolean(structure, field, &flag) != 0 { entry.fields[field] = "\(flag != 0)" }
      }
      messages.append(entry)
    }
    return messages
  }

  /// The element's mode, which is "pip" or "normal".
  var mode: String { state.settings.mode == .pip ? "pip" : "normal" }

  /// Returns the names of the element messages up to and including the message of the given name.
  func elementMessages(until last: String) -> [String] {
    var names: [String] = []
    while names.last != last, let name = message(GST_MESSAGE_ELEMENT) { names.append(name) }
    return names
  }

  /// Pushes the events that precede the first frame of a stream.
  func pushStart(_ caps: String = "video/x-raw,format=I420,width=32,height=24,framerate=30/1") {
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    let caps = gst_caps_from_string(caps)
    defer { gst_caps_unref(caps) }
    for event in [gst_event_new_stream_start("test"), gst_event_new_caps(caps), gst_event_new_segment(&segment)] {
      #expect(gst_harness_push_event(harness, event) != 0)
    }
  }
}

/// Returns the debugging text of an error or a warning.
func debugText(of message: UnsafeMutablePointer<GstMessage>) -> String? {
  var (error, debug): (UnsafeMutablePointer<GError>?, UnsafeMutablePointer<CChar>?)
  let parse = message.pointee.type == GST_MESSAGE_ERROR ? gst_message_parse_error : gst_message_parse_warning
  parse(message, &error, &debug)
  defer {
    g_clear_error(&error)
    g_free(debug)
  }
  return debug.map { String(cString: $0) }
}
