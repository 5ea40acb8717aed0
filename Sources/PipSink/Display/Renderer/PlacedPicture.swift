import CGStreamer

/// What renderers need that do not convert and scale frames with the processor.
extension SampleBuffer {
  /// Whether only the standard dynamic range, whole frames and no other pictures are involved in showing the frame, so
  /// that scaling its planes and multiplying its values by a matrix is all that is to be done.
  package var isPlain: Bool {
    let format = pixelBuffer.formatDescription
    let flags = gst_buffer_get_video_meta(pixelBuffer.buffer)?.pointee.flags.rawValue ?? 0
    let isInterlaced = format.isInterlaced || flags & GST_VIDEO_FRAME_FLAG_INTERLACED.rawValue != 0
    let mapsTones = format.colorimetry.highDynamicRange != nil && format.pixelFormat.isYUV
    return !isInterlaced && !mapsTones && !pixelBuffer.hasOverlays
  }

  /// Maps the frame and calls `body` with the part of it that a gravity shows, and where on the surface that is.
  ///
  /// - Parameters:
  ///   - surface: the surface's size in pixels.
  ///   - body: gets the part before its rotation, and its place in pixels of the surface. It is valid only until the
  ///     function returns.
  /// - Throws: ``PipSinkError`` for an unreadable frame.
  package func withPicture<Result>(
    for gravity: VideoGravity, in surface: PictureSize, _ body: (Picture, PictureRect) -> Result
  ) throws(PipSinkError) -> Result {
    try pixelBuffer.withMappedFrame { frame throws(PipSinkError) in
      let placement = gravity.placement(of: frame, orientation: orientation, in: surface)
      return body(Picture(frame, crop: placement.source), placement.target)
    }
  }
}
