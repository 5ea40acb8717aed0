import Foundation
import PipSink

/// The end of a run: what it reports.
extension PlaySession {
  /// - Parameter seconds: what pipelines have for their stop.
  func finish(within seconds: Double) async throws {
    let duration = self.seconds
    let infos = Dictionary(uniqueKeysWithValues: engine.streams.map { ($0.id, $0) })
    await stopAll(within: seconds)
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
    if PipSink.blockedPipelineCount > 0 { endWithoutCleanup() }
  }

  /// The session ends for other processes, too, while the pipelines stop.
  func stopAll(within seconds: Double) async {
    dbus?.stop()
    dbus = nil
    await engine.stop(within: seconds)
  }

  /// Libraries clean up when a program calls `exit`, while a pipeline that was given up is still at work in them.
  private func endWithoutCleanup() {
    on_exit(
      { status, _ in
        fflush(nil)
        _exit(status)
      }, nil)
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
    for statistics in renderStatistics(infos) { stopped.add(reported(statistics), of: statistics.streamID) }
    return Report(
      outcome: hasFailed ? .failed : outcome ?? .finished, durationSeconds: duration,
      surface: surfaces.kind,
      streams: stopped.streams, forgottenStreams: stopped.forgotten, abandonedPipelines: engine.abandonedPipelineCount,
      modeChanges: (stopped.changes + router.changes).sorted { $0.requestedAt < $1.requestedAt }.map {
        Report.ModeChange($0, start: start)
      },
      pictureInPictureEvents: pictureInPictureEvents,
      process: .init(usage),
      snapshots: snapshots?.files ?? [], errors: errors.map(\.message))
  }

  /// What is reported of a stream if it is stopped now; nil of one that has never been there.
  func reportedStream(_ id: StreamID) -> Report.Stream? {
    router.renderStatistics(of: id, info: engine.info(of: id), processing: chains[id]?.statistics).map(reported)
  }

  private func reported(_ statistics: RenderStatistics) -> Report.Stream {
    let id = statistics.streamID
    let state = failed[id] != nil ? "failed" : ended.contains(id) ? "ended" : "playing"
    var stream = Report.Stream(statistics, state: state, error: (failed[id] ?? chains[id]?.error)?.description)
    if chains[id] == nil { stream.dropped = nil }
    return stream
  }

  private func write(_ report: Report) throws {
    let json = try report.json()
    if command.report == "-" {
      FileHandle.standardOutput.write(json)
      return
    }
    if let path = command.report { try json.write(to: URL(fileURLWithPath: path)) }
    print(ReportTable(report: report, streamIDs: stopped.streamIDs).text)
    if let folder = command.snapshots { print("Pictures: \(snapshots?.files.count ?? 0) in \(folder)") }
    if let path = command.report { print("Report: \(path)") }
  }
}
