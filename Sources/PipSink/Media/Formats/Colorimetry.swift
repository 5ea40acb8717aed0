import CGStreamer

/// What turns a frame's YUV values into colours, from the caps' colorimetry or GStreamer's default for the frame's
/// size.
public struct Colorimetry: Hashable, Sendable {
  /// The luma and chroma weights.
  public enum Matrix: String, Sendable { case bt601, bt709, bt2020 }

  public var matrix: Matrix
  /// Whether 0 to 255 are all used, rather than 16 to 235 (luma) and 16 to 240 (chroma).
  public var isFullRange: Bool

  public init(matrix: Matrix, isFullRange: Bool) {
    self.matrix = matrix
    self.isFullRange = isFullRange
  }

  init(_ colorimetry: GstVideoColorimetry) {
    // FCC and SMPTE 240M differ from BT.601 and BT.709 by less than libyuv's fixed-point rounding shows.
    matrix =
      switch colorimetry.matrix {
      case GST_VIDEO_COLOR_MATRIX_BT709, GST_VIDEO_COLOR_MATRIX_SMPTE240M: .bt709
      case GST_VIDEO_COLOR_MATRIX_BT2020: .bt2020
      default: .bt601
      }
    isFullRange = colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255
  }

  /// What YUV that is made of RGB has: BT.601, with the limited range in all formats but GRAY8, whose default in
  /// GStreamer is the full one.
  static func madeFromRGB(_ format: PixelFormat) -> Colorimetry {
    Colorimetry(matrix: .bt601, isFullRange: format == .gray8)
  }
}
