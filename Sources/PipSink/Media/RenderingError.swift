/// Why a renderer could not show a frame. Its code decides how the layer recovers.
public struct RenderingError: Error, Equatable, Sendable, CustomStringConvertible {
  /// What kind of error it is, with the numbers that the iOS renderers use.
  public enum Code: Sendable, Equatable {
    /// -11847: the renderer cannot show the frame's pixel format. The layer has the renderer rebuilt.
    case invalidPixelFormat
    /// -11848: the size of the renderer or of the frame is impossible. The layer has the renderer update its size.
    case invalidSize
    /// -11819: the renderer is gone for good. The layer leaves it.
    case rendererLost
    /// Any other number. The layer removes the picture at the first failure, and has the renderer rebuilt at further
    /// ones.
    case other(Int)

    /// The error's number.
    public var rawValue: Int {
      switch self {
      case .invalidPixelFormat: -11847
      case .invalidSize: -11848
      case .rendererLost: -11819
      case .other(let value): value
      }
    }
  }

  /// The kind of error.
  public let code: Code
  /// What went wrong, as a clause for messages.
  public let reason: String

  /// Makes an error.
  public init(code: Code, reason: String) {
    self.code = code
    self.reason = reason
  }

  /// Makes the rendering error for an error in a frame or its conversion: the code that fits, with the error's
  /// description as reason.
  public init(_ error: PipSinkError) {
    reason = error.description
    code =
      switch error {
      case .frame(.invalidCaps), .stream(.unsupportedCaps), .frame(.unsupportedPixelFormat): .invalidPixelFormat
      case .frame(.invalidSize): .invalidSize
      default: .other(-1)
      }
  }

  /// The reason, with the number in parentheses.
  public var description: String { "\(reason) (\(code.rawValue))" }
}
