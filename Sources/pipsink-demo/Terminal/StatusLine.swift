import PipSink
import PipSinkCommandLine

/// Shows the progress of a run on standard error: one line that is rewritten on a terminal, and a plain line every
/// second elsewhere.
final class StatusLine {
  private let line = TerminalLine()
  private var previous: [StreamID: UInt64] = [:]
  private var previousTime = MonotonicTime.now

  /// Seconds between updates.
  var interval: Double { line.isTerminal ? 0.25 : 1 }

  /// Prints a message on a line of its own, which stays.
  func say(_ message: String) { line.say(message) }

  /// Ends the line, which stays, and goes to the next one.
  func end() { line.end() }

  /// - Parameter seconds: the seconds since the run's start.
  @MainActor
  func update(_ session: PictureInPictureSession, seconds: Double) {
    let streams = session.summaries.map(\.statistics)
    let table = session.router.table
    let now = MonotonicTime.now
    let elapsed = previousTime.duration(to: now) / .seconds(1)
    let parts = streams.map { statistics in
      let id = statistics.streamID
      // The count of a stream that was stopped and started again begins at 0.
      let new = statistics.received - min(statistics.received, previous[id] ?? 0)
      let rate = elapsed > 0 ? Double(new) / elapsed : 0
      return "\(id) \(rate.text(places: 1)) fps, \(statistics.inApp) in-app, "
        + "\(statistics.pictureInPicture) pip, \(statistics.replaced) replaced"
    }
    previous = Dictionary(streams.map { ($0.streamID, $0.received) }) { $1 }
    previousTime = now
    let mode = table.mode == .pictureInPicture ? "pip:\(table.pictureInPictureStreamID ?? "-")" : "normal"
    let playback =
      (session.isPlaybackPaused ? "  paused" : "") + (session.isMuted ? "  muted" : "")
      + (session.showsCaptions ? "" : "  no captions")
    let windows = session.display.convertedFrameCount.map { "  (\($0) converted)" } ?? ""
    let text =
      "\(seconds.text(places: 1).alignedRight(in: 5)) s  \(mode)\(playback)  \(parts.joined(separator: " | "))\(windows)"
    if line.isTerminal { line.show(text) } else { line.say(text) }
  }
}
