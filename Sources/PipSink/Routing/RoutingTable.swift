/// How streams are shown.
public enum RoutingMode: String, Sendable {
  /// Every stream in its own in-app surface.
  case normal
  /// The picture-in-picture stream in the picture-in-picture surface, the others in the app.
  case pictureInPicture
}

/// The two kinds of surface that a stream's frames can go to.
public enum SurfaceKind: String, Sendable {
  case inApp
  case pictureInPicture
}

/// Which surface each stream's frames go to. Immutable: a switch makes a new one.
public struct RoutingTable: Equatable, Sendable {
  public let mode: RoutingMode
  /// The stream for the picture-in-picture surface. Has no effect in normal mode.
  public let pictureInPictureStreamID: StreamID?

  public init(mode: RoutingMode = .normal, pictureInPictureStreamID: StreamID? = nil) {
    self.mode = mode
    self.pictureInPictureStreamID = pictureInPictureStreamID
  }

  /// The picture-in-picture surface when the mode and the stream ID say so; the stream's own in-app surface in every
  /// other case.
  public func surface(for streamID: StreamID) -> SurfaceKind {
    mode == .pictureInPicture && streamID == pictureInPictureStreamID ? .pictureInPicture : .inApp
  }
}
