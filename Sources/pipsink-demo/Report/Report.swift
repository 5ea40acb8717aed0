import PipSink
import PipSinkCommandLine

/// The report that `--report` writes. Times are in seconds from the start. Intervals and latencies are in milliseconds.
struct Report: Codable {
  enum Outcome: String, Codable {
    /// Every stream has ended.
    case finished
    /// The time of `--duration` has passed.
    case duration
    /// The action `quit`, its key, or closing the app's window ended the run.
    case quit
    /// Ctrl-C, SIGTERM or SIGHUP ended the run.
    case interrupted
    /// A stream failed.
    case failed
  }

  struct Stream: Codable {
    var received: UInt64
    var inApp: UInt64
    var pip: UInt64
    var replaced: UInt64
    /// Frames whose pictures were presented.
    var shown: UInt64
    /// Of these, the frames that OpenGL ES drew; absent when there were none.
    var drawnByOpenGL: UInt64?
    /// Of these, the frames that a Wayland compositor got in their own memory; absent when there were none.
    var drawnByDisplayServer: UInt64?
    /// Frames that the pipeline's elements dropped because they were late; they are not counted in `received`.
    var late: UInt64
    /// Frames that were not converted because their surface was hidden.
    var hidden: UInt64
    /// Frames that the surface refused.
    var refused: UInt64
    /// Frames that the stream's processors dropped; they are not counted in `received`. Absent without processors.
    var dropped: UInt64?
    /// Frames in GPU memory that could not be read; they are not counted in `received`. Absent when there were none.
    var skipped: UInt64?
    /// Gaps in the flow of frames that are seen as freezes (W3C's `freezeCount`).
    var freezes: UInt64 = 0
    /// The whole time of the freezes, in milliseconds.
    var freezeMs = 0.0
    /// Frames that were given to custom rendering; absent without it.
    var customRendered: UInt64?
    /// How the stream is sent to a server; absent without `--publish`.
    var sent: Sent?
    var format: String?
    var frameInterval: Interval?
    /// The average number of frames a second while the stream ran.
    var frameRate: Double?
    /// The time from a frame's arrival to its presentation.
    var latency: Interval?
    /// The time from a frame's arrival until the screen showed it; absent where the display server does not know.
    var screenLatency: Interval?
    /// The refreshes of the screen by which frames were late; absent where the display server does not know.
    var missedRefreshes: UInt64?
    /// The state of the stream when the run ended: "requesting" (it waits for its first frame), "playing", "stalled",
    /// "reconnecting", "stopped", "ended" or "failed".
    var state: String
    /// Why the stream has failed, or why it is being restarted.
    var error: String?
  }

  /// What is known of a stream on its way to a server, since the last connection was made.
  struct Sent: Codable {
    /// "connecting", "connected", "reconnecting", "failed" or "stopped".
    var state: String
    var packets: UInt64
    var bytes: UInt64
    /// Packets that the server has missed.
    var lost: Int
    /// The time to the server and back; absent while nobody has measured it.
    var roundTripMs: Double?
  }

  /// The sums of streams that are no longer reported one by one, because many others were stopped after them.
  struct ForgottenStreams: Codable, Equatable {
    var count = 0
    var received: UInt64 = 0
    var shown: UInt64 = 0
    var late: UInt64 = 0
  }

  struct Interval: Codable {
    var p50: Double
    var p99: Double
  }

  struct ModeChange: Codable {
    var stream: String
    var from: String
    var to: String
    var time: Double
    var firstFrameLatencyMs: Double?
    var framesLost: UInt64
    var framesRepeated: UInt64
  }

  /// An event of the picture-in-picture controller. Changes of its state are not reported.
  struct PictureInPictureEventRecord: Codable {
    var time: Double
    /// "willStart", "didStart", "failedToStart", "willStop", "didStop", "restoreUserInterface",
    /// "restoreFailed", "sourceChanged", "layoutChanged", "clickThroughChanged", "renderSizeChanged",
    /// "suspendedChanged" or "action".
    var event: String
    /// The stream that the event is about: the one in the window, or the last or next one there.
    var stream: String
    var detail: String?
  }

  struct ProcessUsage: Codable {
    var cpuSeconds: Double
    var peakRssBytes: Int
    var rssBytes: Int
    var threads: Int
    var openFiles: Int
  }

  /// The use of resources while picture-in-picture was active.
  struct PictureInPictureUsageRecord: Codable {
    var seconds: Double
    var cpuSeconds: Double
    var peakRssBytes: Int
  }

  var schema = 1
  var outcome: Outcome
  var durationSeconds: Double
  var surface: String
  var streams: [String: Stream]
  /// Absent when there are none.
  var forgottenStreams: ForgottenStreams?
  /// The number of pipelines that did not stop in time and were abandoned.
  var abandonedPipelines: Int
  var modeChanges: [ModeChange]
  var pictureInPictureEvents: [PictureInPictureEventRecord]
  var process: ProcessUsage
  /// Absent when picture-in-picture was never active.
  var pictureInPictureProcess: PictureInPictureUsageRecord?
  var snapshots: [String]
  var errors: [String]

