/// A surface that shows frames: memory, a window, or the app's own.
///
/// A ``SampleBufferDisplayLayer`` calls it on its presenting thread, one call at a time. It may take as long as showing
/// a picture takes: no stream waits for it, and frames that arrive meanwhile replace each other.
public protocol VideoRenderer: AnyObject, Sendable {
  /// Shows a frame, turned by its ``SampleBuffer/orientation`` and then fitted to the surface by `gravity`.
  ///
  /// - Throws: ``RenderingError`` when it cannot be shown. The layer reports it and goes on with the next frame.
  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError)

  /// Takes the picture away and shows nothing (black).
  func removeImage()
}

/// Why a frame could not be shown.
public struct RenderingError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The codes of the iOS renderers that apps know.
  public enum Code: Sendable, Equatable {
    /// -11847: the surface cannot show the frame's pixel format.
    case invalidPixelFormat
    /// -11848: the surface's or the frame's size is impossible.
    case invalidSize
    case other(Int)

    public var rawValue: Int {
      switch self {
      case .invalidPixelFormat: -11847
      case .invalidSize: -11848
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

  init(_ error: PipSinkError) {
    reason = error.description
    code =
      switch error {
      case .invalidCaps, .unsupportedCaps, .unsupportedPixelFormat: .invalidPixelFormat
      case .invalidSize: .invalidSize
      default: .other(-1)
      }
  }

  public var description: String { "\(reason) (\(code.rawValue))" }
}
