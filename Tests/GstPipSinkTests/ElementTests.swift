import CGStreamer
import CGStreamerCheck
import Foundation
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// What GStreamer requires of every element.
@Suite struct ElementTests {
  @Test func theTypeIsRegisteredOnce() throws {
    try PipSinkPlugin.register()
    try PipSinkPlugin.register()
    #expect(g_type_from_name("GstPipSink") == PipSinkElement.type)
    let plugin = try #require(pluginDescription().pointee.name)
    #expect(String(cString: plugin) == "pipsink")
  }

  @Test(.enabled(if: !ElementHarness.isSanitized, "GStreamer cannot load a plugin with a sanitizer"))
  func aProgramThatHasTheElementMayLoadThePluginAsWell() async {
    await #expect(processExitsWith: .success) {
      let harness = try ElementHarness("surface=offscreen sync=false mode=pip")
      let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      let path = tests.appendingPathComponent("libgstpipsink.so").path
      let plugin = try #require(gst_plugin_load_file(path, nil))
      #expect(String(cString: gst_plugin_get_name(plugin)) == "pipsink")
      let second = try ElementHarness("surface=offscreen sync=false session=second")
      #expect(g_type_from_name("GstPipSink") == PipSinkElement.type)
      for harness in [harness, second] {
        harness.setCaps()
        #expect(harness.push() == GST_FLOW_OK)
        #expect(harness.received == 1)
      }
      #expect(harness.elementMessages(until: "pip-did-start").last == "pip-did-start")
    }
  }

  @Test func withoutADisplayTheStateChangeFailsAndTheBusSaysWhyOnce() async {
    await #expect(processExitsWith: .success) {
      for name in ["DISPLAY", "WAYLAND_DISPLAY"] { unsetenv(name) }
      let element = try ElementHarness.makeElement("surface=window sync=false")
      let bus = try #require(gst_bus_new())
      gst_element_set_bus(element, bus)
      #expect(gst_element_set_state(element, GST_STATE_READY) == GST_STATE_CHANGE_FAILURE)
      gst_util_set_object_arg(
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "gravity", "resize")
      let message = try #require(gst_bus_timed_pop_filtered(bus, 20_000_000_000, GST_MESSAGE_ERROR))
      var error: UnsafeMutablePointer<GError>?
      var debug: UnsafeMutablePointer<CChar>?
      gst_message_parse_error(message, &error, &debug)
      #expect(debug.map { String(cString: $0) }?.contains("no window can be shown") == true)
      #expect(gst_bus_timed_pop_filtered(bus, 200_000_000, GST_MESSAGE_ERROR) == nil)
    }
  }

  @Test func aNewElementIsGivenBackWhole() throws {
    for _ in 0..<50 {
      let element = try ElementHarness.makeElement()
      #expect(element.withMemoryRebound(to: GObject.self, capacity: 1) { $0.pointee.ref_count } == 1)
      gst_object_unref(element)
    }
  }

  @Test func thePadTemplateHasAllFormats() throws {
    let element = try ElementHarness.makeElement()
    defer { gst_object_unref(element) }
    let pad = try #require(gst_element_get_static_pad(element, "sink"))
    defer { gst_object_unref(pad) }
    let caps = try #require(gst_pad_query_caps(pad, nil))
    defer { gst_caps_unref(caps) }
    for format in PixelFormat.allCases {
      let one = try #require(gst_caps_from_string("video/x-raw,format=\(format.rawValue),width=16,height=16"))
      #expect(gst_caps_can_intersect(caps, one) != 0, "\(format)")
      gst_caps_unref(one)
    }
  }

  @Test func itHasTheInterfacesOfAVideoSink() {
    for interface in [
      gst_video_overlay_get_type(), gst_navigation_get_type(), gst_video_direction_get_type(),
      gst_color_balance_get_type(),
    ] {
      #expect(g_type_is_a(PipSinkElement.type, interface) != 0)
    }
  }

  @Test func theNameThatStandsForAStreamIDIsReadAsIt() throws {
    let element = try ElementHarness.makeElement("name=remote surface=none")
    defer { gst_object_unref(element) }
    let object = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
    func streamID() -> String? {
      var value = GValue()
      g_object_get_property(object, "stream-id", &value)
      defer { g_value_unset(&value) }
      return g_value_get_string(&value).map { String(cString: $0) }
    }
    #expect(streamID() == "remote")
    var value = GValue()
    g_value_init(&value, GType(16 << 2))
    defer { g_value_unset(&value) }
    for (text, id) in [("camera", "camera"), ("", "remote")] {
      g_value_set_string(&value, text)
      g_object_set_property(object, "stream-id", &value)
      #expect(streamID() == id)
    }
  }

  @Test func everyPropertyTakesAndGivesBackAnyValue() throws {
    let element = try ElementHarness.makeElement()
    defer { gst_object_unref(element) }
    let object = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self)
    var generator = SystemRandomNumberGenerator()
    for property in ElementProperty.all {
      let objectClass = object.pointee.g_type_instance.g_class
      let specification = try #require(
        objectClass?.withMemoryRebound(to: GObjectClass.self, capacity: 1) {
          g_object_class_find_property($0, property.name)
        })
      guard specification.pointee.flags.rawValue & G_PARAM_WRITABLE.rawValue != 0 else { continue }
      for _ in 0..<20 {
        var value = GValue()
        g_value_init(&value, specification.pointee.value_type)
        defer { g_value_unset(&value) }
        Self.randomize(&value, using: &generator)
        g_param_value_validate(specification, &value)
        g_object_set_property(object, property.name, &value)
        var result = GValue()
        g_object_get_property(object, property.name, &result)
        defer { g_value_unset(&result) }
        #expect(g_param_values_cmp(specification, &value, &result) == 0, "\(property.name)")
      }
    }
  }

  /// Sets a random value of the value's type. The property does not accept each of these values.
  private static func randomize(_ value: inout GValue, using generator: inout some RandomNumberGenerator) {
    switch g_type_fundamental(value.g_type) >> 2 {
    case 5: g_value_set_boolean(&value, gboolean.random(in: 0...1, using: &generator))
    case 6: g_value_set_int(&value, gint.random(in: -2000...2000, using: &generator))
    case 7: g_value_set_uint(&value, guint.random(in: 0...guint.max, using: &generator))
    case 11: g_value_set_uint64(&value, guint64.random(in: 0...guint64.max, using: &generator))
    case 12: g_value_set_enum(&value, gint.random(in: -3...12, using: &generator))
    case 15: g_value_set_double(&value, Double.random(in: -1e6...1e6, using: &generator))
    case 16:
      let count = Int.random(in: 1...40, using: &generator)
      g_value_set_string(
        &value, String((0..<count).map { _ in Character(Unicode.Scalar(UInt8.random(in: 1...127, using: &generator))) })
      )
    case _ where value.g_type == gst_fraction_get_type():
      let terms = (0..<2).map { _ in gint.random(in: 1...gint.max, using: &generator) }
      gst_value_set_fraction(&value, terms[0], terms[1])
    case _ where value.g_type == gst_video_overlay_composition_get_type():
      guard Bool.random(using: &generator) else { return }
      let buffer = gst_buffer_new_allocate(nil, 2 * 2 * 4, nil)
      gst_buffer_add_video_meta(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_BGRA, 2, 2)
      let rectangle = gst_video_overlay_rectangle_new_raw(buffer, 1, 2, 3, 4, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE)
      g_value_take_boxed(&value, UnsafeRawPointer(gst_video_overlay_composition_new(rectangle)))
      gst_video_overlay_rectangle_unref(rectangle)
      gst_buffer_unref(buffer)
    case let other: Issue.record("a property has a type that is not known here: \(other)")
    }
  }

  @Test func aThousandStateChangesFromSeveralThreadsAreSurvived() throws {
    let elements = try (0..<4).map { index in
      try ElementHarness.makeElement(
        "surface=\(index % 2 == 0 ? "none" : "offscreen") session=cycles mode=pip async=false")
    }
    nonisolated(unsafe) let shared = elements
    let threads = (0..<4).compactMap { thread in
      WorkerThread(name: "cycles-\(thread)") {
        for cycle in 0..<250 {
          let element = shared[(thread + cycle) % shared.count]
          let states = [GST_STATE_NULL, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_PLAYING]
          gst_element_set_state(element, states[(cycle / 4 + thread) % 4])
        }
      }
    }
    #expect(threads.count == 4)
    for thread in threads { thread.join() }
    for element in elements {
      #expect(gst_element_set_state(element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
      #expect(PipSinkElement.state(of: element).member == nil)
      gst_object_unref(element)
    }
  }

  @Test func propertiesChangeWhileFramesFlow() throws {
    let harness = try ElementHarness("surface=offscreen sync=false session=\(#function)")
    harness.setCaps()
    nonisolated(unsafe) let shared = harness
    let changes = WorkerThread(name: "changes") {
      for index in 0..<300 {
        shared.set("gravity", ["resize", "resize-aspect", "resize-aspect-fill"][index % 3])
        shared.set("video-direction", ["90r", "auto", "vert"][index % 3])
        shared.set("rate-limit", "\(index % 40)")
        shared.set("process", ["grayscale", "", "rotate:90"][index % 3])
        shared.set("mode", index % 2 == 0 ? "pip" : "normal")
        shared.set("auto-pip", index % 5 == 0 ? "true" : "false")
        shared.set("render-rectangle", "<0,0,\(index),\(index)>")
        _ = shared.value("stats")
      }
    }
    for index in 0..<600 { #expect(harness.push(milliseconds: UInt(index) * 33) == GST_FLOW_OK) }
    changes?.join()
    #expect(harness.received > 0)
  }
}
