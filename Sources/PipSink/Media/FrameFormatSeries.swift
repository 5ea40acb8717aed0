/// Which kind of pixels a consumer wants.
public enum FrameFormatSeries: String, CaseIterable, Sendable {
  /// Whatever the stream has: nothing is converted.
  case any
  case rgb
  case yuv

  func contains(_ format: PixelFormat) -> Bool {
    switch self {
    case .any: true
    case .rgb: format.isRGB
    case .yuv: format.isYUV
    }
  }

  /// What frames of other kinds are converted to where upstream cannot deliver this one: the member that most code
  /// takes.
  var fallback: PixelFormat { self == .rgb ? .bgra : .i420 }

  /// The caps of all members, in system memory.
  var capsString: String {
    PixelFormat.capsString(PixelFormat.allCases.filter(contains))
  }
}
