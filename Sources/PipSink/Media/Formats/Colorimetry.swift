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
  /// The light of frames with a high dynamic range; nil for all others. Such frames are mapped to the standard dynamic
  /// range when they are converted to RGB.
  package var highDynamicRange: HighDynamicRange?

  /// Makes a colorimetry from a matrix and a range.
  public init(matrix: Matrix, isFullRange: Bool) {
    self.matrix = matrix
    self.isFullRange = isFullRange
  }

  init(_ colorimetry: GstVideoColorimetry, caps: UnsafePointer<GstCaps>) {
    // FCC and SMPTE 240M differ from BT.601 and BT.709 by less than libyuv's fixed-point rounding shows.
    matrix =
      switch colorimetry.matrix {
      case GST_VIDEO_COLOR_MATRIX_BT709, GST_VIDEO_COLOR_MATRIX_SMPTE240M: .bt709
      case GST_VIDEO_COLOR_MATRIX_BT2020: .bt2020
      default: .bt601
      }
    isFullRange = colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255
    highDynamicRange = HighDynamicRange(colorimetry, caps: caps)
  }

  /// The colorimetry as caps have it, by its numbers in GStreamer: range, matrix, transfer and primaries. The last two
  /// are unknown (0) except for a high dynamic range.
  var capsValue: String {
    let range = isFullRange ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235
    let matrix =
      switch matrix {
      case .bt601: GST_VIDEO_COLOR_MATRIX_BT601
      case .bt709: GST_VIDEO_COLOR_MATRIX_BT709
      case .bt2020: GST_VIDEO_COLOR_MATRIX_BT2020
      }
    let (transfer, primaries) = highDynamicRange?.capsNumbers ?? (0, 0)
    return "\(range.rawValue):\(matrix.rawValue):\(transfer):\(primaries)"
  }

  /// The colorimetry of YUV frames that PipSink makes from RGB: BT.601 with the limited range. GRAY8 has the full
  /// range, which is GStreamer's default for it.
  static func madeFromRGB(_ format: PixelFormat) -> Colorimetry {
    Colorimetry(matrix: .bt601, isFullRange: format == .gray8)
  }
}

extension Colorimetry.Matrix {
  /// The weights of red and blue in luma; that of green is the rest.
  package var lumaWeights: (red: Double, blue: Double) {
    switch self {
    case .bt601: (0.299, 0.114)
    case .bt709: (0.2126, 0.0722)
    case .bt2020: (0.2627, 0.0593)
    }
  }
}
