/// Whether a stream is shown in picture-in-picture.
package enum RoutingMode: String, Sendable {
  /// Every stream is shown on its own surface in the app.
  case normal
  /// The picture-in-picture stream is shown on the picture-in-picture surface, and the others in the app.
  case pictureInPicture
}

/// The two kinds of surface that a stream's frames can go to.
public enum SurfaceKind: String, Sendable {
  /// A surface in the app.
  case inApp
  /// A picture-in-picture surface.
  case pictureInPicture
}

/// Identifies one of a router's picture-in-picture surfaces.
package struct PictureInPictureSurfaceID: Hashable, Sendable {
  /// The router's first picture-in-picture surface.
  package static let primary = PictureInPictureSurfaceID(number: 0)

  let number: Int
}

/// Determines the surface of each stream. A table is immutable; a switch replaces it.
///
/// A stream is on one picture-in-picture surface at most, and each of these surfaces shows one stream at most.
package struct RoutingTable: Equatable, Sendable {
  /// The stream that a picture-in-picture surface shows.
  package struct Entry: Equatable, Sendable {
    /// The ID of the stream.
    package let streamID: StreamID
    /// Whether the stream's frames go to its surface in the app as well.
    package let keepsShowingInApp: Bool
  }

  /// Where a stream's frames go. If `surface` is nil, it is the stream's surface in the app.
  struct Placement: Equatable {
    var surface: PictureInPictureSurfaceID?
    var keepsShowingInApp = false

    var kind: SurfaceKind { surface == nil ? .inApp : .pictureInPicture }
    var isInApp: Bool { surface == nil || keepsShowingInApp }
  }

  /// The streams on the picture-in-picture surfaces. Surfaces that show nothing have no entry.
  package let entries: [PictureInPictureSurfaceID: Entry]
  /// The stream that is chosen for the primary surface, even while that shows nothing.
  package let pictureInPictureStreamID: StreamID?

  /// Makes a table for the primary picture-in-picture surface.
  ///
  /// - Parameters:
  ///   - mode: whether the surface shows the stream.
  ///   - pictureInPictureStreamID: the stream that is chosen for the surface. In normal mode it is not shown there.
  package init(mode: RoutingMode = .normal, pictureInPictureStreamID: StreamID? = nil) {
    let entry = pictureInPictureStreamID.map { Entry(streamID: $0, keepsShowingInApp: false) }
    self.init(entries: mode == .normal ? [:] : [.primary: entry].compactMapValues(\.self), pictureInPictureStreamID)
  }

  private init(entries: [PictureInPictureSurfaceID: Entry], _ chosen: StreamID?) {
    self.entries = entries
    pictureInPictureStreamID = entries[.primary]?.streamID ?? chosen
  }

  /// The streams that the table names.
  var streamIDs: Set<StreamID> {
    Set(entries.values.map(\.streamID)).union([pictureInPictureStreamID].compactMap(\.self))
  }

  /// The mode of the primary surface.
  package var mode: RoutingMode { entries[.primary] == nil ? .normal : .pictureInPicture }

  /// The kind of surface that a stream's frames go to: a picture-in-picture surface if one shows the stream, and the
  /// stream's surface in the app otherwise.
  package func surface(for streamID: StreamID) -> SurfaceKind {
    placement(of: streamID).kind
  }

  /// The table in which `surface` shows the stream, and no other picture-in-picture surface does.
  package func showing(
    _ streamID: StreamID, on surface: PictureInPictureSurfaceID = .primary, keepsShowingInApp: Bool = false
  ) -> RoutingTable {
    var entries = entries.filter { $0.value.streamID != streamID }
    entries[surface] = Entry(streamID: streamID, keepsShowingInApp: keepsShowingInApp)
    return RoutingTable(entries: entries, pictureInPictureStreamID)
  }

  /// The table in which `surface` shows no stream.
  package func clearing(_ surface: PictureInPictureSurfaceID = .primary) -> RoutingTable {
    RoutingTable(entries: entries.filter { $0.key != surface }, pictureInPictureStreamID)
  }

  /// The table without a stream.
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
