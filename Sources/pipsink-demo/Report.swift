import Foundation
import PipSink

/// What `--report` writes. Times are in seconds from the start and intervals in milliseconds, as their names say.
struct Report: Codable {
  enum Outcome: String, Codable {
    /// Every stream came to its end.
    case finished
    /// `--duration` was over.
    case duration
    /// A `quit` action.
    case quit
    /// Ctrl-C or SIGTERM.
    case interrupted
    /// A stream failed.
    case failed
  }

  struct Stream: Codable {
    var received: UInt64
    var inApp: UInt64
    var pip: UInt64
    var replaced: UInt64
    /// Frames that the stream's processors took out; not among `received`. Absent without processors.
    var dropped: UInt64?
    /// Frames in a GPU's memory that could not be read; not among `received`. Absent when there were none.
    var skipped: UInt64?
    var format: String?
    var frameInterval: Interval?
    /// "playing", "ended" or "failed".
    var state: String
    var error: String?
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

  /// What the picture-in-picture controller reported, but its changes of state.
  struct PictureInPictureEventRecord: Codable {
    var time: Double
    /// "willStart", "didStart", "failedToStart", "willStop", "didStop", "restoreUserInterface", "sourceChanged",
    /// "renderSizeChanged", "suspendedChanged" or "action".
    var event: String
    var detail: String?
  }

  struct ProcessUsage: Codable {
    var cpuSeconds: Double
    var peakRssBytes: Int
  }

  var schema = 1
  var outcome: Outcome
  var durationSeconds: Double
  var surface: String
  var streams: [String: Stream]
  var modeChanges: [ModeChange]
  var pictureInPictureEvents: [PictureInPictureEventRecord]
  var process: ProcessUsage
  var snapshots: [String]
  var errors: [String]

  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self) + Data("\n".utf8)
  }
}

extension Report.Stream {
  init(_ statistics: StreamStatistics, state: String, error: String?) {
    received = statistics.received
    inApp = statistics.inApp
    pip = statistics.pictureInPicture
    replaced = statistics.replaced
    format = statistics.format?.description
    self.state = state
    self.error = error
    if let p50 = statistics.intervals.nanoseconds(atPercentile: 50),
      let p99 = statistics.intervals.nanoseconds(atPercentile: 99)
    {
      frameInterval = Report.Interval(p50: Double(p50) / 1e6, p99: Double(p99) / 1e6)
    }
  }
}

extension Report.ModeChange {
  init(_ change: SurfaceChange, start: MonotonicTime) {
    stream = change.streamID
    from = change.from.reportName
    to = change.to.reportName
    time = Double(change.requestedAt.nanoseconds(since: start)) / 1e9
    firstFrameLatencyMs = change.firstFrameLatency.map { Double($0) / 1e6 }
    framesLost = change.framesLost
    framesRepeated = change.framesRepeated
  }
}

extension Report.PictureInPictureEventRecord {
  /// - Returns: nil for a change of state.
  init?(_ event: PictureInPictureEvent, time: Double) {
    self.time = time
    switch event {
    case .stateChanged: return nil
    case .willStart: self.event = "willStart"
    case .didStart(let latency):
      self.event = "didStart"
      detail = latency.map { "\(Double($0) / 1e6) ms" }
    case .failedToStart(let error):
      self.event = "failedToStart"
      detail = error.description
    case .willStop(let reason):
      self.event = "willStop"
      detail = "\(reason)"
    case .didStop(let reason):
      self.event = "didStop"
      detail = "\(reason)"
    case .restoreUserInterface: self.event = "restoreUserInterface"
    case .renderSizeChanged(let size):
      self.event = "renderSizeChanged"
      detail = "\(size)"
    case .sourceChanged(let old, let new):
      self.event = "sourceChanged"
      detail = "\(old) to \(new)"
    case .suspendedChanged(let isSuspended):
      self.event = "suspendedChanged"
      detail = "\(isSuspended)"
    case .action(let action):
      self.event = "action"
      detail = action.rawValue
    }
  }
}

extension SurfaceKind {
  /// The surface's name in reports and picture files.
  var reportName: String { self == .inApp ? "inApp" : "pip" }
}
