/// A window for picture-in-picture: PipSinkWindows', one in memory, or the app's own.
@MainActor
public protocol PictureInPictureHost: AnyObject {
  /// Where frames are shown; the same for the whole life of the window, also while it is closed.
  var renderer: any VideoRenderer { get }

  /// Where the frames of a second stream are shown, in the right half of the window while
  /// ``PictureInPicturePresentation/secondStreamID`` says so; the same for the whole life of the window. Nil, as by default,
  /// for windows that show one stream.
  var secondRenderer: (any VideoRenderer)? { get }

  /// Why windows of this kind cannot be shown here; nil where they can.
  var unsupportedReason: String? { get }

  /// What windows of this kind cannot do here, such as staying above others; nil where nothing is missing, and by default.
  var limitation: String? { get }

  /// What the controller wants to be told. It does not keep the window.
  var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)? { get set }

  /// Shows the window; it may have been open before.
  ///
  /// - Throws: ``PipSinkError`` when it cannot be made.
  func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError)

  /// Follows a change while it is open.
  func update(_ presentation: PictureInPicturePresentation)

  /// Takes the window away, without an event.
  func close()
}

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

extension PictureInPictureHost {
  public var limitation: String? { nil }
  public var secondRenderer: (any VideoRenderer)? { nil }

  var support: PictureInPictureSupport {
    if let unsupportedReason { return .unsupported(reason: unsupportedReason) }
    return limitation.map { .limited(reason: $0) } ?? .full
  }
}

/// All that a picture-in-picture window is to show, besides frames.
public struct PictureInPicturePresentation: Equatable, Sendable {
  /// For the title.
  public var streamID: StreamID
  /// The stream in the right half, beside the other in the left one; nil where that has the whole window.
  public var secondStreamID: StreamID?
  public var content: PictureInPictureContent
  /// Width divided by height; nil leaves the window's shape free.
  public var aspectRatio: Double?
  /// The controls that do something now.
  public var actions: Set<PictureInPictureAction>
  public var isPaused: Bool
  public var isMuted: Bool
  /// Whether the microphone of whoever is shown is off, which a mark in a corner says.
  public var isMicrophoneOff = false
}

/// What happens to a picture-in-picture window.
public enum PictureInPictureWindowEvent: Sendable {
  case action(PictureInPictureAction)
  /// The window has gone without having been closed.
  case lost(PipSinkError)
  /// In pixels.
  case renderSizeChanged(PictureSize)
  /// Whether the user can see it.
  case visibilityChanged(Bool)
}
