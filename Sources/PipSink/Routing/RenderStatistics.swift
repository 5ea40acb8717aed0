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
  /// Frames taken from the engine; `inApp + pictureInPicture`.
  public let received: UInt64
  /// Frames routed to the stream's in-app surface.
  public let inApp: UInt64
  /// Frames routed to a picture-in-picture surface.
  public let pictureInPicture: UInt64
  /// Frames whose pictures surfaces have presented.
  public let shown: UInt64
  /// Never shown, because a newer one came first.
  public let replaced: UInt64
  /// Left out by a surface with a timebase, because a later frame's time had come, too.
  public let late: UInt64
  public let dropped: Dropped
  /// The newest frame's.
  public let format: VideoFormatDescription?
  /// Frames received a second, in the last second or two; falls towards 0 when frames stay away. Nil before the second
  /// frame.
  public let frameRate: Double?
  /// The same of the whole time that the stream ran.
  public let averageFrameRate: Double?
  /// Times between one frame's arrival and the next one's.
  public let intervals: IntervalHistogram
  /// Times from a frame's arrival to its surface having presented it. With a timebase the wait for the frame's own time
  /// is part of it.
  public let latencies: IntervalHistogram
  /// The stream's last move from one surface to another: how long its first picture took, and what was lost or
  /// repeated.
  public let lastHandover: SurfaceChange?

  /// - Parameters:
  ///   - counts: what the stream's surfaces counted.
  ///   - info: what its engine knows; without it nothing of what comes before the router is counted.
  ///   - processing: of its processors, where it has some.
  init(
    _ streamID: StreamID, _ statistics: StreamStatistics, _ counts: PresentationTally.Counts,
    lastHandover: SurfaceChange?, info: StreamInfo?, processing: ProcessorChain.Statistics?
  ) {
    self.streamID = streamID
    (received, inApp, pictureInPicture) = (statistics.received, statistics.inApp, statistics.pictureInPicture)
    shown = counts.shown
    replaced = statistics.replaced
    late = counts.late
    dropped = Dropped(
      processor: processing.map { $0.dropped + $0.failed } ?? 0, unreadable: info?.skippedFrameCount ?? 0,
      upstream: info?.lateFrameCount ?? 0, hidden: counts.hidden, failed: counts.failed)
    format = statistics.format
    frameRate = statistics.frameRate(at: .now)
    averageFrameRate = statistics.averageFrameRate
    intervals = statistics.intervals
    latencies = counts.latencies
    self.lastHandover = lastHandover
  }

  /// Whether frames' times are taken, of all streams in the process: intervals, rates and latencies. That is one look
  /// at the clock and one entry in a histogram for a frame, and one of each again where it is shown. May be changed
  /// from any thread at any time; frames are counted in any case.
  public static var takesTimes: Bool {
    get { FrameTimes.areTaken }
    set { FrameTimes.areTaken = newValue }
  }
}
