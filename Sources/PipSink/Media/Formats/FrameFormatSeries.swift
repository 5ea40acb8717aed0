/// Which kind of pixels a consumer wants.
public enum FrameFormatSeries: Hashable, Sendable {
  /// Whatever the stream has: nothing is converted.
  case any
  case rgb
  case yuv
  /// This format and no other.
  case exactly(PixelFormat)

  /// - Parameter name: "any", "rgb", "yuv", or a pixel format's name in any case.
  public init?(name: String) {
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

  func contains(_ format: PixelFormat) -> Bool {
    switch self {
    case .any: true
    case .rgb: format.isRGB
    case .yuv: format.isYUV
    case .exactly(let wanted): format == wanted
    }
  }

  /// What frames of other kinds are converted to where upstream cannot deliver this one: the member that most code
  /// takes.
  var fallback: PixelFormat {
    switch self {
    case .rgb: .bgra
    case .any, .yuv: .i420
    case .exactly(let wanted): wanted
    }
  }

  /// The caps of all members, in system memory.
  var capsString: String {
    PixelFormat.capsString(PixelFormat.allCases.filter(contains))
  }
}
