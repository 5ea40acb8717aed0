import CGStreamer

/// The format of a stream's frames: pixel format, size, pixel aspect ratio, colorimetry, frame rate. It is immutable.
///
/// All frames with equal caps share one instance, so two frames have the same format if their descriptions are the same
/// object (`===`).
///
/// `@unchecked Sendable`: everything is constant after `init`, and shared GstCaps are immutable.
public final class VideoFormatDescription: @unchecked Sendable {
  /// The pixel format.
  public let pixelFormat: PixelFormat
  /// The size of the visible picture, in pixels.
  public let size: PictureSize
  /// The width of a pixel divided by its height, as a fraction; 1/1 for square pixels.
  public let pixelAspectRatio: (numerator: Int, denominator: Int)
  /// The number of frames per second as a fraction; 0/1 if it is variable or unknown.
  public let frameRate: (numerator: Int, denominator: Int)
  /// How YUV values are converted to RGB.
  public let colorimetry: Colorimetry
  /// Whether frames may consist of two fields of different times.
  package let isInterlaced: Bool
  /// Whether frames are in system memory. Other memory (DMABuf, OpenGL) may or may not be readable, which shows when a
  /// frame is mapped.
  public let isInSystemMemory: Bool
  /// The caps as text, as GStreamer writes them.
  package let capsDescription: String

  package let caps: UnsafeMutablePointer<GstCaps>
  let info: GstVideoInfo

  /// The description of `caps`: the existing one for equal caps, or a new one. It is called when a stream's caps
  /// change, not for each frame.
  ///
  /// - Throws: ``PipSinkError/Frame/invalidCaps(_:)`` for caps that are not raw video in a ``PixelFormat``, for
  ///   interlaced video with each field in its own buffer, and for a size beyond ``PictureSize/maximumDimension``.
  package static func shared(for caps: UnsafeMutablePointer<GstCaps>) throws(PipSinkError) -> VideoFormatDescription {
    let text = gst_caps_to_string(caps)
    defer { g_free(text) }
    let key = text.map { String(cString: $0) } ?? ""
    return try instances.withLock { instances throws(PipSinkError) in
      if let living = instances[key] { return living }
      let new = try VideoFormatDescription(caps: caps, text: key)
      forgetUnused(&instances)
      instances[key] = new
      return new
    }
  }

  /// Releases the descriptions that only the table of instances refers to, so that the table does not grow. This
  /// happens when a new description is made, and when an engine or an element stops.
  package static func forgetUnused() {
    instances.withLock { forgetUnused(&$0) }
  }

  private static func forgetUnused(_ instances: inout [String: VideoFormatDescription]) {
    for key in Array(instances.keys) where isKnownUniquelyReferenced(&instances[key]) {
      instances[key] = nil
    }
  }

  // The references are strong, since a single weak reference to an object makes every retain and release of it slower,
  // and every frame has some.
  private static let instances = Locked<[String: VideoFormatDescription]>([:])

  private init(caps: UnsafeMutablePointer<GstCaps>, text: String) throws(PipSinkError) {
    var info = GstVideoInfo()
    let features = gst_caps_get_features(caps, 0)
    guard gst_video_info_from_caps(&info, caps) != 0, let finfo = info.finfo,
      let pixelFormat = PixelFormat(finfo.pointee.format),
      info.interlace_mode != GST_VIDEO_INTERLACE_MODE_FIELDS,
      info.interlace_mode != GST_VIDEO_INTERLACE_MODE_ALTERNATE
    else { throw .frame(.invalidCaps(text)) }
    isInSystemMemory = features == nil || gst_caps_features_contains(features, "memory:SystemMemory") != 0
    size = PictureSize(width: Int(info.width), height: Int(info.height))
    guard size.isValid, info.par_n > 0, info.par_d > 0 else { throw .frame(.invalidCaps(text)) }
    self.pixelFormat = pixelFormat
    pixelAspectRatio = (Int(info.par_n), Int(info.par_d))
    frameRate = (Int(info.fps_n), Int(info.fps_d))
    colorimetry = Colorimetry(info.colorimetry, caps: caps)
    isInterlaced = info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE
    capsDescription = text
    self.info = info
    self.caps = gst_caps_ref(caps)
  }

