/// What kind of failure an element has reported, as far as GStreamer's error code, the element and its pipeline tell.
public enum ElementFailureKind: Sendable, Equatable {
  /// What it is to open does not exist on this machine: a file, or a URI that makes no sense.
  case notFound
  /// A file is there and cannot be opened: a folder, or somebody else's.
  case notReadable
  /// A server or a device asks for a name and a password, or for others (HTTP and RTSP 401 and 403).
  case notAuthorized
  /// No plugin on this machine can do it: a URI scheme, a codec.
  case unsupported
  /// Two elements have no caps in common, or nothing takes what a source has, such as sound.
  case notNegotiated
  /// What a file has in it is broken, or no video. Of pipelines that read files alone.
  case badData
  /// What it needs is not there or not free now: a server, the network, a device. Also what a server does not know (HTTP
  /// and RTSP 404): the path of a live stream is there once its sender is.
  case unavailable
  /// None of these, or nobody knows.
  case other

  /// Whether the next try can only fail in the same way.
  public var isPermanent: Bool {
    switch self {
    case .notFound, .notReadable, .notAuthorized, .unsupported, .notNegotiated, .badData: true
    case .unavailable, .other: false
    }
  }
}
