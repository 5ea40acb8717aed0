import Foundation
import PipSink

/// One run of a pipeline from start to report. Everything that happens comes to one loop, in order.
final class PlaySession {
  private enum Input: Sendable {
    case engine(EngineEvent)
    case action(TimedAction.Action)
    case durationOver
    case interrupt
    case tick
  }

  private let command: PlayCommand
  private let engine: VideoEngine
  private let router: FrameRouter
  private let surfaces: Surfaces
  /// Of the streams that have processors.
  private let chains: [StreamID: ProcessorChain]
  private let statusLine = StatusLine()
  private var start = MonotonicTime.now
  private var outcome: Report.Outcome?
  private var ended: Set<StreamID> = []
  private var failed: [StreamID: PipSinkError] = [:]
  private var errors: [DemoError] = []

  /// Checks all that can be checked before anything runs.
  init(_ command: PlayCommand, description: PipelineDescription) throws {
    if command.surface == .window {
      throw DemoError(.unavailable, "windows are not supported yet; use --surface offscreen")
    }
    self.command = command
    engine = try VideoEngine(description)
    for id in command.wantedStreams where !engine.streamIDs.contains(id) {
      throw PipSinkError.unknownStream(id, known: engine.streamIDs)
    }
    if let folder = command.snapshots { try Surfaces.prepareSnapshotFolder(folder) }
    surfaces = try Surfaces(
      isOffscreen: command.surface != .none, inAppSize: command.windowSize, pictureInPictureSize: command.pipSize,
      gravity: command.gravity, snapshotFolder: command.snapshots)
    router = FrameRouter(
      table: RoutingTable(
        mode: command.mode == .pip ? .pictureInPicture : .normal,
        pictureInPictureStreamID: command.pipStream ?? engine.streamIDs.first),
      pictureInPicture: surfaces.pictureInPictureLayer)
    for id in engine.streamIDs { router.addStream(id, inApp: try surfaces.inAppLayer(for: id)) }
    var processors: [StreamID: [any FrameProcessor]] = [:]
    for option in command.processors {
      processors[option.streamID, default: []].append(
        try FrameProcessorRegistry.shared.makeProcessor(named: option.name, argument: option.argument))
    }
    let router = router
    chains = Dictionary(
      uniqueKeysWithValues: processors.map { id, processors in
        (id, ProcessorChain(processors, next: router.consumer(for: id)))
      })
  }

  /// - Throws: the ExitCode of a run that failed, after everything has been reported.
  func run() async throws {
    if command.surface == .auto { statusLine.say("Showing the streams offscreen: windows are not supported yet.") }
    let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
    let events = engine.events()
    let signals = SignalSources { continuation.yield(.interrupt) }
    start = .now
    do throws(PipSinkError) {
      try engine.start { chains[$0] ?? router.consumer(for: $0) }
    } catch {
      for id in engine.streamIDs { failed[id] = error }
      report(DemoError(error))
      continuation.finish()
    }
    let tasks = [Task { for await event in events { continuation.yield(.engine(event)) } }] + timers(continuation)
    for await input in inputs {
      handle(input)
      if outcome != nil { break }
    }
    for task in tasks { task.cancel() }
    signals.cancel()
    try finish()
  }

  private func timers(_ continuation: AsyncStream<Input>.Continuation) -> [Task<Void, Never>] {
    let actions = command.actions.enumerated().sorted {
      ($0.element.seconds, $0.offset) < ($1.element.seconds, $1.offset)
    }
    .map(\.element)
    let clock = ContinuousClock()
    let begin = clock.now
    let interval = statusLine.interval
    var tasks = [
      Task {
        for timed in actions {
          guard (try? await clock.sleep(until: begin + .seconds(timed.seconds))) != nil else { return }
          continuation.yield(.action(timed.action))
        }
      },
      Task {
        while (try? await clock.sleep(for: .seconds(interval))) != nil { continuation.yield(.tick) }
      },
    ]
    if let duration = command.duration {
      tasks.append(
        Task {
          guard (try? await clock.sleep(until: begin + .seconds(duration))) != nil else { return }
          continuation.yield(.durationOver)
        })
    }
    return tasks
  }