  deinit {
    gst_caps_unref(caps)
  }

  /// The number of planes of a frame.
  package var planeCount: Int { Int(info.finfo.pointee.n_planes) }

  /// The size of the picture on square pixels: its width is scaled by the pixel aspect ratio, and its height is kept.
  package var displaySize: (width: Double, height: Double) {
    displaySize(of: size)
  }

  /// The description of frames that are converted from these to another pixel format, size or pixel aspect ratio. The
  /// frame rate stays the same. So does the colorimetry, except between YUV and RGB. RGB has the standard dynamic range.
  ///
  /// - Throws: ``PipSinkError/Frame/invalidCaps(_:)``, ``PipSinkError/Frame/invalidSize(width:height:)``.
  func with(
    pixelFormat: PixelFormat? = nil, size: PictureSize, pixelAspectRatio: (Int, Int)? = nil, isInterlaced: Bool? = nil
  ) throws(PipSinkError) -> VideoFormatDescription {
    let format = pixelFormat ?? self.pixelFormat
    var new = GstVideoInfo()
    guard gst_video_info_set_format(&new, format.gstFormat, guint(size.width), guint(size.height)) != 0 else {
      throw .frame(.invalidSize(width: size.width, height: size.height))
    }
    (new.fps_n, new.fps_d) = (info.fps_n, info.fps_d)
    let ratio = pixelAspectRatio ?? self.pixelAspectRatio
    (new.par_n, new.par_d) = (gint(ratio.0), gint(ratio.1))
    if isInterlaced ?? self.isInterlaced {
      new.interlace_mode = info.interlace_mode
      new.ABI.abi.field_order = info.ABI.abi.field_order
    }
    if format.isRGB == self.pixelFormat.isRGB {
      new.colorimetry = info.colorimetry
      if format.chromaShift == self.pixelFormat.chromaShift { new.chroma_site = info.chroma_site }
    } else if format.isYUV {
      let isFullRange = Colorimetry.madeFromRGB(format).isFullRange
      new.colorimetry.matrix = GST_VIDEO_COLOR_MATRIX_BT601
      new.colorimetry.range = isFullRange ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235
    }
    guard let caps = gst_video_info_to_caps(&new) else {
      throw .frame(.invalidSize(width: size.width, height: size.height))
    }
    defer { gst_caps_unref(caps) }
    if colorimetry.highDynamicRange != nil, !format.isRGB { HighDynamicRange.copyFields(from: self.caps, to: caps) }
    return try Self.shared(for: caps)
  }

  /// After how long without a frame a stream with this format has stalled: after two intervals of its frame rate if that
  /// is longer than `timeout`.
  func stallTime(atLeast timeout: Duration) -> Duration {
    frameRate.numerator > 0 ? max(timeout, .seconds(2 * frameRate.denominator) / frameRate.numerator) : timeout
  }

  /// Whether the frames of both descriptions look the same. The caps may differ in other fields, such as the frame
  /// rate.
  package func looksLike(_ other: VideoFormatDescription) -> Bool {
    if self === other { return true }
    let (info, other) = (info, other.info)
    return info.finfo == other.finfo && info.width == other.width && info.height == other.height
      && info.par_n == other.par_n && info.par_d == other.par_d && info.interlace_mode == other.interlace_mode
      && info.chroma_site == other.chroma_site && info.colorimetry.range == other.colorimetry.range
      && info.colorimetry.matrix == other.colorimetry.matrix && info.colorimetry.transfer == other.colorimetry.transfer
      && info.colorimetry.primaries == other.colorimetry.primaries
  }

