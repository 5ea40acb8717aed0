import CGStreamer

/// The end of one stream in the pipeline. It wraps every buffer of its appsink without copying, and passes it to the
/// consumer. From an element that makes frames itself (``StreamElement``) it takes these frames.
///
/// GStreamer calls it on the stream's streaming thread, through ``StreamSinkClass``. The element owns it.
///
/// `@unchecked Sendable`: `wrapper` and `elementFormat` are used on the streaming thread alone, of which a pad has one
/// at a time (its stream lock); everything else is constant.
final class StreamSink: StreamElementConsumer, @unchecked Sendable {
  private let id: StreamID
  private let consumer: any SampleBufferConsumer
  private let flow: StreamFlow
  /// Weak, because the pipeline's element owns the sink and must not retain the run.
  private weak let run: PipelineRun?
  /// The caps that an appsink accepts; nil for another element.
  private let caps: StreamCaps?
  private let wrapper = SampleWrapper()
  /// The format of the newest frame from an element that is no appsink.
  private var elementFormat: VideoFormatDescription?

  private init(
    _ stream: Pipeline.Stream, _ consumer: any SampleBufferConsumer, _ run: PipelineRun?, _ caps: StreamCaps?
  ) {
    id = stream.id
    flow = stream.flow
    self.consumer = consumer
    self.run = run
    self.caps = caps
  }

  /// Makes a stream's element deliver its frames to `consumer`. Called once, before the pipeline starts.
  static func install(
    on stream: Pipeline.Stream, of run: PipelineRun?, deliveringTo consumer: any SampleBufferConsumer
  ) {
    let element = stream.sink
    if let kind = StreamElement.of(element) {
      return kind.deliver(element, StreamSink(stream, consumer, run, nil))
    }
    let caps = StreamCaps(of: element, series: consumer.formatSeries)
    StreamSinkClass.adopt(element, deliveringTo: StreamSink(stream, consumer, run, caps))
  }

  /// Wraps a buffer of the appsink and passes it to the consumer.
  ///
  /// - Parameter frame: is borrowed.
  func take(_ frame: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn {
    do throws(PipSinkError) {
      if let new = try wrapper.takeNewFormat() { run?.noteFormat(new, of: id) }
      guard let format = wrapper.format else { throw .frame(.invalidCaps("none")) }
      guard wrapper.mustShow(frame) else { return GST_FLOW_OK }
      guard !flow.isLeftOver(frame) else { return GST_FLOW_OK }
      guard format.isInSystemMemory || SampleWrapper.canRead(frame, format) else {
        run?.noteSkippedFrame(of: id, caps: format.capsDescription)
        return GST_FLOW_OK
      }
      consumer.consume(wrapper.wrap(owning: gst_buffer_ref(frame), consume format))
      if flow.noteDelivery(wrapper.frameCount) { run?.streamFlows(id) }
      return GST_FLOW_OK
    } catch {
      // Formats that only a GPU can read are not an error of the stream.
      if case .frame(.invalidCaps(let caps)) = error, DeviceMemory.isNamed(inCaps: caps) {
        run?.noteSkippedFrame(of: id, caps: caps)
        return GST_FLOW_OK
      }
      return run?.noteRefusal(of: id, error) == true ? GST_FLOW_OK : GST_FLOW_ERROR
    }
  }

  /// Takes a buffer before the pipeline plays.
  func preroll(_ frame: UnsafeMutablePointer<GstBuffer>) -> GstFlowReturn { wrapper.preroll { take(frame) } }

  /// Notes that the start has to be tried again, while no frames come.
  func startAgain() { wrapper.startAgain() }

  /// Receives a frame from an element that makes frames itself.
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

  /// Notes caps and tags between two frames.
  ///
  /// - Parameters:
  ///   - event: a serialised event.
  ///   - pad: the appsink's pad.
  func note(_ event: UnsafeMutablePointer<GstEvent>, on pad: UnsafeMutablePointer<GstPad>) {
    guard event.pointee.type == GST_EVENT_CAPS else { return wrapper.note(event, on: pad) }
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_event_parse_caps(event, &caps)
    guard let caps else { return }
    wrapper.setNewCaps(caps)
    // A frame that is too late does not come as far as to be refused.
    do throws(PipSinkError) {
      _ = try VideoFormatDescription.shared(for: caps)
    } catch {
      if case .frame(.invalidCaps(let text)) = error, DeviceMemory.isNamed(inCaps: text) { return }
      _ = run?.noteRefusal(of: id, error)
    }
  }

  /// The time for which a frame without a duration of its own is shown, in nanoseconds; `UInt64.max` where the caps have
  /// none, either.
  var frameDuration: GstClockTime { wrapper.frameDuration }

  /// Answers a caps query with the caps that suit the stream best, and an allocation query, which GStreamer 1.22's
  /// appsink does not answer.
  ///
  /// - Returns: false for queries that the appsink itself has to answer.
  func answer(_ query: UnsafeMutablePointer<GstQuery>, on pad: UnsafeMutablePointer<GstPad>) -> Bool {
    switch query.pointee.type {
    case GST_QUERY_CAPS:
      caps?.answer(query, on: pad)
      return caps != nil
    case GST_QUERY_ALLOCATION:
      return SampleWrapper.answerAllocation(query)
    default:
      return false
    }
  }
}