  func json() throws -> [UInt8] { try JSONText.encode(self) }
}

extension Report.Stream {
  init(_ statistics: RenderStatistics, state: String, error: String?) {
    received = statistics.received
    inApp = statistics.inApp
    pip = statistics.pictureInPicture
    replaced = statistics.replaced
    shown = statistics.shown
    drawnByOpenGL = statistics.drawnByOpenGL == 0 ? nil : statistics.drawnByOpenGL
    drawnByDisplayServer = statistics.drawnByDisplayServer == 0 ? nil : statistics.drawnByDisplayServer
    late = statistics.late
    freezes = statistics.freezeCount
    freezeMs = statistics.freezeDuration / .milliseconds(1)
    hidden = statistics.dropped.hidden
    refused = statistics.dropped.failed
    dropped = statistics.dropped.processor
    skipped = statistics.dropped.unreadable == 0 ? nil : statistics.dropped.unreadable
    format = statistics.format?.description
    self.state = state
    self.error = error
    frameInterval = Report.Interval(statistics.intervals)
    frameRate = statistics.averageFrameRate
    latency = Report.Interval(statistics.latencies)
    screenLatency = Report.Interval(statistics.screenLatencies)
    missedRefreshes = screenLatency == nil ? nil : statistics.missedRefreshes
  }
}

extension Report.Interval {
  /// - Returns: nil for an empty histogram.
  init?(_ histogram: IntervalHistogram) {
    guard let p50 = histogram.value(atPercentile: 50), let p99 = histogram.value(atPercentile: 99) else { return nil }
    self.init(p50: p50 / .milliseconds(1), p99: p99 / .milliseconds(1))
  }
}

extension Report.ProcessUsage {
  init(_ usage: ResourceUsage) {
    self.init(
      cpuSeconds: usage.cpuTime / .seconds(1), peakRssBytes: usage.peakResidentBytes, rssBytes: usage.residentBytes,
      threads: usage.threadCount, openFiles: usage.openFileCount)
  }
}

extension Report.PictureInPictureUsageRecord {
  /// - Returns: nil when picture-in-picture was never active.
  init?(_ usage: PictureInPictureUsage) {
    guard usage.duration > .zero else { return nil }
    self.init(
      seconds: usage.duration / .seconds(1), cpuSeconds: usage.cpuTime / .seconds(1),
      peakRssBytes: usage.residentBytes)
  }
}

extension Report.ModeChange {
  init(_ change: SurfaceChange, start: MonotonicTime) {
    stream = change.streamID.rawValue
    from = change.from.reportName
    to = change.to.reportName
    time = start.duration(to: change.requestedAt) / .seconds(1)
    firstFrameLatencyMs = change.firstFrameLatency.map { $0 / .milliseconds(1) }
    framesLost = change.framesLost
    framesRepeated = change.framesRepeated
  }
}

extension Report.PictureInPictureEventRecord {
  /// - Returns: nil for a change of state.
  init?(_ event: PictureInPictureEvent, of id: StreamID, time: Double) {
    (self.time, stream) = (time, id.rawValue)
    switch event {
    case .stateChanged: return nil
    case .willStart: (self.event, detail) = ("willStart", nil)
    case .didStart(let latency): (self.event, detail) = ("didStart", latency.map { "\($0 / .milliseconds(1)) ms" })
    case .failedToStart(let error): (self.event, detail) = ("failedToStart", error.description)
    case .willStop(let reason): (self.event, detail) = ("willStop", "\(reason)")
    case .didStop(let reason): (self.event, detail) = ("didStop", "\(reason)")
    case .restoreUserInterface: (self.event, detail) = ("restoreUserInterface", nil)
    case .restoreFailed(let error): (self.event, detail) = ("restoreFailed", error.description)
    case .renderSizeChanged(let size): (self.event, detail) = ("renderSizeChanged", "\(size)")
    case .sourceChanged(let old, let new): (self.event, detail) = ("sourceChanged", "\(old) to \(new)")
    case .suspendedChanged(let isSuspended): (self.event, detail) = ("suspendedChanged", "\(isSuspended)")
    case .layoutChanged(let layout): (self.event, detail) = ("layoutChanged", layout.rawValue)
    case .clickThroughChanged(let isClickThrough):
      (self.event, detail) = ("clickThroughChanged", "\(isClickThrough)")
    case .action(let action): (self.event, detail) = ("action", action.name)
    }
  }
}

extension SurfaceKind {
  /// The surface's name in reports and picture files.
  var reportName: String { self == .inApp ? "inApp" : "pip" }
}
