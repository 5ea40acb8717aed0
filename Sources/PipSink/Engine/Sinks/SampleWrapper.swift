import CGStreamer

/// Makes a stream's buffers into frames without copying: looks the format up only when the caps are others than last
/// time, numbers the frames, and says how they are to be turned.
///
/// For the sinks of the library: ``StreamSink`` and the element. It belongs to the streaming thread, of which a pad has
/// one at a time. A class with fields that only it can see: of a value in a class, Swift checks at run time for every
/// frame that nobody else is changing it.
package final class SampleWrapper {
  /// Of the newest caps; nil before any.
  package var format: VideoFormatDescription? { currentFormat }
  private var currentFormat: VideoFormatDescription?
  /// Of the next frames, where their format has not been looked up yet. Owned.
  private var newCaps: UnsafeMutablePointer<GstCaps>?
  /// From the stream's `image-orientation` tag.
  package private(set) var taggedOrientation = VideoOrientation.upright
  /// The newest frame's number.
  private(set) var frameCount: UInt64 = 0

  package init() {}

  deinit {
    if let newCaps { gst_caps_unref(newCaps) }
  }

  /// Looks up the format of the next frame where other caps have come since the last.
  ///
  /// - Returns: the ``format``, where it is another than before.
  /// - Throws: ``PipSinkError/Frame/invalidCaps(_:)``, for every frame until other caps come.
  @inline(__always)
  func takeNewFormat() throws(PipSinkError) -> VideoFormatDescription? {
    if let newCaps { try take(newCaps) } else { nil }
  }

  /// The next frames' caps. Whether they make a format shows with the first of them.
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

  /// For a sink that refuses caps at once.
  ///
  /// - Throws: ``PipSinkError/Frame/invalidCaps(_:)``, and then there is no format.
  package func setFormat(of caps: UnsafeMutablePointer<GstCaps>) throws(PipSinkError) {
    currentFormat = nil
    currentFormat = try VideoFormatDescription.shared(for: caps)
  }

  /// Whether a frame that is not in the system's memory can be mapped all the same, as some can.
  package static func canRead(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ format: VideoFormatDescription
  ) -> Bool {
    (try? MappedFrame.withMapped(buffer, formatDescription: format) { _ in true }) ?? false
  }

  /// - Parameters:
  ///   - buffer: ownership of one reference passes to the frame.
  ///   - fixedOrientation: how the pixels are to be turned whatever the tag says; nil for what it says.
  package func wrap(
    owning buffer: UnsafeMutablePointer<GstBuffer>, _ format: consuming VideoFormatDescription,
    fixedOrientation: VideoOrientation? = nil
  ) -> SampleBuffer {
    let arrival: MonotonicTime? = FrameTimes.areTaken ? CounterClock.now : nil
    let buffer = PixelBuffer(owning: buffer, formatDescription: format)
    frameCount += 1
    var sampleBuffer = SampleBuffer(
      pixelBuffer: buffer,
      timing: SampleTiming(
        presentationTimeStamp: MediaTime(clockTime: UInt64(buffer.buffer.pointee.pts)),
        decodeTimeStamp: MediaTime(clockTime: UInt64(buffer.buffer.pointee.dts)),
        duration: MediaTime(clockTime: UInt64(buffer.buffer.pointee.duration))),
      // The sink has waited for the frame's time already, unless it was told not to (sync=false).
      attachments: .init(displayImmediately: true),
      sequenceNumber: frameCount)
    let orientation = fixedOrientation ?? taggedOrientation
    // The meta is about the pixels as they lie there, the tag about the picture that they make.
    sampleBuffer.orientation = VideoOrientation(affineMetaOf: buffer.buffer)?.followed(by: orientation) ?? orientation
    sampleBuffer.receivedAt = arrival
    return sampleBuffer
  }

  /// Reads the tags as they come, between two frames.
  ///
  /// - Parameter event: a serialised one.
  package func note(_ event: UnsafeMutablePointer<GstEvent>) {
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

  /// Adds the metas that PipSink reads to an allocation query, so that upstream need not copy frames to get rid of
  /// their padding.
  package static func addMetas(to query: UnsafeMutablePointer<GstQuery>) {
    gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
    gst_query_add_allocation_meta(query, gst_video_crop_meta_api_get_type(), nil)
    gst_query_add_allocation_meta(query, gst_video_affine_transformation_meta_api_get_type(), nil)
  }
}
