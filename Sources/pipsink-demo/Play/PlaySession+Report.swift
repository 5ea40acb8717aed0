import Glibc
import PipSink
import PipSinkCommandLine

/// The reports of a run: the metrics while it runs, and the report at its end.
extension PlaySession {
  /// - Parameter time: the time that pipelines have to stop.
  func finish(within time: Duration) async {
    let (duration, infos) = beginEnd()
    await findSilences()
    await findSent()
    await stopAll(within: time)
    conclude(duration, infos)
    // The window is closed, so that its place is remembered as it is now.
    session.uninitializePictureInPicture()
  }

  /// Collects what has to be known before the streams stop.
  private func beginEnd() -> (duration: Double, infos: [StreamID: StreamInfo]) {
    isFinishing = true
    let duration = seconds
    let infos = Dictionary(uniqueKeysWithValues: engine.streams.map { ($0.id, $0) })
    reportFailures(infos)
    return (duration, infos)
  }

  /// Finds out why streams have delivered nothing, while their pipelines still run.
  private func findSilences() async {
    let deadline = MonotonicTime.now.advanced(by: .milliseconds(200))
    for id in router.streamIDs where router.statistics(of: id)?.received ?? 0 == 0 {
      guard let peer = await engine.peersWithoutDescription(of: id, by: deadline).first else { continue }
      silences[id] =
        "the element \"\(peer)\" waits for the description of its peer, which a program has to give it; "
        + "what a server sends by WHEP is played with --stream \(id)=whep://HOST/PATH"
    }
  }

  private static let eventLimit = 10_000

  /// Records an event for the report.
  func record(_ event: SessionEvent) {
    switch event {
    case .pictureInPicture(let event, let id):
      guard !isFinishing, let record = Report.PictureInPictureEventRecord(event, of: id, time: seconds) else { return }
      pictureInPictureEvents.append(record)
      if pictureInPictureEvents.count > Self.eventLimit { pictureInPictureEvents.removeFirst() }
    case .streamRemoved(let id, let summary?):
      stopped.add(reported(summary, state: "ended"), of: id)
      stopped.add(summary.changes)
      stopped.forgetOldest()
      failed[id] = nil
    default: break
    }
  }

  private func conclude(_ duration: Double, _ infos: [StreamID: StreamInfo]) {
    statusLine.end()
    do throws(PipSinkError) {
      try writeSnapshots()
    } catch {
      report(CommandError(error))
    }
    do throws(CommandError) {
      try writeMetrics()
    } catch {
      report(error)
    }
    warnAboutSilentStreams(infos)
    write(makeReport(duration: duration, infos))
    if PipSink.blockedPipelineCount > 0 { exitWithoutCleanup() }
  }

  /// Takes the session off the bus, and stops its pipelines.
  func stopAll(within time: Duration) async {
    dbus?.stop()
    dbus = nil
    idleInhibitor?.stop()
    loginMonitor?.stop()
    await session.stop(within: time)
  }

  /// Reports streams that are failing at the end: those that are being restarted, and those whose failure has not been
  /// reported yet. A stream that was restarted and has never delivered a frame makes the run fail, and so does one whose
  /// surface has failed and not recovered.
  private func reportFailures(_ infos: [StreamID: StreamInfo]) {
    for (_, error) in notShown.sorted(by: { $0.key < $1.key }) {
      hasFailed = true
      report(CommandError(error))
    }
    for (id, info) in infos.sorted(by: { $0.key < $1.key }) where failed[id] == nil {
      guard let failure = info.failure else { continue }
      switch info.state {
      case .failed: noteFailure(of: id, failure)
      case .reconnecting, .requesting:
        // A stream that has played might have come back. The report has its state and its error.
        guard router.statistics(of: id)?.received ?? 0 == 0 else {
          statusLine.say("warning: stream \"\(id)\" was being started again at the end: \(failure)")
          continue
        }
        hasFailed = true
        report(CommandError(failure), about: "stream \"\(id)\" never delivered a frame: ")
      default: break
      }
    }
  }

