import Glibc
import PipSink

/// The end of a run: what it reports.
extension PlaySession {
  /// - Parameter seconds: what pipelines have for their stop.
  func finish(within seconds: Double) async {
    isFinishing = true
    let duration = self.seconds
    let infos = Dictionary(uniqueKeysWithValues: engine.streams.map { ($0.id, $0) })
    reportFailures(infos)
    await stopAll(within: seconds)
    conclude(duration, infos)
  }

  private static let eventLimit = 10_000

  /// What the report tells of what happens, be it in the run's last moment.
  func record(_ event: SessionEvent) {
    switch event {
    case .pictureInPicture(let event):
      guard !isFinishing, let record = Report.PictureInPictureEventRecord(event, time: seconds) else { return }
      pictureInPictureEvents.append(record)
      if pictureInPictureEvents.count > Self.eventLimit { pictureInPictureEvents.removeFirst() }
    case .streamRemoved(let id, let summary?):
      ended.insert(id)
      stopped.add(reported(summary), of: id)
      stopped.add(summary.changes)
      stopped.forgetOldest()
      ended.remove(id)
      failed[id] = nil
    default: break
    }
  }

  /// The same at once, for a program whose main loop goes on no more.
  func finishAtOnce() {
    isFinishing = true
    let duration = self.seconds
    let infos = Dictionary(uniqueKeysWithValues: engine.streams.map { ($0.id, $0) })
    reportFailures(infos)
    dbus?.stop()
    dbus = nil
    engine.stateChangeTimeout = Self.patienceAfterSignal
    engine.stop()
    conclude(duration, infos)
  }

  private func conclude(_ duration: Double, _ infos: [StreamID: StreamInfo]) {
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
    write(report)
    if PipSink.blockedPipelineCount > 0 { endWithoutCleanup() }
  }

  /// The session ends for other processes, too, while the pipelines stop.
  func stopAll(within seconds: Double) async {
    dbus?.stop()
    dbus = nil
    await session.stop(within: seconds)
  }

  /// Libraries clean up when a program calls `exit`, while a pipeline that was given up is still at work in them.
  private func endWithoutCleanup() {
    on_exit(
      { status, _ in
        fflush(nil)
        _exit(status)
      }, nil)
  }

  /// Streams that fail still: those that are being started again, and those whose failure had no time to be told of.
  /// One that has never delivered anything and is only started again is a failure of the run.
  private func reportFailures(_ infos: [StreamID: StreamInfo]) {
    for (id, info) in infos.sorted(by: { $0.key < $1.key }) where failed[id] == nil && !ended.contains(id) {
      guard let failure = info.failure else { continue }
      switch info.state {
      case .failed:
        failed[id] = failure
        hasFailed = true
        report(DemoError(failure), about: "stream \"\(id)\" failed: ")
      case .reconnecting, .requesting:
        // One that had played may come back yet, as it did before; the report has its state and its error.
        guard router.statistics(of: id)?.received ?? 0 == 0 else {
          statusLine.say("warning: stream \"\(id)\" was being started again at the end: \(failure)")
          continue
        }
        lost.insert(id)
        report(DemoError(failure), about: "stream \"\(id)\" never delivered a frame: ")
      default: break
      }
    }
  }

  /// A branch that never delivers is a mistake that no element reports.
  private func warnAboutSilentStreams() {
    for (id, statistics) in statistics where statistics.received == 0 && failed[id] == nil && !lost.contains(id) {
      if let error = session.summary(of: id)?.processingError {
        report(DemoError(error), about: "stream \"\(id)\": ")
      } else {
        statusLine.say("warning: stream \"\(id)\" delivered no frame")
      }
    }
  }

  private func makeReport(duration: Double, _ infos: [StreamID: StreamInfo]) -> Report {
    let usage = ResourceUsage.current
    for id in router.streamIDs {
      if let summary = session.summary(of: id, infos[id]) { stopped.add(reported(summary), of: id) }
    }
    return Report(
      outcome: hasFailed || !lost.isEmpty ? .failed : outcome ?? .finished, durationSeconds: duration,
      surface: session.display.kind,
      streams: stopped.streams, forgottenStreams: stopped.forgotten, abandonedPipelines: engine.abandonedPipelineCount,
      modeChanges: (stopped.changes + router.changes).sorted { $0.requestedAt < $1.requestedAt }.map {
        Report.ModeChange($0, start: start)
      },
      pictureInPictureEvents: pictureInPictureEvents,
      process: .init(usage),
      snapshots: snapshots?.files ?? [], errors: errors.map(\.message))
  }

  private func reported(_ summary: StreamSummary) -> Report.Stream {
    let id = summary.streamID
    let state = failed[id] != nil ? "failed" : ended.contains(id) ? "ended" : summary.info?.state.name ?? "stopped"
    var stream = Report.Stream(
      summary.statistics, state: state,
      error: (failed[id] ?? summary.info?.failure ?? summary.processingError)?.description)
    if !summary.isProcessed { stream.dropped = nil }
    return stream
  }

  /// The file first: what becomes of the terminal is all the same to it.
  private func write(_ report: Report) {
    var isInFile = false
    do {
      if command.report == "-" { return try StandardStream.output.deliver(try report.json(), as: "the report") }
      if let path = command.report {
        try OutputFile.write(try report.json(), to: path)
        isInFile = true
      }
    } catch let error as DemoError {
      return self.report(error)
    } catch {
      self.report(DemoError(.failed, "the report \"\(command.report ?? "")\" cannot be written: \(error)"))
    }
    var lines = [ReportTable(report: report, streamIDs: stopped.streamIDs).text]
    if let folder = command.snapshots { lines.append("Pictures: \(snapshots?.files.count ?? 0) in \(folder)") }
    if isInFile, let path = command.report { lines.append("Report: \(path)") }
    do throws(DemoError) {
      try StandardStream.output.print(lines.joined(separator: "\n"))
    } catch {
      // The table is the report where there is no other.
      if isInFile { statusLine.say("warning: \(error.message)") } else { self.report(error) }
    }
  }
}
