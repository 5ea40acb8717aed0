/// What picture-in-picture is here: on this display, with this window manager or compositor.
public enum PictureInPictureSupport: Equatable, Sendable, CustomStringConvertible {
  case full
  /// There are windows, but not all that is promised of them; the reason says what is missing, for instance that other
  /// windows can cover them.
  case limited(reason: String)
  /// No window can be shown.
  case unsupported(reason: String)

  /// Whether a window can be shown.
  public var isSupported: Bool { if case .unsupported = self { false } else { true } }

  public var description: String {
    switch self {
    case .full: "full"
    case .limited(let reason): "limited: \(reason)"
    case .unsupported(let reason): "unsupported: \(reason)"
    }
  }
}
