import CGStreamer

/// What a video sink does with a stream's buffers, events and allocation queries. It wraps the buffers as frames, without
/// copying. It looks up the format only when the caps have changed, numbers the frames, and sets their orientation.
///
/// ``StreamSink`` and the `pipsink` element use it, on the stream's streaming thread, of which a pad has one at a time.
/// It is a class with private fields, since for a struct that is stored in a class Swift would check at run time, for
/// every frame, that nobody else is accessing it.
package final class SampleWrapper {
  /// The format of the newest caps; nil before the first caps.
  package var format: VideoFormatDescription? { currentFormat }
  private var currentFormat: VideoFormatDescription?
  /// Caps whose format has not been looked up yet; owned.
  private var newCaps: UnsafeMutablePointer<GstCaps>?
  /// The time from one frame to the next as the newest caps have it, in nanoseconds; `UInt64.max` where they have none.
  var frameDuration: GstClockTime { duration }
  private var duration = GstClockTime.max
  /// The orientation in the stream's `image-orientation` tag.
  package var taggedOrientation: VideoOrientation { tagged }
  private var tagged = VideoOrientation.upright
  /// The number of frames so far, and so the number of the newest frame.
  var frameCount: UInt64 { count }
  private var count: UInt64 = 0
  /// The buffer that was shown as the preroll. GStreamer passes it once more when its time has come.
  private var prerolled: UnsafeMutablePointer<GstBuffer>?
  private var prerolledTime = GstClockTime.max
  /// The time of the frame that was shown in a start that is tried again, which will begin with the same frame.
  private var shownTime = GstClockTime.max
  private var isPrerolling = false
  /// Whether no frame has come since the last flush, as after a seek.
  private var isFlushed = false
  /// Whether one of these is so, which is asked for every frame.
  private var isUnusual = false

  package init() {}

  deinit {
    if let newCaps { gst_caps_unref(newCaps) }
  }

  /// Looks up the format of the next frame if caps have come since the last frame.
  ///
  /// - Returns: the ``format`` if it has changed; nil otherwise.
  /// - Throws: ``PipSinkError/Frame/invalidCaps(_:)``, for every frame until other caps come.
  @inline(__always)
  func takeNewFormat() throws(PipSinkError) -> VideoFormatDescription? {
    if let newCaps { try take(newCaps) } else { nil }
  }

  /// Sets the caps of the next frames. Their format is looked up with the first of these frames.
  func setNewCaps(_ caps: UnsafeMutablePointer<GstCaps>) {
    if let newCaps { gst_caps_unref(newCaps) }
    newCaps = gst_caps_ref(caps)
    var rate: (numerator: gint, denominator: gint) = (0, 1)
    gst_structure_get_fraction(gst_caps_get_structure(caps, 0), "framerate", &rate.numerator, &rate.denominator)
    let seconds = GstClockTime(clamping: rate.denominator)
    duration = rate.numerator > 0 ? seconds * 1_000_000_000 / GstClockTime(rate.numerator) : .max
  }

  private func take(_ newCaps: UnsafeMutablePointer<GstCaps>) throws(PipSinkError) -> VideoFormatDescription? {
    let new = try VideoFormatDescription.shared(for: newCaps)
    self.newCaps = nil
    gst_caps_unref(newCaps)
    guard new !== currentFormat else { return nil }
    currentFormat = new
    return new
  }

  /// Sets the caps and looks up their format at once, for a sink that refuses unsupported caps.
  ///
  /// - Throws: ``PipSinkError/Frame/invalidCaps(_:)``, and then there is no format.
  package func setFormat(of caps: UnsafeMutablePointer<GstCaps>) throws(PipSinkError) {
    currentFormat = nil
    currentFormat = try VideoFormatDescription.shared(for: caps)
  }

  /// Whether a frame that is not in system memory can be mapped nevertheless.
  package static func canRead(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ format: VideoFormatDescription
  ) -> Bool {
    (try? MappedFrame.withMapped(buffer, formatDescription: format) { _ in true }) ?? false
  }

  /// Calls `show`, which shows the frame that a sink gets before it plays: at the start, and in a pause after a seek or
  /// a step.
  package func preroll(_ show: () -> GstFlowReturn) -> GstFlowReturn {
    (isPrerolling, isUnusual) = (true, true)
    defer { isPrerolling = false }
    return show()
  }

  /// Whether a buffer has to be shown now. It must not where the preroll has shown it.
  @inline(__always)
  package func mustShow(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    guard isUnusual else { return true }
    let time = buffer.pointee.pts
    let isRepeated = prerolled == buffer || shownTime == time && time != .max
    shownTime = .max
    (prerolled, prerolledTime) = isPrerolling ? (buffer, time) : (nil, .max)
    isUnusual = isPrerolling || isFlushed
    return !isRepeated
  }

  /// Notes that the start has to be tried again, while no frames come.
  func startAgain() { (shownTime, prerolled, isUnusual) = (prerolledTime, nil, true) }

  /// Forgets the run that has ended. The first buffer of the next one may be the same one, taken from its pool again.
  package func endRun() { prerolled = nil }

  /// Wraps a buffer as the next frame.
  ///
  /// - Parameters:
  ///   - buffer: ownership of one reference passes to the frame.
  ///   - format: the buffer's format.
  ///   - fixedOrientation: replaces the orientation in the stream's tag; nil keeps that.
  package func wrap(
    owning buffer: UnsafeMutablePointer<GstBuffer>, _ format: consuming VideoFormatDescription,
    fixedOrientation: VideoOrientation? = nil
  ) -> SampleBuffer {
    let arrival = MonotonicTime.now
    let buffer = PixelBuffer(owning: buffer, formatDescription: format)
    count += 1
    var sampleBuffer = SampleBuffer(
      pixelBuffer: buffer,
      timing: SampleTiming(
        presentationTimeStamp: MediaTime(clockTime: UInt64(buffer.buffer.pointee.pts)),
        decodeTimeStamp: MediaTime(clockTime: UInt64(buffer.buffer.pointee.dts)),
        duration: MediaTime(clockTime: UInt64(buffer.buffer.pointee.duration))),
      // The sink has already waited for the frame's time, unless it has sync=false.
      attachments: .init(displayImmediately: true, mustNotBeDropped: isUnusual),
      sequenceNumber: count)
    let orientation = fixedOrientation ?? tagged
    // The meta describes the pixels in the buffer, and the tag the picture that results from applying it.
    sampleBuffer.orientation = VideoOrientation(affineMetaOf: buffer.buffer)?.followed(by: orientation) ?? orientation
    sampleBuffer.receivedAt = arrival
    if isUnusual { (isFlushed, isUnusual) = (false, prerolled != nil) }
    return sampleBuffer
  }

  /// Reads the orientation from the tags of a stream, which come between two frames, and notes flushes.
  ///
  /// - Parameters:
  ///   - event: a serialised event.
  ///   - pad: the pad that it has come to.
  package func note(_ event: UnsafeMutablePointer<GstEvent>, on pad: UnsafeMutablePointer<GstPad>) {
    switch event.pointee.type {
    case GST_EVENT_FLUSH_STOP:
      (prerolled, isFlushed, isUnusual) = (nil, true, true)
    case GST_EVENT_STREAM_START:
      tagged = .upright
    case GST_EVENT_TAG:
      var tags: UnsafeMutablePointer<GstTagList>?
      gst_event_parse_tag(event, &tags)
      // Events with other tags leave the orientation as it is.
      if let tags, let orientation = VideoOrientation(tags: tags) {
        tagged = pad.isTurnedUpstream ? .upright : orientation
      }
    default:
      break
    }
  }

  /// How many buffers PipSink holds: one is shown, one waits in the layer, one is the router's latest, and one was shown
  /// before, which a display server that reads it itself may not have released yet.
  private static let heldBufferCount: guint = 4

  /// Answers an allocation query: names the metas that PipSink reads, without which upstream would copy frames to remove
  /// their padding, and how many buffers it holds; offers a pool in system memory where upstream needs one.
  ///
  /// - Returns: false when the query has no caps of raw video.
  package static func answerAllocation(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    var caps: UnsafeMutablePointer<GstCaps>?
    var needsPool: gboolean = 0
    gst_query_parse_allocation(query, &caps, &needsPool)
    var info = GstVideoInfo()
    guard let caps, gst_video_info_from_caps(&info, caps) != 0 else { return false }
    gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
    gst_query_add_allocation_meta(query, gst_video_crop_meta_api_get_type(), nil)
    gst_query_add_allocation_meta(query, gst_video_affine_transformation_meta_api_get_type(), nil)
    let size = guint(clamping: info.size)
    let isInSystemMemory = gst_caps_features_contains(gst_caps_get_features(caps, 0), "memory:SystemMemory") != 0
    if isInSystemMemory, needsPool != 0, let pool = gst_video_buffer_pool_new() {
      let config = gst_buffer_pool_get_config(pool)
      gst_buffer_pool_config_set_params(config, caps, size, heldBufferCount, 0)
      gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META)
      if gst_buffer_pool_set_config(pool, config) != 0 {
        gst_query_add_allocation_pool(query, pool, size, heldBufferCount, 0)
      }
      gst_object_unref(pool)
    } else {
      gst_query_add_allocation_pool(query, nil, size, heldBufferCount, 0)
    }
    return true
  }
}

extension UnsafeMutablePointer where Pointee == GstPad {
  /// Whether an element before the pad turns the pictures as their tag says. GStreamer 1.22.0's videoflip lets the tag
  /// pass nevertheless.
  fileprivate var isTurnedUpstream: Bool {
    guard let source = gst_pad_get_peer(self) else { return false }
    defer { gst_object_unref(source) }
    if let element = gst_pad_get_parent_element(source) {
      defer { gst_object_unref(element) }
      let automatic = gint(GST_VIDEO_ORIENTATION_AUTO.rawValue)
      if element.isA(gst_video_direction_get_type()),
        element.property("video-direction", { g_value_get_enum(&$0) }) == automatic
      {
        return true
      }
    }
    return withObjects(gst_pad_iterate_internal_links(source), as: GstPad.self) { inputs in
      inputs.count == 1 && inputs[0].isTurnedUpstream
    }
  }
}
