import CGStreamer
import PipSink

/// Runs a pipeline without PipSink, which ends in fakesinks, or in appsinks whose frames are pulled, mapped, unmapped
/// and released, as a C program does.
enum AppsinkRun {
  /// - Parameter description: the pipeline. Its sinks are fakesinks, or appsinks with the names s0, s1 and so on.
  static func run(_ description: String, hasAppsinks: Bool) throws -> FramePathReport {
    try PipSink.initialize()
    guard let pipeline = gst_parse_launch(description, nil) else { throw PipSinkError.pipeline(.empty) }
    gst_object_ref_sink(pipeline)
    let bus = gst_element_get_bus(pipeline)
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(bus)
      gst_object_unref(pipeline)
    }
    if hasAppsinks { takeSamples(of: UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)) }
    let start = FramePathStart()
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let wanted = GstMessageType(GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    guard let message = gst_bus_timed_pop_filtered(bus, PIPSINK_CLOCK_TIME_NONE, wanted) else {
      throw PipSinkError.pipeline(.stateChangeFailed(pipeline: description))
    }
    defer { gst_message_unref(message) }
    guard message.pointee.type == GST_MESSAGE_EOS else {
      throw PipSinkError.pipeline(.stateChangeFailed(pipeline: description))
    }
    return start.report()
  }

  private static func takeSamples(of bin: UnsafeMutablePointer<GstBin>) {
    var callbacks = GstAppSinkCallbacks()
    callbacks.new_sample = { sink, _ in AppsinkRun.takeSample(from: sink) }
    var number = 0
    while let sink = gst_bin_get_by_name(bin, "s\(number)") {
      sink.withMemoryRebound(to: GstAppSink.self, capacity: 1) {
        gst_app_sink_set_callbacks($0, &callbacks, nil, nil)
      }
      gst_object_unref(sink)
      number += 1
    }
  }

  private static func takeSample(from sink: UnsafeMutablePointer<GstAppSink>?) -> GstFlowReturn {
    guard let sample = gst_app_sink_pull_sample(sink) else { return GST_FLOW_EOS }
    defer { gst_sample_unref(sample) }
    let buffer = gst_sample_get_buffer(sample)
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return GST_FLOW_ERROR }
    gst_buffer_unmap(buffer, &map)
    return GST_FLOW_OK
  }
}
