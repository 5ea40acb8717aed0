import CGStreamer

extension VideoFormatDescription {
  /// The description of frames that an app makes itself.
  ///
  /// - Parameters:
  ///   - frameRate: frames a second; 0/1 when it varies.
  ///   - pixelAspectRatio: width of a pixel to its height.
  ///   - colorimetry: in GStreamer's words: "bt601", "bt709", "bt2020", "1:4:0:0". nil is what GStreamer takes for that
  ///     size: BT.601 up to 576 rows, BT.709 above.
  /// - Throws: ``PipSinkError/invalidSize(width:height:)``, ``PipSinkError/invalidCaps(_:)`` for a rate, a ratio or
  ///   colours that make no sense.
  public static func make(
    _ pixelFormat: PixelFormat, size: PictureSize, frameRate: (numerator: Int, denominator: Int) = (0, 1),
    pixelAspectRatio: (numerator: Int, denominator: Int) = (1, 1), colorimetry: String? = nil
  ) throws(PipSinkError) -> VideoFormatDescription {
    try PipSink.initialize()
    var info = GstVideoInfo()
    guard size.isValid,
      gst_video_info_set_format(&info, pixelFormat.gstFormat, guint(size.width), guint(size.height)) != 0
    else { throw .invalidSize(width: size.width, height: size.height) }
    guard let rate = fraction(frameRate), rate.numerator >= 0, let ratio = fraction(pixelAspectRatio),
      ratio.numerator > 0
    else { throw .invalidCaps("a rate of \(frameRate) with pixels of \(pixelAspectRatio)") }
    (info.fps_n, info.fps_d) = rate
    (info.par_n, info.par_d) = ratio
    if let colorimetry, gst_video_colorimetry_from_string(&info.colorimetry, colorimetry) == 0 {
      throw .invalidCaps("colorimetry \(colorimetry)")
    }
    guard let caps = gst_video_info_to_caps(&info) else { throw .invalidSize(width: size.width, height: size.height) }
    defer { gst_caps_unref(caps) }
    return try shared(for: caps)
  }

  private static func fraction(_ value: (Int, Int)) -> (numerator: gint, denominator: gint)? {
    guard let numerator = gint(exactly: value.0), let denominator = gint(exactly: value.1), denominator > 0 else {
      return nil
    }
    return (numerator, denominator)
  }
}
