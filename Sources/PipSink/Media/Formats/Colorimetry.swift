import CGStreamer

/// How a frame's YUV values are converted to RGB. It comes from the colorimetry in the caps, or is GStreamer's default
/// for the frame's size.
public struct Colorimetry: Hashable, Sendable {
  /// The standard that defines the weights of luma and chroma.
  public enum Matrix: String, Sendable {
    /// ITU-R BT.601, for standard definition.
    case bt601
    /// ITU-R BT.709, for high definition.
    case bt709
    /// ITU-R BT.2020, for ultra-high definition.
    case bt2020
  }

  /// The standard that defines the weights of luma and chroma.
  public var matrix: Matrix
  /// Whether values use the full range from 0 to 255, rather than 16 to 235 for luma and 16 to 240 for chroma.
  public var isFullRange: Bool

  /// Makes a colorimetry from a matrix and a range.
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

  /// The range and the matrix as caps have them, by their numbers in GStreamer. Transfer and primaries are unknown.
  var capsValue: String { "\(isFullRange ? 1 : 2):\(matrix == .bt601 ? 4 : matrix == .bt709 ? 3 : 6):0:0" }

  /// The colorimetry of YUV frames that PipSink makes from RGB: BT.601 with the limited range. GRAY8 has the full
  /// range, which is GStreamer's default for it.
  static func madeFromRGB(_ format: PixelFormat) -> Colorimetry {
    Colorimetry(matrix: .bt601, isFullRange: format == .gray8)
  }
}