  /// The visible part of a buffer with this format, in pixels of its full picture. It comes from the buffer's
  /// GstVideoCropMeta, or else from the size in the caps. In formats with subsampled chroma, the origin is moved to the
  /// edge of its chroma sample.
  ///
  /// - Parameters:
  ///   - buffer: is borrowed.
  ///   - stored: the size of the full picture in the buffer.
  func visibleRect(
    of buffer: UnsafeMutablePointer<GstBuffer>, stored: (width: gint, height: gint)
  ) -> PictureRect {
    let (width, height) = (Int(stored.width), Int(stored.height))
    guard let meta = gst_buffer_get_meta(buffer, gst_video_crop_meta_api_get_type()) else {
      // The meta of a padded frame may be larger than the picture, so the size in the caps limits it.
      return PictureRect(
        x: 0, y: 0, width: max(1, min(size.width, width)), height: max(1, min(size.height, height)))
    }
    let crop = UnsafeRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self).pointee
    let shift = pixelFormat.chromaShift
    let x = min(Int(crop.x), width - 1).roundedDown(toPower: shift.x)
    let y = min(Int(crop.y), height - 1).roundedDown(toPower: shift.y)
    return PictureRect(
      x: x, y: y,
      width: max(1, min(Int(crop.width), width - x)), height: max(1, min(Int(crop.height), height - y)))
  }

  /// The size on square pixels of a visible part of the picture.
  func displaySize(of visible: PictureSize) -> (width: Double, height: Double) {
    let ratio = Double(pixelAspectRatio.numerator) / Double(pixelAspectRatio.denominator)
    return (Double(visible.width) * ratio, Double(visible.height))
  }
}

extension VideoFormatDescription: CustomStringConvertible {
  /// A short text for users, for instance "I420 640x480 at 30/1".
  public var description: String {
    let rate = frameRate.numerator > 0 ? " at \(frameRate.numerator)/\(frameRate.denominator)" : ""
    return "\(pixelFormat.rawValue) \(size)\(rate)"
  }
}

extension VideoFormatDescription {
  /// Makes the description of frames that an app makes itself.
  ///
  /// - Parameters:
  ///   - pixelFormat: the pixel format.
  ///   - size: the size in pixels.
  ///   - frameRate: frames per second as a fraction; 0/1 if it varies.
  ///   - pixelAspectRatio: the width of a pixel divided by its height, as a fraction.
  ///   - colorimetry: the colorimetry as GStreamer writes it, for instance "bt601", "bt709", "bt2020" or "1:4:0:0".
  ///     With nil it is GStreamer's default for the size: BT.601 for up to 576 rows, and BT.709 above.
  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``, and ``PipSinkError/Frame/invalidCaps(_:)`` for an
  ///   invalid rate, ratio or colorimetry.
  public static func make(
    _ pixelFormat: PixelFormat, size: PictureSize, frameRate: (numerator: Int, denominator: Int) = (0, 1),
    pixelAspectRatio: (numerator: Int, denominator: Int) = (1, 1), colorimetry: String? = nil
  ) throws(PipSinkError) -> VideoFormatDescription {
    try PipSink.initialize()
    var info = GstVideoInfo()
    guard size.isValid,
      gst_video_info_set_format(&info, pixelFormat.gstFormat, guint(size.width), guint(size.height)) != 0
    else { throw .frame(.invalidSize(width: size.width, height: size.height)) }
    guard let rate = fraction(frameRate), rate.numerator >= 0, let ratio = fraction(pixelAspectRatio),
      ratio.numerator > 0
    else { throw .frame(.invalidCaps("frame rate \(frameRate), pixel aspect ratio \(pixelAspectRatio)")) }
    (info.fps_n, info.fps_d) = rate
    (info.par_n, info.par_d) = ratio
    if let colorimetry, gst_video_colorimetry_from_string(&info.colorimetry, colorimetry) == 0 {
      throw .frame(.invalidCaps("colorimetry \(colorimetry)"))
    }
    guard let caps = gst_video_info_to_caps(&info) else {
      throw .frame(.invalidSize(width: size.width, height: size.height))
    }
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
