import Foundation
import PipSink

/// The end of a run: what it reports.
extension PlaySession {
  func finish() throws {
    isFinishing = true
    let duration = seconds
    let infos = Dictionary(uniqueKeysWithValues: engine.streams.map { ($0.id, $0) })
    dbus?.stop()
    engine.stop()
    statusLine.end()
    do throws(PipSinkError) {
      try writeSnapshots()
    } catch {
      report(DemoError(error))
    }
    do throws(DemoError) {
      try writeMetrics()
    } catch {
      report(error)
    }
    warnAboutSilentStreams()
    let report = makeReport(duration: duration, infos)
    do {
      try write(report)
    } catch {
      self.report(
        DemoError(.failed, "the report \"\(command.report ?? "")\" cannot be written: \(error.localizedDescription)"))
    }
    if let error = errors.first { throw error.status.exitCode }
  }

  /// A branch that never delivers is a mistake that no element reports.
  private func warnAboutSilentStreams() {
    for (id, statistics) in statistics where statistics.received == 0 && failed[id] == nil {
      if let error = chains[id]?.error {
        report(DemoError(error), about: "stream \"\(id)\": ")
      } else {
        statusLine.say("warning: stream \"\(id)\" delivered no frame")
      }
    }
  }

  private func makeReport(duration: Double, _ infos: [StreamID: StreamInfo]) -> Report {
    let usage = ResourceUsage.current
    let streams = renderStatistics(infos).map { statistics in
      let id = statistics.streamID
      let state = failed[id] != nil ? "failed" : ended.contains(id) ? "ended" : "playing"
      var stream = Report.Stream(
        statistics, state: state, error: (failed[id] ?? chains[id]?.error)?.description)
      if chains[id] == nil { stream.dropped = nil }
      return (id, stream)
    }
    return Report(
      outcome: failed.isEmpty ? outcome ?? .finished : .failed, durationSeconds: duration,
      surface: surfaces.kind,
      streams: Dictionary(uniqueKeysWithValues: streams),
      modeChanges: router.changes.map { Report.ModeChange($0, start: start) },
      pictureInPictureEvents: pictureInPictureEvents,
      process: .init(usage),
      snapshots: snapshots?.files ?? [], errors: errors.map(\.message))
  }

  private func write(_ report: Report) throws {
    let json = try report.json()
    if command.report == "-" {
      FileHandle.standardOutput.write(json)
      return
    }
    if let path = command.report { try json.write(to: URL(fileURLWithPath: path)) }
    print(ReportTable(report: report, streamIDs: router.streamIDs).text)
    if let folder = command.snapshots { print("Pictures: \(snapshots?.files.count ?? 0) in \(folder)") }
    if let path = command.report { print("Report: \(path)") }
  }
}
