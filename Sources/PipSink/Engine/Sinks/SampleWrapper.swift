import CGStreamer

/// Wraps a stream's buffers as frames, without copying. It looks up the format only when the caps have changed, numbers
/// the frames, and sets their orientation.
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
  /// The orientation in the stream's `image-orientation` tag.
  package private(set) var taggedOrientation = VideoOrientation.upright
  /// The number of frames so far, and so the number of the newest frame.
  private(set) var frameCount: UInt64 = 0

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
    frameCount += 1
    var sampleBuffer = SampleBuffer(
      pixelBuffer: buffer,
      timing: SampleTiming(
        presentationTimeStamp: MediaTime(clockTime: UInt64(buffer.buffer.pointee.pts)),
        decodeTimeStamp: MediaTime(clockTime: UInt64(buffer.buffer.pointee.dts)),
        duration: MediaTime(clockTime: UInt64(buffer.buffer.pointee.duration))),
      // The sink has already waited for the frame's time, unless it has sync=false.
      attachments: .init(displayImmediately: true),
      sequenceNumber: frameCount)
    let orientation = fixedOrientation ?? taggedOrientation
    // The meta describes the pixels in the buffer, and the tag the picture that results from applying it.
    sampleBuffer.orientation = VideoOrientation(affineMetaOf: buffer.buffer)?.followed(by: orientation) ?? orientation
    sampleBuffer.receivedAt = arrival
    return sampleBuffer
  }

  /// Reads the orientation from the tags of a stream, which come between two frames.
  ///
  /// - Parameter event: a serialised event.
  package func note(_ event: UnsafeMutablePointer<GstEvent>) {
    switch event.pointee.type {
    case GST_EVENT_STREAM_START:
      taggedOrientation = .upright
    case GST_EVENT_TAG:
      var tags: UnsafeMutablePointer<GstTagList>?
      gst_event_parse_tag(event, &tags)
      // Events with other tags leave the orientation as it is.
      if let tags, let orientation = VideoOrientation(tags: tags) { taggedOrientation = orientation }
    default:
      break
    }
  }

  /// Adds the metas that PipSink reads to an allocation query. Without them, upstream would copy frames to remove their
  /// padding.
  package static func addMetas(to query: UnsafeMutablePointer<GstQuery>) {
    gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
    gst_query_add_allocation_meta(query, gst_video_crop_meta_api_get_type(), nil)
    gst_query_add_allocation_meta(query, gst_video_affine_transformation_meta_api_get_type(), nil)
  }
}
