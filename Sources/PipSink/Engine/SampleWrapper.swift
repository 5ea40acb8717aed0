import CGStreamer

/// Makes a stream's buffers into frames without copying: looks the format up only when the caps are others than last
/// time, numbers the frames, and says how they are to be turned.
///
/// For the sinks of the library: ``StreamSink`` and the element. It belongs to the streaming thread, of which a pad has
/// one at a time.
package struct SampleWrapper: ~Copyable {
  /// Of the newest caps; nil before any.
  package private(set) var format: VideoFormatDescription?
  /// The caps that `format` was looked up for: with those the next frame needs no look-up. Owned.
  private var formatCaps: UnsafeMutablePointer<GstCaps>?
  /// From the stream's `image-orientation` tag.
  private var taggedOrientation = VideoOrientation.upright
  private var sequenceNumber: UInt64 = 0

  package init() {}

  deinit {
    if let formatCaps { gst_caps_unref(formatCaps) }
  }

  /// - Parameter whenNew: called with a format that is another than before.
  /// - Throws: ``PipSinkError/invalidCaps(_:)``, and then the format is the one from before.
  package mutating func format(
    of caps: UnsafeMutablePointer<GstCaps>, whenNew: (VideoFormatDescription) -> Void = { _ in }
  ) throws(PipSinkError) -> VideoFormatDescription {
    if let format, formatCaps == caps { return format }
    let new = try VideoFormatDescription.shared(for: caps)
    if new !== format { whenNew(new) }
    format = new
    if let formatCaps { gst_caps_unref(formatCaps) }
    formatCaps = gst_caps_ref(caps)
    return new
  }

  /// - Parameters:
  ///   - buffer: ownership of one reference passes to the frame.
  ///   - fixedOrientation: how the pixels are to be turned whatever the tag says; nil for what it says.
  package mutating func wrap(
    owning buffer: UnsafeMutablePointer<GstBuffer>, _ format: VideoFormatDescription,
    fixedOrientation: VideoOrientation? = nil
  ) -> SampleBuffer {
    let buffer = PixelBuffer(owning: buffer, formatDescription: format)
    sequenceNumber += 1
    var sampleBuffer = SampleBuffer(
      pixelBuffer: buffer,
      timing: SampleTiming(
        presentationTimeStamp: MediaTime(clockTime: UInt64(buffer.buffer.pointee.pts)),
        decodeTimeStamp: MediaTime(clockTime: UInt64(buffer.buffer.pointee.dts)),
        duration: MediaTime(clockTime: UInt64(buffer.buffer.pointee.duration))),
      // The sink has waited for the frame's time already, unless it was told not to (sync=false).
      attachments: .init(displayImmediately: true),
      sequenceNumber: sequenceNumber)
    let orientation = fixedOrientation ?? taggedOrientation
    // The meta is about the pixels as they lie there, the tag about the picture that they make.
    sampleBuffer.orientation = VideoOrientation(affineMetaOf: buffer.buffer)?.followed(by: orientation) ?? orientation
    if RenderStatistics.takesTimes { sampleBuffer.receivedAt = .now }
    return sampleBuffer
  }

  /// Reads the tags as they come, between two frames.
  ///
  /// - Parameter event: a serialised one.
  package mutating func note(_ event: UnsafeMutablePointer<GstEvent>) {
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

  /// Adds the metas that PipSink reads to an allocation query, so that upstream need not copy frames to get rid of their
  /// padding.
  package static func addMetas(to query: UnsafeMutablePointer<GstQuery>) {
    gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
    gst_query_add_allocation_meta(query, gst_video_crop_meta_api_get_type(), nil)
    gst_query_add_allocation_meta(query, gst_video_affine_transformation_meta_api_get_type(), nil)
  }
}
