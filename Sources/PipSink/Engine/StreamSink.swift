import CGStreamer

/// The end of one stream in the pipeline: takes every buffer from its appsink, wraps it without copying, and hands it
/// on.
///
/// GStreamer calls it on the stream's streaming thread, by way of ``StreamSinkClass``; the appsink owns it.
///
/// `@unchecked Sendable`: `wrapper` belongs to the streaming thread, of which a pad has one at a time (its stream lock);
/// everything else is constant.
final class StreamSink: @unchecked Sendable {
  /// What the engine wants to know, called on the streaming thread.
  struct Handlers: Sendable {
    var formatChanged: @Sendable (VideoFormatDescription) -> Void
    /// The first frame of a run has been delivered, or the first after a stall.
    var flowing: @Sendable () -> Void
    /// What comes cannot be taken; called for every such buffer. Returns whether the stream is to let it go by, so that
    /// others of the same source have theirs; else the source is to stop.
    var failed: @Sendable (PipSinkError) -> Bool
    /// A frame cannot be read and was left out; the caps say what memory it is in.
    var skipped: @Sendable (_ caps: String) -> Void
  }

  private let consumer: any SampleBufferConsumer
  private let handlers: Handlers
  private let flow: StreamFlow
  private let caps: StreamCaps
  private let wrapper = SampleWrapper()

  private init(consumer: any SampleBufferConsumer, flow: StreamFlow, handlers: Handlers, caps: StreamCaps) {
    self.consumer = consumer
    self.flow = flow
    self.handlers = handlers
    self.caps = caps
  }

  /// Makes `appsink` deliver to `consumer`. Called once, before the pipeline starts.
  static func install(
    on appsink: UnsafeMutablePointer<GstElement>, consumer: any SampleBufferConsumer, flow: StreamFlow,
    handlers: Handlers
  ) {
    let sink = StreamSink(
      consumer: consumer, flow: flow, handlers: handlers, caps: StreamCaps(of: appsink, series: consumer.formatSeries))
    StreamSinkClass.adopt(appsink, deliveringTo: sink)
    // The frames belong to their consumer; the sink keeping one more would only hold back a decoder's buffer.
    appsink.withMemoryRebound(to: GstBaseSink.self, capacity: 1) { gst_base_sink_set_last_sample_enabled($0, 0) }
  }

  /// - Parameter frame: borrowed.
  func take(_ frame: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    do throws(PipSinkError) {
      guard let format = try wrapper.nextFormat(whenNew: handlers.formatChanged) else { throw .invalidCaps("none") }
      guard !flow.isLeftOver(frame) else { return GST_FLOW_OK }
      guard format.isInSystemMemory || Self.canBeRead(frame, format) else {
        handlers.skipped(format.capsDescription)
        return GST_FLOW_OK
      }
      consumer.consume(wrapper.wrap(owning: gst_buffer_ref(frame), consume format))
      if flow.noteDelivery(wrapper.frameCount) { handlers.flowing() }
      return GST_FLOW_OK
    } catch {
      // A GPU's own formats are no mistake of the stream.
      if case .invalidCaps(let caps) = error, caps.contains("(memory:") {
        handlers.skipped(caps)
        return GST_FLOW_OK
      }
      return handlers.failed(error) ? GST_FLOW_OK : GST_FLOW_ERROR
    }
  }

  /// - Parameter event: a serialised one.
  func note(_ event: UnsafeMutablePointer<GstEvent>) {
    guard event.pointee.type == GST_EVENT_CAPS else { return wrapper.note(event) }
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_event_parse_caps(event, &caps)
    if let caps { wrapper.setNewCaps(caps) }
  }

  /// Whether a frame in a GPU's memory can be mapped all the same, as some can.
  private static func canBeRead(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ format: VideoFormatDescription
  ) -> Bool {
    (try? MappedFrame.withMapped(buffer, formatDescription: format) { _ in true }) ?? false
  }

  /// Answers the caps query with what suits the stream best, and the allocation query with the metas that PipSink
  /// reads. An appsink of GStreamer 1.22 does not answer the latter, and then decoders copy every frame to get rid of
  /// their padding.
  ///
  /// - Returns: false when the sink is to answer.
  func answer(_ query: UnsafeMutablePointer<GstQuery>, on pad: UnsafeMutablePointer<GstPad>) -> Bool {
    switch query.pointee.type {
    case GST_QUERY_CAPS:
      caps.answer(query, on: pad)
      return true
    case GST_QUERY_ALLOCATION:
      SampleWrapper.addMetas(to: query)
      return true
    default:
      return false
    }
  }
}