  // MARK: - What happens

  private func handle(_ input: Input) {
    switch input {
    case .engine(let event): handle(event)
    case .action(let action): perform(action)
    case .durationOver: outcome = .duration
    case .interrupt: outcome = .interrupted
    case .tick: statusLine.update(statistics, table: router.table, seconds: seconds)
    }
  }

  private func handle(_ event: EngineEvent) {
    switch event {
    case .stateChanged: break
    case .formatChanged(let id, let format): statusLine.say("stream \"\(id)\": \(format)")
    case .streamEnded(let id): ended.insert(id)
    case .streamFailed(let id, let error):
      failed[id] = error
      report(DemoError(error), about: "stream \"\(id)\" failed: ")
    case .warning(let element, let message, let detail):
      statusLine.say("warning: element \"\(element)\": \(message)\(detail.map { " (\($0))" } ?? "")")
    case .framesSkipped(let id, let caps):
      statusLine.say("warning: stream \"\(id)\" has frames that cannot be read and are left out: \(caps)")
    case .finished: outcome = .finished
    }
  }

  private func perform(_ action: TimedAction.Action) {
    do throws(PipSinkError) {
      switch action {
      case .pictureInPicture(let id): try router.enterPictureInPicture(id)
      case .normal: router.leavePictureInPicture()
      case .snapshot: try writeSnapshots()
      case .quit: outcome = .quit
      }
    } catch {
      report(DemoError(error))
    }
  }

  private func writeSnapshots() throws(PipSinkError) {
    let table = router.table
    try surfaces.writeSnapshots(
      at: seconds, pipStream: table.mode == .pictureInPicture ? table.pictureInPictureStreamID : nil)
  }

  private func report(_ error: DemoError, about prefix: String = "") {
    errors.append(error)
    statusLine.say("pipsink-demo: \(prefix)\(error.message)")
  }

  private var seconds: Double { Double(MonotonicTime.now.nanoseconds(since: start)) / 1e9 }

  private var statistics: [(id: StreamID, statistics: StreamStatistics)] {
    engine.streamIDs.compactMap { id in router.statistics(of: id).map { (id, $0) } }
  }

  // MARK: - The end

  private func finish() throws {
    let duration = seconds
    engine.stop()
    statusLine.end()
    do throws(PipSinkError) {
      try writeSnapshots()
    } catch {
      report(DemoError(error))
    }
    warnAboutSilentStreams()
    let report = makeReport(duration: duration)
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

  private func makeReport(duration: Double) -> Report {
    let usage = ResourceUsage.current
    let streams = statistics.map { id, statistics in
      let state = failed[id] != nil ? "failed" : ended.contains(id) ? "ended" : "playing"
      var stream = Report.Stream(
        statistics, state: state, error: (failed[id] ?? chains[id]?.error)?.description)
      let skipped = engine.skippedFrameCount(of: id)
      if skipped > 0 { stream.skipped = skipped }
      stream.dropped = chains[id].map { $0.statistics.dropped + $0.statistics.failed }
      return (id, stream)
    }
    return Report(
      outcome: failed.isEmpty ? outcome ?? .finished : .failed, durationSeconds: duration,
      surface: command.surface == .none ? "none" : "offscreen",
      streams: Dictionary(uniqueKeysWithValues: streams),
      modeChanges: router.changes.map { Report.ModeChange($0, start: start) },
      process: .init(cpuSeconds: usage.cpuSeconds, peakRssBytes: usage.peakResidentBytes),
      snapshots: surfaces.snapshots, errors: errors.map(\.message))
  }

  private func write(_ report: Report) throws {
    let json = try report.json()
    if command.report == "-" {
      FileHandle.standardOutput.write(json)
      return
    }
    if let path = command.report { try json.write(to: URL(fileURLWithPath: path)) }
    print(ReportTable(report: report, streamIDs: engine.streamIDs).text)
    if let folder = command.snapshots { print("Pictures: \(surfaces.snapshots.count) in \(folder)") }
    if let path = command.report { print("Report: \(path)") }
  }
}
