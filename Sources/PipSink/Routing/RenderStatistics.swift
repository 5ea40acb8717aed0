/// Counts and times of a stream's frames, from their arrival until surfaces have presented them.
///
/// Each frame of a stream with surfaces is counted as shown, replaced, overdue, hidden or failed, unless it is still
/// waiting. A frame that goes to two surfaces is counted for each of them.
public struct RenderStatistics: Sendable {
  /// The numbers of frames that were left out, by reason.
  public struct Dropped: Equatable, Sendable {
    /// Frames that the stream's processors have dropped, on purpose or because a processor failed. They are not in
    /// ``RenderStatistics/received``.
    public internal(set) var processor: UInt64 = 0
    /// Frames in memory that cannot be read, since the stream's last start. They are not in
    /// ``RenderStatistics/received``.
    public internal(set) var unreadable: UInt64 = 0
    /// Frames that a layer with a timebase has skipped, because the time of a later frame had come as well.
    package internal(set) var overdue: UInt64 = 0
    /// Frames that were not converted because the surface was hidden.
    public internal(set) var hidden: UInt64 = 0
    /// Frames that the surface has refused, even after it was repaired.
    public internal(set) var failed: UInt64 = 0
  }

  /// The ID of the stream.
  public let streamID: StreamID
  /// The numbers of frames that were left out.
  public let dropped: Dropped
  /// The number of frames received per second, in the last second or two. It falls towards 0 when no frames come, and
  /// is nil before the second frame.
  public let frameRate: Double?
  /// The stream's last move from one surface to another, with its latency and the frames that it lost or repeated; nil
  /// if the stream has not moved.
  package let lastHandover: SurfaceChange?
  /// The number of freezes, as W3C's "Identifiers for WebRTC's Statistics API" defines `freezeCount`: gaps between two
  /// frames of at least three times the average of the last 30, and at least 150 milliseconds more than it. A freeze
  /// counts as soon as it is that long. Gaps while the stream is paused, hidden from its decoder, ended or sought in,
  /// while its camera is off, and in streams that send only what changes, are no freezes.
  public let freezeCount: UInt64
  /// The whole time of the freezes, each from the last frame before it to the first one after it.
  public let freezeDuration: Duration
  private let routed: StreamStatistics
  private let presented: PresentationTally.Counts

  /// - Parameters:
  ///   - counts: the counts of the stream's surfaces.
  ///   - info: what the engine knows about the stream. Without it, the counts of what happens before the router are 0.
  ///   - processing: the counts of the stream's processors.
  init(
    _ streamID: StreamID, _ statistics: StreamStatistics, _ counts: PresentationTally.Counts,
    lastHandover: SurfaceChange?, info: StreamInfo?, processing: ProcessorChain.Statistics?
  ) {
    self.streamID = streamID
    dropped = Dropped(
      processor: processing.map { $0.dropped + $0.failed } ?? 0, unreadable: info?.skippedFrameCount ?? 0,
      overdue: counts.late, hidden: counts.hidden, failed: counts.failed)
    late = info?.lateFrameCount ?? 0
    let now = MonotonicTime.now
    frameRate = statistics.frameRate(at: now)
    // A stream that is over or starts again is not frozen, even if its session has yet to learn of it.
    let mayBeFrozen = info.map { $0.state == .playing || $0.state == .stalled } ?? true
    (freezeCount, freezeDuration) = statistics.freezes(at: now, mayBeFrozen: mayBeFrozen)
    self.lastHandover = lastHandover
    routed = statistics
    presented = counts
  }

  /// The number of frames that the router has received, which is `inApp + pictureInPicture`.
  public var received: UInt64 { routed.received }
  /// The number of frames routed to the stream's surface in the app.
  public var inApp: UInt64 { routed.inApp }
  /// The number of frames routed to a picture-in-picture surface.
  public var pictureInPicture: UInt64 { routed.pictureInPicture }
  /// The number of pictures that surfaces have presented.
  public var shown: UInt64 { presented.shown }
  /// The number of the frames in ``shown`` that OpenGL ES has drawn.
  public var drawnByOpenGL: UInt64 { presented.drawnByOpenGL }
  /// The number of the frames in ``shown`` that a Wayland compositor has got in their own memory, so that nobody has
  /// copied or drawn them before.
  public var drawnByDisplayServer: UInt64 { presented.drawnByDisplayServer }
  /// The number of frames that were never shown because a newer one came first.
  public var replaced: UInt64 { routed.replaced }
  /// The number of frames that the pipeline's elements have dropped because they were late, since the stream's last
  /// start. They are not in ``received``.
  public let late: UInt64
  /// The format of the newest frame; nil before the first one.
  public var format: VideoFormatDescription? { routed.format }
  /// The number of frames received per second while the stream ran; nil before the second frame.
  package var averageFrameRate: Double? { routed.averageFrameRate }
  /// The times between the arrivals of successive frames.
  public var intervals: IntervalHistogram { routed.intervals }
  /// The times from a frame's arrival until its surface has presented it. With a timebase, they include the wait for
  /// the frame's presentation time.
  public var latencies: IntervalHistogram { presented.latencies }
  /// The times from a frame's arrival until the refresh of the screen that showed it first, as the display server says:
  /// on Wayland where the compositor has `wp_presentation`, on X11 where the server has Present, there without the time
  /// that a compositing manager takes. Empty where nobody knows, as for frames that are drawn into memory or a widget.
  public var screenLatencies: IntervalHistogram { presented.screenLatencies }
  /// The number of refreshes of the screen by which frames were later than the quickest ones of the last seconds,
  /// without the one that cannot be avoided on a screen whose refreshes are at fixed times. Each of them is a picture
  /// that stayed too long. It is known where ``screenLatencies`` are.
  public var missedRefreshes: UInt64 { presented.missedRefreshes }
}
