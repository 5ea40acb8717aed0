import CGStreamer

/// What caps say of the light of frames with a high dynamic range, as ITU-R BT.2100 defines it.
package struct HighDynamicRange: Hashable, Sendable {
  /// How a coded value stands for light.
  package enum Transfer: Hashable, Sendable {
    /// The perceptual quantizer of SMPTE ST 2084, whose values stand for absolute luminances.
    case perceptualQuantizer
    /// Hybrid log-gamma of ARIB STD-B67, whose values stand for a share of the brightest light.
    case hybridLogGamma
  }

  package var transfer: Transfer
  /// The luminance of the brightest pixels, in cd/m².
  package var peak: Int
  /// Whether the primaries are those of BT.2020, and not those of BT.709.
  package var hasWideGamut: Bool

  /// The luminance of the brightest pixels where nothing says it, in cd/m².
  static let usualPeak = 1000
  /// The peaks that are believed, in cd/m²: from that of white in BT.2408 to the largest that ST 2084 can express.
  static let peaks = 203...10_000

  package init(_ transfer: Transfer, peak: Int = usualPeak, hasWideGamut: Bool = true) {
    self.transfer = transfer
    self.peak = min(max(peak, Self.peaks.lowerBound), Self.peaks.upperBound)
    self.hasWideGamut = hasWideGamut
  }

  /// Reads caps; nil where they have no high dynamic range.
  init?(_ colorimetry: GstVideoColorimetry, caps: UnsafePointer<GstCaps>) {
    let hasWideGamut = colorimetry.primaries != GST_VIDEO_COLOR_PRIMARIES_BT709
    switch colorimetry.transfer {
    case GST_VIDEO_TRANSFER_SMPTE2084:
      self.init(.perceptualQuantizer, peak: Self.peak(of: caps) ?? Self.usualPeak, hasWideGamut: hasWideGamut)
    case GST_VIDEO_TRANSFER_ARIB_STD_B67: self.init(.hybridLogGamma, hasWideGamut: hasWideGamut)
    default: return nil
    }
  }

  /// GStreamer's numbers of the transfer and the primaries.
  var capsNumbers: (transfer: UInt32, primaries: UInt32) {
    let isQuantizer = transfer == .perceptualQuantizer
    return (
      (isQuantizer ? GST_VIDEO_TRANSFER_SMPTE2084 : GST_VIDEO_TRANSFER_ARIB_STD_B67).rawValue,
      (hasWideGamut ? GST_VIDEO_COLOR_PRIMARIES_BT2020 : GST_VIDEO_COLOR_PRIMARIES_BT709).rawValue
    )
  }

  /// The luminance of the brightest pixel of the programme (MaxCLL of CTA-861.3), or else that of the display on which
  /// it was mastered (SMPTE ST 2086); nil where the caps have neither.
  private static func peak(of caps: UnsafePointer<GstCaps>) -> Int? {
    var level = GstVideoContentLightLevel()
    if gst_video_content_light_level_from_caps(&level, caps) != 0, level.max_content_light_level > 0 {
      return Int(level.max_content_light_level)
    }
    var display = GstVideoMasteringDisplayInfo()
    guard gst_video_mastering_display_info_from_caps(&display, caps) != 0,
      display.max_display_mastering_luminance > 0
    else { return nil }
    // ST 2086 counts in 0.0001 cd/m².
    return Int(display.max_display_mastering_luminance) / 10_000
  }

  /// The fields of caps that ``peak`` comes from.
  private static let fields = ["mastering-display-info", "content-light-level"]

  /// Copies the fields that say how bright frames are from one kind of caps to another.
  static func copyFields(from source: UnsafePointer<GstCaps>, to target: UnsafeMutablePointer<GstCaps>) {
    let (from, to) = (gst_caps_get_structure(source, 0), gst_caps_get_structure(target, 0))
    for field in fields {
      if let value = gst_structure_get_value(from, field) { gst_structure_set_value(to, field, value) }
    }
  }
}
