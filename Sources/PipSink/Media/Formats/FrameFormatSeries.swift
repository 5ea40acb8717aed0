/// The kind of pixels that a consumer prefers.
public enum FrameFormatSeries: Hashable, Sendable {
  /// Any format, so that nothing is converted.
  case any
  /// Any RGB format.
  case rgb
  /// Any YUV format, including grayscale.
  case yuv
  /// Exactly this format.
  case exactly(PixelFormat)
  /// One of these formats, in the order of preference. An empty list stands for any format.
  case oneOf([PixelFormat])

  /// Makes a series from its name.
  ///
  /// - Parameter name: "any", "rgb" or "yuv", or the name of a ``PixelFormat``, in upper or lower case. "RGB" in upper
  ///   case is the pixel format.
  /// - Returns: nil for any other name.
  package init?(name: String) {
    switch name.lowercased() {
    case "any": self = .any
    case "rgb" where !PixelFormat.allCases.contains { $0.rawValue == name }: self = .rgb
    case "yuv": self = .yuv
    case let lowercased:
      guard let format = PixelFormat.allCases.first(where: { $0.rawValue.lowercased() == lowercased }) else {
        return nil
      }
      self = .exactly(format)
    }
  }

  /// Whether a pixel format belongs to the series.
  func contains(_ format: PixelFormat) -> Bool {
    switch self {
    case .any: true
    case .rgb: format.isRGB
    case .yuv: format.isYUV
    case .exactly(let wanted): format == wanted
    case .oneOf(let wanted): wanted.isEmpty || wanted.contains(format)
    }
  }

  /// The format that other frames are converted to when upstream cannot deliver this kind. It is the member of the
  /// series that is supported most widely, and the first one of a list that frames can be converted to.
  var fallback: PixelFormat {
    switch self {
    case .rgb: .bgra
    case .any, .yuv: .i420
    case .exactly(let wanted): wanted
    case .oneOf(let wanted): wanted.first { !$0.isTenBit } ?? wanted.first ?? .i420
    }
  }

  /// The caps of all formats of the series, in system memory and in the order of preference.
  var capsString: String {
    if case .oneOf(let wanted) = self, !wanted.isEmpty { return PixelFormat.capsString(wanted) }
    return PixelFormat.capsString(PixelFormat.allCases.filter(contains))
  }
}
