import CGStreamer

/// The end of one stream in the pipeline: takes every buffer from its appsink, wraps it without copying, and hands it
/// on. Of an element that makes frames by itself (``StreamElement``) it takes those.
///
/// GStreamer calls it on the stream's streaming thread, by way of ``StreamSinkClass``; the element owns it.
///
/// `@unchecked Sendable`: `wrapper` and `elementFormat` belong to the streaming thread, of which a pad has one at a
/// time (its stream lock); everything else is constant.
final class StreamSink: StreamElementConsumer, @unchecked Sendable {
  private let id: StreamID
  private let consumer: any SampleBufferConsumer
  private let flow: StreamFlow
  /// Weak: the element, and so the pipeline, must not keep the run.
  private weak let run: PipelineRun?
  /// Of an appsink.
  private let caps: StreamCaps?
  private let wrapper = SampleWrapper()
  /// Of the newest frame of another element.
  private var elementFormat: VideoFormatDescription?

  private init(
    _ stream: Pipeline.Stream, _ consumer: any SampleBufferConsumer, _ run: PipelineRun, _ caps: StreamCaps?
  ) {
    id = stream.id
    flow = stream.flow
    self.consumer = consumer
    self.run = run
    self.caps = caps
  }

  /// Makes a stream's element deliver to `consumer`. Called once, before the pipeline starts.
  static func install(
    on stream: Pipeline.Stream, of run: PipelineRun, deliveringTo consumer: any SampleBufferConsumer
  ) {
    let element = stream.sink
    if let kind = StreamElement.of(element) {
      return kind.deliver(element, StreamSink(stream, consumer, run, nil))
    }
    let caps = StreamCaps(of: element, series: consumer.formatSeries)
    StreamSinkClass.adopt(element, deliveringTo: StreamSink(stream, consumer, run, caps))
    // The frames belong to their consumer; the sink keeping one more would only hold back a decoder's buffer.
    element.withMemoryRebound(to: GstBaseSink.self, capacity: 1) { gst_base_sink_set_last_sample_enabled($0, 0) }
  }

  /// - Parameter frame: borrowed.
  func take(_ frame: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    do throws(PipSinkError) {
      if let new = try wrapper.takeNewFormat() { run?.noteFormat(new, of: id) }
      guard let format = wrapper.format else { throw .frame(.invalidCaps("none")) }
      guard !flow.isLeftOver(frame) else { return GST_FLOW_OK }
      guard format.isInSystemMemory || SampleWrapper.canRead(frame, format) else {
        run?.noteSkippedFrame(of: id, caps: format.capsDescription)
        return GST_FLOW_OK
      }
      consumer.consume(wrapper.wrap(owning: gst_buffer_ref(frame), consume format))
      if flow.noteDelivery(wrapper.frameCount) { run?.streamFlows(id) }
      return GST_FLOW_OK
    } catch {
      // A GPU's own formats are no mistake of the stream.
      if case .frame(.invalidCaps(let caps)) = error, DeviceMemory.isNamed(inCaps: caps) {
        run?.noteSkippedFrame(of: id, caps: caps)
        return GST_FLOW_OK
      }
      return run?.noteRefusal(of: id, error) == true ? GST_FLOW_OK : GST_FLOW_ERROR
    }
  }

  /// Takes a frame that an element has made by itself.
  func consume(_ sampleBuffer: SampleBuffer) {
    guard !flow.isLeftOver(sampleBuffer.pixelBuffer.buffer) else { return }
    if elementFormat !== sampleBuffer.formatDescription {
      elementFormat = sampleBuffer.formatDescription
      run?.noteFormat(sampleBuffer.formatDescription, of: id)
    }
    consumer.consume(sampleBuffer)
    if flow.noteDelivery(sampleBuffer.sequenceNumber) { run?.streamFlows(id) }
  }

  func skipFrame(caps: String) {
    run?.noteSkippedFrame(of: id, caps: caps)
  }

  /// - Parameter event: a serialised one.
  func note(_ event: UnsafeMutablePointer<GstEvent>) {
    guard event.pointee.type == GST_EVENT_CAPS else { return wrapper.note(event) }
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_event_parse_caps(event, &caps)
    if let caps { wrapper.setNewCaps(caps) }
  }

  /// Answers the caps query with what suits the stream best, and the allocation query with the metas that PipSink
  /// reads. An appsink of GStreamer 1.22 does not answer the latter, and then decoders copy every frame to get rid of
  /// their padding.
  ///
  /// - Returns: false when the sink is to answer.
  func answer(_ query: UnsafeMutablePointer<GstQuery>, on pad: UnsafeMutablePointer<GstPad>) -> Bool {
    switch query.pointee.type {
    case GST_QUERY_CAPS:
      caps?.answer(query, on: pad)
      return caps != nil
    case GST_QUERY_ALLOCATION:
      SampleWrapper.addMetas(to: query)
      return true
    default:
      return false
    }
  }
}
