import CGStreamer

/// The pictures that belong over a frame without being drawn into it, such as subtitles: a
/// GstVideoOverlayCompositionMeta.
///
/// It is valid while the frame's pixel buffer lives.
package struct OverlayComposition {
  /// One of the pictures.
  struct Rectangle {
    fileprivate let pointer: OpaquePointer
    /// The picture's number, which changes with its content.
    let number: guint
    /// The picture's place, in pixels of the frame's visible part. It may extend beyond that.
    let place: PictureRect

    /// Calls `body` with the picture's pixels at their original size: BGRA with premultiplied alpha.
    ///
    /// - Returns: nil where there are no readable pixels.
    func withPixels<Result, Failure: Error>(
      _ body: (Picture) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
      try withPixels(alpha: GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA) { size, pixels, stride throws(Failure) in
        try body(Picture(packed: .bgra, size: size, data: pixels, stride: Int32(stride)))
      }
    }

    /// - Parameters:
    ///   - alpha: whether the pixels' colours are multiplied by alpha.
    ///   - body: is called with the picture's size, the first row of its BGRA pixels, and the bytes between two rows.
    fileprivate func withPixels<Result, Failure: Error>(
      alpha: GstVideoOverlayFormatFlags,
      _ body: (PictureSize, UnsafeMutablePointer<UInt8>, Int) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
      guard
        let buffer = gst_video_overlay_rectangle_get_pixels_unscaled_argb(pointer, alpha),
        let meta = gst_buffer_get_video_meta(buffer)
      else { return nil }
      let size = PictureSize(width: Int(meta.pointee.width), height: Int(meta.pointee.height))
      var (info, frame) = (GstVideoInfo(), GstVideoFrame())
      guard size.isValid, meta.pointee.format == GST_VIDEO_FORMAT_BGRA,
        gst_video_info_set_format(&info, meta.pointee.format, meta.pointee.width, meta.pointee.height) != 0,
        gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ) != 0
      else { return nil }
      defer { gst_video_frame_unmap(&frame) }
      guard let pixels = frame.data.0?.assumingMemoryBound(to: UInt8.self) else { return nil }
      return try body(size, pixels, Int(frame.info.stride.0))
    }
  }

  let rectangles: [Rectangle]

  /// Reads the overlays of a frame.
  ///
  /// - Returns: nil where the frame has none.
  init?(of pixelBuffer: PixelBuffer) {
    guard let composition = pixelBuffer.overlayComposition else { return nil }
    self.init(composition)
  }

  private init(_ composition: OpaquePointer) {
    rectangles = (0..<gst_video_overlay_composition_n_rectangles(composition)).compactMap { index in
      guard let rectangle = gst_video_overlay_composition_get_rectangle(composition, index) else { return nil }
      var (x, y, width, height): (gint, gint, guint, guint) = (0, 0, 0, 0)
      gst_video_overlay_rectangle_get_render_rectangle(rectangle, &x, &y, &width, &height)
      let place = PictureRect(x: Int(x), y: Int(y), width: Int(width), height: Int(height))
      guard place.size.isValid else { return nil }
      return Rectangle(
        pointer: rectangle, number: gst_video_overlay_rectangle_get_seqnum(rectangle), place: place)
    }
  }

  /// Copies the pictures of a composition, and their places. A picture whose pixels cannot be read is left out.
  package static func images(
    of composition: OpaquePointer
  ) -> [(image: BGRAImage, place: PictureRect)] {
    OverlayComposition(composition).rectangles.compactMap { rectangle in
      let image = rectangle.withPixels(alpha: GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE) { size, pixels, stride in
        BGRAImage(size: size, copying: pixels, stride: stride)
      }
      return image.map { ($0, rectangle.place) }
    }
  }
}
