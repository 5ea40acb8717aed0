/// What became of a stream's frames, and how fast, from their arrival to the surfaces.
///
/// A frame of a stream with surfaces ends as shown, replaced, late, hidden or failed, or waits still. One that is
/// mirrored is counted for each of its two surfaces.
public struct RenderStatistics: Sendable {
  /// Frames that were left out, by the reason.
  public struct Dropped: Equatable, Sendable {
    /// Taken out by the stream's processors on purpose, or because one failed. Not among `received`.
    public internal(set) var processor: UInt64 = 0
    /// In memory that cannot be read, since the stream's last start. Not among `received`.
    public internal(set) var unreadable: UInt64 = 0
    /// Dropped by the pipeline's elements because they were late, since the stream's last start. Not among `received`.
    public internal(set) var upstream: UInt64 = 0
    /// Not converted because nobody could see the surface.
    public internal(set) var hidden: UInt64 = 0
    /// Refused by the surface, also after it was repaired.
    public internal(set) var failed: UInt64 = 0
  }

  public let streamID: StreamID
  public let dropped: Dropped
  /// Frames received a second, in the last second or two; falls towards 0 when frames stay away. Nil before the second
  /// frame.
  public let frameRate: Double?
  /// The stream's last move from one surface to another: how long its first picture took, and what was lost or
  /// repeated.
  public let lastHandover: SurfaceChange?
  private let routed: StreamStatistics
  private let presented: PresentationTally.Counts

  /// - Parameters:
  ///   - counts: what the stream's surfaces counted.
  ///   - info: what its engine knows; without it nothing of what comes before the router is counted.
  ///   - processing: of its processors, where it has some.
  init(
    _ streamID: StreamID, _ statistics: StreamStatistics, _ counts: PresentationTally.Counts,
    lastHandover: SurfaceChange?, info: StreamInfo?, processing: ProcessorChain.Statistics?
  ) {
    self.streamID = streamID
    dropped = Dropped(
      processor: processing.map { $0.dropped + $0.failed } ?? 0, unreadable: info?.skippedFrameCount ?? 0,
      upstream: info?.lateFrameCount ?? 0, hidden: counts.hidden, failed: counts.failed)
    frameRate = statistics.frameRate(at: .now)
    self.lastHandover = lastHandover
    routed = statistics
    presented = counts
  }

  /// Frames taken from the engine; `inApp + pictureInPicture`.
  public var received: UInt64 { routed.received }
  /// Frames routed to the stream's in-app surface.
  public var inApp: UInt64 { routed.inApp }
  /// Frames routed to a picture-in-picture surface.
  public var pictureInPicture: UInt64 { routed.pictureInPicture }
  /// Frames whose pictures surfaces have presented.
  public var shown: UInt64 { presented.shown }
  /// Never shown, because a newer one came first.
  public var replaced: UInt64 { routed.replaced }
  /// Left out by a surface with a timebase, because a later frame's time had come, too.
  public var late: UInt64 { presented.late }
  /// The newest frame's.
  public var format: VideoFormatDescription? { routed.format }
  /// Frames received a second in the whole time that the stream ran; nil before the second frame.
  public var averageFrameRate: Double? { routed.averageFrameRate }
  /// Times between one frame's arrival and the next one's.
  public var intervals: IntervalHistogram { routed.intervals }
  /// Times from a frame's arrival to its surface having presented it. With a timebase the wait for the frame's own time
  /// is part of it.
  public var latencies: IntervalHistogram { presented.latencies }

  /// Whether frames' times are taken, of all streams in the process: intervals, rates and latencies. That is one look
  /// at the clock and one entry in a histogram for a frame, and one of each again where it is shown. May be changed
  /// from any thread at any time; frames are counted in any case.
  public static var takesTimes: Bool {
    get { FrameTimes.areTaken }
    set { FrameTimes.areTaken = newValue }
  }
}
