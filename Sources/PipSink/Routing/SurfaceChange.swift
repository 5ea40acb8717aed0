/// One stream's move from one surface to another, and how well it went.
public struct SurfaceChange: Sendable {
  public let streamID: StreamID
  public let from: SurfaceKind
  public let to: SurfaceKind
  /// When the switch was asked for.
  public let requestedAt: MonotonicTime
  /// When the new surface had presented its first picture; nil when it has not (yet).
  public internal(set) var firstPresentedAt: MonotonicTime?
  /// Frames of the stream, by their sequence numbers, that neither surface was given between the last one of the old
  /// surface and the first one of the new.
  public internal(set) var framesLost: UInt64 = 0
  /// Frames that routing gave to both surfaces. The latest frame, with which the new surface starts, is not counted: it
  /// is put there so that the surface is not black, and takes the place of no other.
  public internal(set) var framesRepeated: UInt64 = 0

  /// The time from the request to the first picture.
  public var firstFrameLatency: Duration? { firstPresentedAt.map(requestedAt.duration(to:)) }
}
