import CGStreamer

/// The end of one stream in the pipeline: takes every buffer from its appsink, wraps it without copying, and hands it
/// on.
///
/// GStreamer calls it on the stream's streaming thread; the appsink owns it through its callbacks.
///
/// `@unchecked Sendable`: `wrapper` belongs to the streaming thread, of which a pad has one at a time (its stream lock);
/// everything else is constant.
final class StreamSink: @unchecked Sendable {
  /// What the engine wants to know, called on the streaming thread.
  struct Handlers: Sendable {
    var formatChanged: @Sendable (VideoFormatDescription) -> Void
    /// The first frame of a run has been delivered, or the first after a stall.
    var flowing: @Sendable () -> Void
    var failed: @Sendable (PipSinkError) -> Void
    /// A frame cannot be read and was left out; the caps say what memory it is in.
    var skipped: @Sendable (_ caps: String) -> Void
  }

  private let consumer: any SampleBufferConsumer
  private let handlers: Handlers
  private let flow: StreamFlow
  private let caps: StreamCaps
  private var wrapper = SampleWrapper()

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
    var callbacks = GstAppSinkCallbacks()
    callbacks.new_sample = { appsink, context in
      guard let appsink, let context else { return GST_FLOW_ERROR }
      return Unmanaged<StreamSink>.fromOpaque(context).takeUnretainedValue().takeSample(from: appsink)
    }
    callbacks.eos = { appsink, _ in
      guard let appsink else { return }
      // By way of the bus, so that an error that was posted before is heard before.
      let element = UnsafeMutableRawPointer(appsink).assumingMemoryBound(to: GstElement.self)
      gst_element_post_message(element, BusMessage.streamEnded(sink: element))
    }
    appsink.withMemoryRebound(to: GstAppSink.self, capacity: 1) { appsink in
      gst_app_sink_set_callbacks(
        appsink, &callbacks, Unmanaged.passRetained(sink).toOpaque(),
        { context in if let context { Unmanaged<StreamSink>.fromOpaque(context).release() } })
    }
    sink.watchPad(of: appsink)
    // The frames belong to their consumer; the sink keeping one more would only hold back a decoder's buffer.
    appsink.withMemoryRebound(to: GstBaseSink.self, capacity: 1) { gst_base_sink_set_last_sample_enabled($0, 0) }
  }

  private func takeSample(from appsink: UnsafeMutablePointer<GstAppSink>) -> GstFlowReturn {
    guard let sample = gst_app_sink_pull_sample(appsink) else { return GST_FLOW_EOS }
    do throws(PipSinkError) {
      let format = try formatDescription(of: sample)
      guard format.isInSystemMemory || Self.canBeRead(sample, format) else {
        gst_sample_unref(sample)
        handlers.skipped(format.capsDescription)
        return GST_FLOW_OK
      }
      guard let frame = gst_sample_get_buffer(sample), let buffer = gst_buffer_ref(frame) else {
        gst_sample_unref(sample)
        return GST_FLOW_OK
      }
      // Let go at once, the sample is what the appsink puts its next buffer into; else it would have to make another.
      gst_sample_unref(sample)
      guard !flow.isLeftOver(buffer) else {
        gst_buffer_unref(buffer)
        return GST_FLOW_OK
      }
      let sampleBuffer = wrapper.wrap(owning: buffer, format)
      consumer.consume(sampleBuffer)
      if flow.noteDelivery(sampleBuffer.sequenceNumber) { handlers.flowing() }
      return GST_FLOW_OK
    } catch {
      // A GPU's own formats are no mistake of the stream.
      if case .invalidCaps(let caps) = error, caps.contains("(memory:") {
        handlers.skipped(caps)
        return GST_FLOW_OK
      }
      handlers.failed(error)
      return GST_FLOW_ERROR
    }
  }

  /// Whether a frame in a GPU's memory can be mapped all the same, as some can.
  private static func canBeRead(_ sample: OpaquePointer, _ format: VideoFormatDescription) -> Bool {
    guard let buffer = gst_sample_get_buffer(sample) else { return false }
    return (try? MappedFrame.withMapped(buffer, formatDescription: format) { _ in true }) ?? false
  }

  private func formatDescription(of sample: OpaquePointer) throws(PipSinkError) -> VideoFormatDescription {
    guard let caps = gst_sample_get_caps(sample) else {
      gst_sample_unref(sample)
      throw .invalidCaps("none")
    }
    do throws(PipSinkError) {
      let old = wrapper.format
      let format = try wrapper.format(of: caps)
      if format !== old { handlers.formatChanged(format) }
      return format
    } catch {
      gst_sample_unref(sample)
      throw error
    }
  }

  /// Answers queries, and reads the tags as they come: before the appsink's own functions. Pad probes would do it too, but
  /// each costs every frame a walk through the pad's hooks.
  private func watchPad(of appsink: UnsafeMutablePointer<GstElement>) {
    guard let pad = gst_element_get_static_pad(appsink, "sink") else { return }
    defer { gst_object_unref(pad) }
    let watch = PadWatch(sink: self, query: pad.pointee.queryfunc, event: pad.pointee.eventfunc)
    gst_pad_set_query_function_full(
      pad,
      { pad, parent, query in
        guard let pad, let query, let context = pad.pointee.querydata else { return 0 }
        let watch = Unmanaged<PadWatch>.fromOpaque(context).takeUnretainedValue()
        return watch.sink.answer(query, on: pad) ? 1 : watch.query?(pad, parent, query) ?? 0
      }, Unmanaged.passRetained(watch).toOpaque(), PadWatch.release)
    gst_pad_set_event_function_full(
      pad,
      { pad, parent, event in
        guard let pad, let event, let context = pad.pointee.eventdata else { return 0 }
        let watch = Unmanaged<PadWatch>.fromOpaque(context).takeUnretainedValue()
        watch.sink.wrapper.note(event)
        return watch.event?(pad, parent, event) ?? 0
      }, Unmanaged.passRetained(watch).toOpaque(), PadWatch.release)
  }

  /// What a pad's functions have, and the appsink's own ones.
  private final class PadWatch {
    let sink: StreamSink
    let query: GstPadQueryFunction?
    let event: GstPadEventFunction?

    init(sink: StreamSink, query: GstPadQueryFunction?, event: GstPadEventFunction?) {
      self.sink = sink
      self.query = query
      self.event = event
    }

    static let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
      if let context { Unmanaged<PadWatch>.fromOpaque(context).release() }
    }
  }

  /// Answers the caps query with what suits the stream best, and the allocation query with the metas that PipSink
  /// reads. An appsink of GStreamer 1.22 does not answer the latter, and then decoders copy every frame to get rid of
  /// their padding.
  ///
  /// - Returns: false when the appsink is to answer.
  private func answer(_ query: UnsafeMutablePointer<GstQuery>, on pad: UnsafeMutablePointer<GstPad>) -> Bool {
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
