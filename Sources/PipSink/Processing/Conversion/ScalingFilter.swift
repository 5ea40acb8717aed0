import CLibYUV

/// How pixels are computed when a picture is scaled, from the fastest filter to the best.
public enum ScalingFilter: String, CaseIterable, Sendable {
  /// ``box`` if a side becomes shorter, and ``bilinear`` otherwise.
  case automatic
  /// Each pixel is the nearest pixel of the source.
  case none
  /// Pixels are interpolated horizontally, in the nearest row.
  case linear
  /// Pixels are interpolated from four pixels. Below half of the size, some pixels of the source are left out.
  case bilinear
  /// Each pixel is the average of all source pixels that it covers. Pictures that become larger are scaled as with
  /// ``bilinear``.
  case box

  /// libyuv's filter for a change of size.
  func mode(from source: PictureSize, to target: PictureSize) -> FilterModeEnum {
    switch self {
    case .automatic:
      target.width < source.width || target.height < source.height ? kFilterBox : kFilterBilinear
    case .none: kFilterNone
    case .linear: kFilterLinear
    case .bilinear: kFilterBilinear
    case .box: kFilterBox
    }
  }
}
