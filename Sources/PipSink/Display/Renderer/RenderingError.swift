/// Why a frame could not be shown.
public struct RenderingError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The codes of the iOS renderers that apps know.
  public enum Code: Sendable, Equatable {
    /// -11847: the surface cannot show the frame's pixel format.
    case invalidPixelFormat
    /// -11848: the surface's or the frame's size is impossible.
    case invalidSize
    /// -11819: the surface is gone for good; the layer leaves it.
    case surfaceLost
    case other(Int)

    public var rawValue: Int {
      switch self {
      case .invalidPixelFormat: -11847
      case .invalidSize: -11848
      case .surfaceLost: -11819
      case .other(let value): value
      }
    }
  }

  public let code: Code
  public let reason: String

  public init(code: Code, reason: String) {
    self.code = code
    self.reason = reason
  }

  /// The code that an error in a frame or its conversion has.
  public init(_ error: PipSinkError) {
    reason = error.description
    code =
      switch error {
      case .frame(.invalidCaps), .stream(.unsupportedCaps), .frame(.unsupportedPixelFormat): .invalidPixelFormat
      case .frame(.invalidSize): .invalidSize
      default: .other(-1)
      }
  }

  public var description: String { "\(reason) (\(code.rawValue))" }
}
