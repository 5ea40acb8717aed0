import PipSink

/// The end of a run: what it reports.
extension PlaySession {
  func finish() throws {
    let duration = seconds
    let infos = Dictionary(uniqueKeysWithValues: engine.streams.map { ($0.id, $0) })
    reportFailures(infos)
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
    write(report)
    if let error = errors.first { throw error.status.exitCode }
  }

  /// Streams that fail still: those that are being started again, and those whose failure had no time to be told of.
  /// One that has never delivered anything and is only started again is a failure of the run.
  private func reportFailures(_ infos: [StreamID: StreamInfo]) {
    for (id, info) in infos.sorted(by: { $0.key < $1.key }) where failed[id] == nil && !ended.contains(id) {
      guard let failure = info.failure else { continue }
      switch info.state {
      case .failed:
        failed[id] = failure
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
      let info = infos[id]
      let state = failed[id] != nil ? "failed" : ended.contains(id) ? "ended" : info?.state.name ?? "stopped"
      var stream = Report.Stream(
        statistics, state: state, error: (failed[id] ?? info?.failure ?? chains[id]?.error)?.description)
      if chains[id] == nil { stream.dropped = nil }
      return (id, stream)
    }
    return Report(
      outcome: failed.isEmpty && lost.isEmpty ? outcome ?? .finished : .failed, durationSeconds: duration,
      surface: surfaces.kind,
      streams: Dictionary(uniqueKeysWithValues: streams),
      modeChanges: router.changes.map { Report.ModeChange($0, start: start) },
      pictureInPictureEvents: pictureInPictureEvents,
      process: .init(usage),
      snapshots: snapshots?.files ?? [], errors: errors.map(\.message))
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
    var lines = [ReportTable(report: report, streamIDs: router.streamIDs).text]
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
