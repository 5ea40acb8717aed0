/// The kind of failure that an element has reported.
///
/// It is derived from GStreamer's error code, the element's class and what its pipeline reads.
public enum ElementFailureKind: Sendable, Equatable {
  /// What the element is to open does not exist: the file is missing, or no source exists for the URI.
  case notFound
  /// The file exists, but it cannot be opened: it is a folder, or this user may not read it.
  case notReadable
  /// A server or a device asks for credentials, or rejects those that it got (HTTP and RTSP status 401 and 403).
  case notAuthorized
  /// No installed plugin supports it, for instance a URI scheme or a codec.
  case unsupported
  /// Two elements have no caps in common, or nothing is linked to a pad of a source, such as the one with its sound.
  case notNegotiated
  /// The contents of a file are broken, or are no video. It is reported only for pipelines that read nothing but files.
  case badData
  /// A server, the network or a device is not available at the moment. This includes what a server does not know (HTTP
  /// and RTSP status 404), since the path of a live stream exists only while its sender is connected.
  case unavailable
  /// The failure is of another kind, or GStreamer does not say which.
  case other

  /// Whether another attempt would fail for the same reason, so that a retry is useless.
  package var isPermanent: Bool {
    switch self {
    case .notFound, .notReadable, .notAuthorized, .unsupported, .notNegotiated, .badData: true
    case .unavailable, .other: false
    }
  }
}
