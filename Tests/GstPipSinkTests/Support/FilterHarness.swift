import CGStreamer
import CGStreamerCheck
import Glibc
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// A `pipsinkfilter`, alone or followed by other elements, between two pads of the test. It has its own bus.
final class FilterHarness {
  let element: UnsafeMutablePointer<GstElement>
  let harness: UnsafeMutablePointer<GstHarness>
  private let bus: UnsafeMutablePointer<GstBus>

  /// - Parameters:
  ///   - process: the value of the property, or nil to leave the property unset.
  ///   - readsVideoMeta: whether the elements after the filter say that they read GstVideoMetas.
  ///   - following: the elements after the filter, in the syntax of a pipeline description.
  init(_ process: String? = nil, readsVideoMeta: Bool = false, following: String = "") throws {
    try PipSinkPlugin.register()
    let filter = "pipsinkfilter name=filter" + (process.map { " process=\($0)" } ?? "")
    harness = try #require(gst_harness_new_parse(filter + following))
    gst_harness_set_live(harness, 0)
    element = try #require(gst_harness_find_element(harness, "pipsinkfilter"))
    bus = try #require(gst_bus_new())
    gst_element_set_bus(element, bus)
    if readsVideoMeta { gst_harness_add_propose_allocation_meta(harness, gst_video_meta_api_get_type(), nil) }
  }

  deinit {
    gst_element_set_bus(element, nil)
    gst_harness_teardown(harness)
    gst_object_unref(element)
    gst_object_unref(bus)
  }

  var state: FilterState { PipSinkFilterElement.state(of: element) }

  func set(process: String?) {
    state.set(process: process)
  }

  /// Returns one of the counts in `stats`.
  func count(_ field: String) -> UInt64? {
    guard let structure = state.makeStatistics() else { return nil }
    defer { gst_structure_free(structure) }
    var count: guint64 = 0
    return gst_structure_get_uint64(structure, field, &count) == 0 ? nil : UInt64(count)
  }

  // MARK: - Frames

  func setCaps(_ caps: String = "video/x-raw,format=I420,width=32,height=24,framerate=30/1") {
    gst_harness_set_src_caps_str(harness, caps)
  }

  /// - Parameter buffer: the function takes ownership of this buffer.
  @discardableResult
  func push(_ buffer: UnsafeMutablePointer<GstBuffer>?) -> GstFlowReturn {
    gst_harness_push(harness, buffer)
  }

  /// Pushes a frame whose bytes all have the value `number`.
  @discardableResult
  func push(number: Int = 0, byteCount: Int = 32 * 24 * 3 / 2) -> GstFlowReturn {
    let buffer = gst_harness_create_buffer(harness, gsize(byteCount))
    gst_buffer_memset(buffer, 0, UInt8(truncatingIfNeeded: number), gsize(byteCount))
    buffer?.pointee.pts = GstClockTime(number) * 33_000_000
    buffer?.pointee.duration = 33_000_000
    return push(buffer)
  }

  /// Pushes a picture after its caps.
  @discardableResult
  func push(_ pixelBuffer: PixelBuffer) -> GstFlowReturn {
    gst_harness_set_src_caps(harness, gst_caps_ref(pixelBuffer.formatDescription.caps))
    return push(gst_buffer_ref(pixelBuffer.buffer))
  }

  /// Returns the next frame that has come out. The caller owns it.
  func pull() -> UnsafeMutablePointer<GstBuffer>? { gst_harness_try_pull(harness) }

  /// Returns the next frame that has come out as a pixel buffer.
  func pullPicture() throws -> PixelBuffer {
    let buffer = try #require(pull())
    let caps = try #require(gst_pad_get_current_caps(harness.pointee.sinkpad))
    defer { gst_caps_unref(caps) }
    return PixelBuffer(owning: buffer, formatDescription: try VideoFormatDescription.shared(for: caps))
  }

  /// The number of frames that have come out and have not been pulled.
  var waiting: Int { Int(gst_harness_buffers_in_queue(harness)) }

  /// The format of the frames that come out.
  var outputFormat: VideoFormatDescription? {
    guard let caps = gst_pad_get_current_caps(harness.pointee.sinkpad) else { return nil }
    defer { gst_caps_unref(caps) }
    return try? VideoFormatDescription.shared(for: caps)
  }

  /// Returns the orientation in the next orientation tag that has come out.
  func pullOrientation() -> VideoOrientation? {
    while let event = gst_harness_try_pull_event(harness) {
      defer { gst_event_unref(event) }
      guard event.pointee.type == GST_EVENT_TAG else { continue }
      var tags: UnsafeMutablePointer<GstTagList>?
      gst_event_parse_tag(event, &tags)
      if let tags, let orientation = VideoOrientation(tags: tags) { return orientation }
    }
    return nil
  }

  func pushTag(_ orientation: VideoOrientation) {
    let tags = gst_tag_list_new_from_string("taglist,image-orientation=\(orientation.tag)")
    #expect(gst_harness_push_event(harness, gst_event_new_tag(tags)) != 0)
  }

  // MARK: - Messages

  /// Returns the text of the next message, or nil when there is none.
  func message(_ type: GstMessageType) -> String? {
    guard let message = gst_bus_pop_filtered(bus, type) else { return nil }
    defer { gst_message_unref(message) }
    return debugText(of: message)
  }
}
