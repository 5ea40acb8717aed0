import CLibYUV

/// How pixels are made when a picture's size changes, from the fastest to the best.
public enum ScalingFilter: String, CaseIterable, Sendable {
  /// ``box`` when a side gets shorter, ``bilinear`` otherwise.
  case automatic
  /// The nearest pixel.
  case none
  /// Interpolated in rows, the nearest row.
  case linear
  /// Interpolated from four pixels. When a picture shrinks to less than half, pixels are left out.
  case bilinear
  /// The average of all pixels that make up the new one; bilinear when a picture grows.
  case box

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
