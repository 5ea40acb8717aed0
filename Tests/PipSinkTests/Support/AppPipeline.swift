import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// A pipeline of an app with the appsink "s", whose frames the app pushes.
final class AppPipeline {
  let pipeline: UnsafeMutablePointer<GstElement>
  let sinkPad: UnsafeMutablePointer<GstPad>
  private let sink: UnsafeMutablePointer<GstElement>
  /// What the element before the sink gets from it.
  let events: UpstreamEvents

  /// A live source, an encoder whose keyframes are ten seconds apart, and a decoder.
  static let encoded = """
    videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=60/1
      ! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=600 ! h264parse ! avdec_h264
    """

  init(_ description: String) throws {
    try PipSink.initialize()
    pipeline = try #require(gst_parse_launch(description, nil))
    sink = try #require(
      gst_bin_get_by_name(UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self), "s"))
    sinkPad = try #require(gst_element_get_static_pad(sink, "sink"))
    let source = try #require(gst_pad_get_peer(sinkPad))
    defer { gst_object_unref(source) }
    events = UpstreamEvents(at: source)
  }

  func withElement(_ name: String, _ body: (UnsafeMutablePointer<GstElement>) -> Void) throws {
    let bin = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    let element = try #require(gst_bin_get_by_name(bin, name))
    defer { gst_object_unref(element) }
    body(element)
  }

  /// Whether a buffer is in one of the pipeline's elements, or in those after it on the same thread.
  func isBusy(_ name: String) throws -> Bool {
    var isBusy = false
    try withElement(name) { element in element.withSinkPads { isBusy = $0.contains(where: \.isOccupied) } }
    return isBusy
  }

  /// Sets a property of one of the pipeline's elements.
  func set(_ property: String, _ value: String, of name: String) throws {
    try withElement(name) { element in
      gst_util_set_object_arg(
        UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), property, value)
    }
  }

  /// Counts the buffers that leave one of the pipeline's elements from now on.
  func countBuffers(behind name: String) throws -> Counter {
    let counter = Counter()
    try withElement(name) { element in
      guard let pad = gst_element_get_static_pad(element, "src") else { return }
      defer { gst_object_unref(pad) }
      gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        { _, _, context in
          if let context { Unmanaged<Counter>.fromOpaque(context).takeUnretainedValue().count.withLock { $0 += 1 } }
          return GST_PAD_PROBE_OK
        }, Unmanaged.passRetained(counter).toOpaque(),
        { context in if let context { Unmanaged<Counter>.fromOpaque(context).release() } })
    }
    return counter
  }

  final class Counter: Sendable {
    fileprivate let count = Locked(0)
    var value: Int { count.withLock { $0 } }
  }

  deinit {
    gst_element_set_state(pipeline, GST_STATE_NULL)
    gst_object_unref(sinkPad)
    gst_object_unref(sink)
    gst_object_unref(pipeline)
  }

  /// Pushes every frame of the appsink, on a thread of its own, until the pipeline is stopped.
  func deliver(to input: StreamInput) -> WorkerThread? {
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let sink = Sink(pointer: UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstAppSink.self))
    return WorkerThread(name: "app") {
      while let sample = gst_app_sink_pull_sample(sink.pointer) {
        defer { gst_sample_unref(sample) }
        if let picture = try? PixelBuffer(unsafeGstSample: sample) { input.push(picture) }
      }
    }
  }

  private struct Sink: @unchecked Sendable { let pointer: UnsafeMutablePointer<GstAppSink> }
}
