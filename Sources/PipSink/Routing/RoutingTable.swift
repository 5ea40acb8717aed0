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

/// One of a router's picture-in-picture surfaces.
public struct PictureInPictureSurfaceID: Hashable, Sendable {
  /// The one that a router is made with.
  public static let primary = PictureInPictureSurfaceID(number: 0)

  let number: Int
}

/// Which surface each stream's frames go to. Immutable: a switch makes a new one.
///
/// A stream is in one picture-in-picture surface at most, and a surface shows one stream.
public struct RoutingTable: Equatable, Sendable {
  /// What a picture-in-picture surface shows.
  public struct Entry: Equatable, Sendable {
    public let streamID: StreamID
    /// Whether its frames go to the in-app surface as well.
    public let keepsShowingInApp: Bool
  }

  /// Where a stream's frames go: to its in-app surface where `surface` is nil.
  struct Placement: Equatable {
    var surface: PictureInPictureSurfaceID?
    var keepsShowingInApp = false

    var kind: SurfaceKind { surface == nil ? .inApp : .pictureInPicture }
    var isInApp: Bool { surface == nil || keepsShowingInApp }
  }

  /// What the picture-in-picture surfaces show that show something.
  public let entries: [PictureInPictureSurfaceID: Entry]
  /// The stream chosen for the primary surface, also while that shows nothing.
  public let pictureInPictureStreamID: StreamID?

  /// - Parameter pictureInPictureStreamID: for the primary surface. Has no effect in normal mode.
  public init(mode: RoutingMode = .normal, pictureInPictureStreamID: StreamID? = nil) {
    let entry = pictureInPictureStreamID.map { Entry(streamID: $0, keepsShowingInApp: false) }
    self.init(entries: mode == .normal ? [:] : [.primary: entry].compactMapValues(\.self), pictureInPictureStreamID)
  }

  private init(entries: [PictureInPictureSurfaceID: Entry], _ chosen: StreamID?) {
    self.entries = entries
    pictureInPictureStreamID = entries[.primary]?.streamID ?? chosen
  }

  /// Of the primary surface.
  public var mode: RoutingMode { entries[.primary] == nil ? .normal : .pictureInPicture }

  /// A picture-in-picture surface when one shows the stream; the stream's own in-app surface in every other case.
  public func surface(for streamID: StreamID) -> SurfaceKind {
    placement(of: streamID).kind
  }

  /// The table in which `surface` shows the stream, which leaves any other.
  public func showing(
    _ streamID: StreamID, on surface: PictureInPictureSurfaceID = .primary, keepsShowingInApp: Bool = false
  ) -> RoutingTable {
    var entries = entries.filter { $0.value.streamID != streamID }
    entries[surface] = Entry(streamID: streamID, keepsShowingInApp: keepsShowingInApp)
    return RoutingTable(entries: entries, pictureInPictureStreamID)
  }

  /// The table in which `surface` shows nothing.
  public func clearing(_ surface: PictureInPictureSurfaceID = .primary) -> RoutingTable {
    RoutingTable(entries: entries.filter { $0.key != surface }, pictureInPictureStreamID)
  }

  /// The table that knows nothing of a stream.
  func forgetting(_ streamID: StreamID) -> RoutingTable {
    RoutingTable(
      entries: entries.filter { $0.value.streamID != streamID },
      pictureInPictureStreamID == streamID ? nil : pictureInPictureStreamID)
  }

  func placement(of streamID: StreamID) -> Placement {
    guard let (surface, entry) = entries.first(where: { $0.value.streamID == streamID }) else { return Placement() }
    return Placement(surface: surface, keepsShowingInApp: entry.keepsShowingInApp)
  }
}