  /// Warns of streams that have delivered nothing, which no element reports.
  private func warnAboutSilentStreams(_ infos: [StreamID: StreamInfo]) {
    for summary in session.summaries where summary.statistics.received == 0 {
      let id = summary.streamID
      // Streams that have failed have been reported already.
      guard failed[id] == nil, infos[id]?.failure == nil else { continue }
      if let error = summary.processingError {
        report(CommandError(error), about: "stream \"\(id)\": ")
      } else {
        statusLine.say("warning: stream \"\(id)\" delivered no frame\(silences[id].map { ": \($0)" } ?? "")")
      }
    }
  }

  private func makeReport(duration: Double, _ infos: [StreamID: StreamInfo]) -> Report {
    for id in router.streamIDs {
      guard let summary = session.summary(of: id, infos[id]) else { continue }
      stopped.add(reported(summary, state: summary.info?.state.name ?? "stopped"), of: id)
    }
    return Report(
      outcome: hasFailed ? .failed : outcome ?? .finished, durationSeconds: duration,
      surface: session.display.kind,
      streams: Dictionary(uniqueKeysWithValues: stopped.streams.map { ($0.rawValue, $1) }),
      forgottenStreams: stopped.forgotten, abandonedPipelines: engine.abandonedPipelineCount,
      modeChanges: (stopped.changes + router.changes).sorted { $0.requestedAt < $1.requestedAt }.map {
        Report.ModeChange($0, start: start)
      },
      pictureInPictureEvents: pictureInPictureEvents,
      process: .init(.current), pictureInPictureProcess: .init(session.pictureInPictureUsage),
      snapshots: snapshots?.files ?? [], errors: errors.map(\.message))
  }

  /// - Parameter state: the state to report for a stream that has not failed.
  private func reported(_ summary: StreamSummary, state: String) -> Report.Stream {
    let failure = failed[summary.streamID]
    var stream = Report.Stream(
      summary.statistics, state: failure == nil ? state : "failed",
      error: (failure ?? summary.info?.failure ?? summary.processingError)?.description)
    if !summary.isProcessed { stream.dropped = nil }
    stream.sent = publications.first { $0.streamID == summary.streamID }?.sent
    stream.customRendered = customFrames[summary.streamID]?.frames
    return stream
  }

  /// Writes the report to the file first, so that an error of the terminal does not prevent it, and then prints the
  /// table.
  private func write(_ report: Report) {
    var isInFile = false
    do {
      if command.report == "-" { return try StandardStream.output.deliver(try report.json(), as: "the report") }
      if let path = command.report {
        try OutputFile.write(try report.json(), to: path)
        isInFile = true
      }
    } catch let error as CommandError {
      return self.report(error)
    } catch {
      self.report(CommandError(.failed, "the report \"\(command.report ?? "")\" cannot be written: \(error)"))
    }
    var lines = [ReportTable(report: report, streamIDs: stopped.streamIDs).text]
    if let folder = command.snapshots { lines.append("Pictures: \(snapshots?.files.count ?? 0) in \(folder)") }
    if isInFile, let path = command.report { lines.append("Report: \(path)") }
    do throws(CommandError) {
      try StandardStream.output.print(lines.joined(separator: "\n"))
    } catch {
      // Without a file, the table is the report, so its loss is an error.
      if isInFile { statusLine.say("warning: \(error.message)") } else { self.report(error) }
    }
  }

  // MARK: - Metrics

  /// Rewrites the whole metrics file.
  func writeMetrics() throws(CommandError) {
    guard let path = command.metrics else { return }
    let text = PrometheusText(session.summaries.map(\.statistics)).text
    do throws(OutputFileError) {
      try OutputFile.write(text.utf8, to: path)
    } catch {
      throw CommandError(.failed, "the metrics file \"\(path)\" cannot be written: \(error)")
    }
  }

  /// Rewrites the metrics file every second, until the first error, which is reported.
  func metricsTimer() -> Task<Void, Never> {
    Task {
      while (try? await Task.sleep(for: .seconds(1))) != nil {
        do throws(CommandError) {
          try writeMetrics()
        } catch {
          return report(error)
        }
      }
    }
  }
}

/// Prevents the clean-up of libraries when the program calls `exit`, because an abandoned pipeline still runs code of
/// these libraries. It is outside of the class, so that the function that it leaves behind may run on any thread.
private func exitWithoutCleanup() {
  on_exit(
    { status, _ in
      fflush(nil)
      _exit(status)
    }, nil)
}
