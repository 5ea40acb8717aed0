/// The move of a stream from one surface to another, with its latency and the frames that it lost or repeated.
public struct SurfaceChange: Sendable {
  /// The ID of the stream.
  public let streamID: StreamID
  /// The kind of surface that the stream has left.
  public let from: SurfaceKind
  /// The kind of surface that shows the stream now.
  public let to: SurfaceKind
  /// When the switch was requested.
  package let requestedAt: MonotonicTime
  /// When the new surface had presented its first picture; nil if it has not yet.
  package internal(set) var firstPresentedAt: MonotonicTime?
  /// The number of frames, by their sequence numbers, that neither surface got, between the last frame on the old
  /// surface and the first one on the new.
  public internal(set) var framesLost: UInt64 = 0
  /// The number of frames that were routed to both surfaces. The latest frame, with which the new surface begins so
  /// that it is not black, is not counted, since it replaces no other frame.
  public internal(set) var framesRepeated: UInt64 = 0

  /// The time from the request to the first picture on the new surface; nil if there is none yet.
  package var firstFrameLatency: Duration? { firstPresentedAt.map(requestedAt.duration(to:)) }
}
