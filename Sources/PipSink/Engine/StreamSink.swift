import CGStreamer
import Synchronization

/// The end of one stream in the pipeline: takes every buffer from its appsink, wraps it without copying, and hands it
/// on.
///
/// GStreamer calls it on the stream's streaming thread; the appsink owns it through its callbacks.
///
/// `@unchecked Sendable`: `format`, `formatCaps`, `taggedOrientation`, `sequenceNumber` and `leftOverCount` belong to the streaming
/// thread, of which a pad has one at a time (its stream lock); everything else is constant.
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
  private var format: VideoFormatDescription?
  /// The caps that `format` was looked up for: with those the next frame needs no look-up. Owned.
  private var formatCaps: UnsafeMutablePointer<GstCaps>?
  /// From the stream's `image-orientation` tag.
  private var taggedOrientation = VideoOrientation.upright
  private var sequenceNumber: UInt64 = 0
  /// Frames left out since the decoder went on.
  private var leftOverCount = 0

  private init(consumer: any SampleBufferConsumer, flow: StreamFlow, handlers: Handlers, caps: StreamCaps) {
    self.consumer = consumer
    self.flow = flow
    self.handlers = handlers
    self.caps = caps
  }

  deinit {
    if let formatCaps { gst_caps_unref(formatCaps) }
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
      gst_element_post_message(element, BusMessage.streamEnded(appsink: element))
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
      let buffer = try PixelBuffer(owning: sample, formatDescription: format)
      let resumedAt = flow.resumedAt.load(ordering: .relaxed)
      guard resumedAt == 0 || !isLeftOver(buffer, from: resumedAt) else { return GST_FLOW_OK }
      sequenceNumber += 1
      var sampleBuffer = SampleBuffer(
        pixelBuffer: buffer,
        timing: SampleTiming(
          presentationTimeStamp: MediaTime(clockTime: UInt64(buffer.buffer.pointee.pts)),
          decodeTimeStamp: MediaTime(clockTime: UInt64(buffer.buffer.pointee.dts)),
          duration: MediaTime(clockTime: UInt64(buffer.buffer.pointee.duration))),
        // The appsink has waited for the frame's time already, unless it was told not to (sync=false).
        attachments: .init(displayImmediately: true),
        sequenceNumber: sequenceNumber)
      // The meta is about the pixels as they lie there, the tag about the picture that they make.
      sampleBuffer.orientation =
        VideoOrientation(affineMetaOf: buffer.buffer)?.followed(by: taggedOrientation) ?? taggedOrientation
      if RenderStatistics.takesTimes { sampleBuffer.receivedAt = .now }
      consumer.consume(sampleBuffer)
      flow.delivered.store(sequenceNumber, ordering: .relaxed)
      if !flow.isFlowing.load(ordering: .relaxed) {
        flow.isFlowing.store(true, ordering: .relaxed)
        handlers.flowing()
      }
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

  /// Whether a decoder that stood still had this frame in hand from before. It has a few at most: a stream that jumps
  /// back just then goes on, too.
  private func isLeftOver(_ buffer: PixelBuffer, from resumedAt: UInt64) -> Bool {
    let time = UInt64(buffer.buffer.pointee.pts)
    if time < resumedAt, leftOverCount < 32 {
      leftOverCount += 1
      return true
    }
    leftOverCount = 0
    flow.resumedAt.store(0, ordering: .relaxed)
    return false
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
    if let format, formatCaps == caps { return format }
    do throws(PipSinkError) {
      let new = try VideoFormatDescription.shared(for: caps)
      if new !== format { handlers.formatChanged(new) }
      format = new
      if let formatCaps { gst_caps_unref(formatCaps) }
      formatCaps = gst_caps_ref(caps)
      return new
    } catch {
      gst_sample_unref(sample)
      throw error
    }
  }

  /// Answers queries, and reads the tags as they come.
  private func watchPad(of appsink: UnsafeMutablePointer<GstElement>) {
    guard let pad = gst_element_get_static_pad(appsink, "sink") else { return }
    defer { gst_object_unref(pad) }
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
      { pad, info, context in
        guard let query = info?.pointee.data?.assumingMemoryBound(to: GstQuery.self), let pad, let context else {
          return GST_PAD_PROBE_OK
        }
        return Unmanaged<StreamSink>.fromOpaque(context).takeUnretainedValue().answer(query, on: pad)
      }, Unmanaged.passRetained(self).toOpaque(),
      { context in if let context { Unmanaged<StreamSink>.fromOpaque(context).release() } })
    gst_pad_add_probe(
      pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      { _, info, context in
        guard let event = info?.pointee.data?.assumingMemoryBound(to: GstEvent.self), let context else {
          return GST_PAD_PROBE_OK
        }
        Unmanaged<StreamSink>.fromOpaque(context).takeUnretainedValue().note(event)
        return GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(self).toOpaque(),
      { context in if let context { Unmanaged<StreamSink>.fromOpaque(context).release() } })
  }

  /// Answers the caps query with what suits the stream best, and the allocation query with the metas that PipSink
  /// reads. An appsink of GStreamer 1.22 does not answer the latter, and then decoders copy every frame to get rid of
  /// their padding.
  private func answer(_ query: UnsafeMutablePointer<GstQuery>, on pad: UnsafeMutablePointer<GstPad>)
    -> GstPadProbeReturn
  {
    switch query.pointee.type {
    case GST_QUERY_CAPS:
      caps.answer(query, on: pad)
      return GST_PAD_PROBE_HANDLED
    case GST_QUERY_ALLOCATION:
      gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
      gst_query_add_allocation_meta(query, gst_video_crop_meta_api_get_type(), nil)
      gst_query_add_allocation_meta(query, gst_video_affine_transformation_meta_api_get_type(), nil)
      return GST_PAD_PROBE_HANDLED
    default:
      return GST_PAD_PROBE_OK
    }
  }

  /// On the streaming thread, between two frames.
  private func note(_ event: UnsafeMutablePointer<GstEvent>) {
    switch event.pointee.type {
    case GST_EVENT_STREAM_START:
      taggedOrientation = .upright
    case GST_EVENT_TAG:
      var tags: UnsafeMutablePointer<GstTagList>?
      gst_event_parse_tag(event, &tags)
      // Other tags come in events of their own and say nothing about it.
      if let tags, let orientation = VideoOrientation(tags: tags) { taggedOrientation = orientation }
    default:
      break
    }
  }
}
