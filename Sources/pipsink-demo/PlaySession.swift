import ArgumentParser
import Foundation
import PipSink
import PipSinkDBus

/// One run of a pipeline from start to report. Everything that happens comes to one loop, in order.
@MainActor
final class PlaySession {
  private enum Input: Sendable {
    case engine(EngineEvent)
    case pictureInPicture(PictureInPictureEvent)
    case background(Bool)
    case action(TimedAction.Action)
    case key(Character)
    /// The pipeline has not come up.
    case startFailed(PipSinkError)
    case durationOver
    case interrupt
    case tick
  }

  let command: PlayCommand
  let engine: VideoEngine
  let router: FrameRouter
  let surfaces: any Surfaces
  let controller: PictureInPictureController
  private let delegate: PictureInPictureDelegate
  var pictureInPictureEvents: [Report.PictureInPictureEventRecord] = []
  let snapshots: SnapshotFolder?
  private let inputs: AsyncStream<Input>
  private let continuation: AsyncStream<Input>.Continuation
  /// Of the streams that have processors.
  let chains: [StreamID: ProcessorChain]
  /// By the streams of their own that there are: whether they have been stopped.
  var stops: [StreamID: Locked<Bool>] = [:]
  /// What is reported of streams that were stopped.
  var stopped = StoppedStreams()
  let statusLine = StatusLine()
  var dbus: SessionService?
  var start = MonotonicTime.now
  var outcome: Report.Outcome?
  var ended: Set<StreamID> = []
  var failed: [StreamID: PipSinkError] = [:]
  /// Streams that only failed and were started again, without a frame.
  var lost: Set<StreamID> = []
  /// How many `start` actions are still to come.
  private var startsToCome = 0
  /// Whether a stream has failed that may have been stopped since.
  var hasFailed = false
  var errors: [DemoError] = []
  /// Whether the report is on its way.
  var isFinishing = false

  /// Checks all that can be checked before anything runs.
  ///
  /// - Parameter description: nil where all streams come later.
  init(_ command: PlayCommand, description: PipelineDescription?) throws {
    self.command = command
    engine = if let description { try VideoEngine(description) } else { try VideoEngine() }
    engine.localStreamIDs = Set(command.localStreams)
    engine.isBackgroundDecodingEnabled = command.backgroundDecoding
    engine.stateChangeTimeout = command.stopTimeout
    let known = engine.streamIDs + command.streams.map(\.streamID)
    for id in command.wantedStreams where !known.contains(id) {
      throw PipSinkError.unknownStream(id, known: known)
    }
    snapshots = try command.snapshots.map { try SnapshotFolder($0) }
    let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
    self.inputs = inputs
    self.continuation = continuation
    surfaces = try Self.makeSurfaces(command, statusLine) { wish in
      switch wish {
      case .key(let key): continuation.yield(.key(key))
      case .quit: continuation.yield(.action(.quit))
      case .background(let isInBackground): continuation.yield(.background(isInBackground))
      }
    }
    // None where all come later: then the first one is chosen when it comes.
    let chosen = command.pipStream ?? command.preferredStream(of: engine.streamIDs)
    // From the first frame on.
    router = FrameRouter(
      table: RoutingTable(
        mode: command.mode == .pip && chosen != nil ? .pictureInPicture : .normal, pictureInPictureStreamID: chosen))
    controller = PictureInPictureController(
      contentSource: ContentSource(router: router, streamID: chosen ?? ""), window: surfaces.pictureInPictureWindow)
    controller.configuration.videoGravity = command.gravity
    controller.configuration.endAction = command.pipEndAction
    var selector = PictureInPictureStreamSelector()
    for id in engine.streamIDs { selector.add(id, isLocal: engine.localStreamIDs.contains(id)) }
    if let chosen { selector.select(chosen) }
    controller.streamSelector = selector
    delegate = PictureInPictureDelegate(engine: engine, surfaces: surfaces)
    controller.delegate = delegate
    controller.engine = engine
    controller.handledActions = PictureInPictureDelegate.handledActions
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

  private static func makeSurfaces(
    _ command: PlayCommand, _ statusLine: StatusLine, wish: @escaping @MainActor (WindowSurfaces.Wish) -> Void
  ) throws -> any Surfaces {
    func windows() throws(PipSinkError) -> any Surfaces {
      try WindowSurfaces(
        size: command.windowSize ?? PictureSize(width: 960, height: 540), layout: command.layout,
        placement: command.pipPlacement, gravity: command.gravity,
        watchesBackground: command.autoPip || !command.backgroundDecoding,
        help: Keys.help, wish: wish)
    }
    func offscreen() throws(PipSinkError) -> any Surfaces {
      try OffscreenSurfaces(
        inAppSize: command.windowSize ?? PictureSize(width: 640, height: 360),
        pictureInPictureSize: command.pipSize ?? PictureSize(width: 320, height: 180), gravity: command.gravity,
        isSplit: command.layout == .split)
    }
    switch command.surface {
    case .none: return NoSurfaces()
    case .offscreen: return try offscreen()
    case .window: return try windows()
    case .auto:
      do throws(PipSinkError) {
        return try windows()
      } catch {
        statusLine.say("Showing the streams offscreen: no display can be reached.")
        return try offscreen()
      }
    }
  }

  /// - Throws: the ExitCode of a run that failed, after everything has been reported.
  func run() async throws {
    try writeMetrics()
    try startDBus()
    let continuation = continuation
    let events = engine.events()
    let signals = SignalSources { continuation.yield(.interrupt) }
    let keys = TerminalKeys { continuation.yield(.key($0)) }
    // The report has also what happens just before the end.
    controller.observeEvents { [weak self] event in
      self?.record(event)
      continuation.yield(.pictureInPicture(event))
    }
    start = .now
    (surfaces as? WindowSurfaces)?.onLoss { [weak self] in self?.displayDied(keys) }
    (surfaces as? WindowSurfaces)?.show()
    prepareAudio()
    startPictureInPicture()
    let tasks =
      [
        startPipeline(),
        Task { for await event in events { continuation.yield(.engine(event)) } },
      ] + timers(continuation) + (command.metrics == nil ? [] : [metricsTimer()])
    for await input in inputs {
      handle(input)
      dbus?.sessionDidChange()
      if outcome != nil { break }
    }
    for task in tasks { task.cancel() }
    keys?.cancel()
    // A signal may come now: whoever waits for a pipeline then waits no longer.
    let rest = Task {
      for await input in inputs {
        if case .interrupt = input { await stopAll(within: Self.patienceAfterSignal) }
      }
    }
    await finish(within: outcome == .interrupted ? Self.patienceAfterSignal : command.stopTimeout)
    rest.cancel()
    signals.cancel()
    if let error = errors.first { throw error.status.exitCode }
  }

  /// Seconds that pipelines have for their stop after Ctrl-C.
  static let patienceAfterSignal = 1.0

  /// Aside: an element may block in it, and everything else goes on meanwhile.
  private func startPipeline() -> Task<Void, Never> {
    let (engine, router, chains, continuation, timeout) = (engine, router, chains, continuation, command.stopTimeout)
    return Task.detached {
      do throws(PipSinkError) {
        guard !engine.streamIDs.isEmpty else { return }
        try await engine.start(within: timeout) { chains[$0] ?? router.consumer(for: $0) }
      } catch {
        continuation.yield(.startFailed(error))
      }
    }
  }

  /// Ends the run on the spot, within whatever was being done when the display server was found to have gone.
  private func displayDied(_ keys: TerminalKeys?) {
    keys?.cancel()
    // Before and after that the program's own handler says it.
    guard !isFinishing else { return }
    report(DemoError(.unavailable, DisplayLoss.message))
    outcome = .failed
    finishAtOnce()
    DisplayLoss.end((errors.first?.status ?? .unavailable).rawValue)
  }

  private func timers(_ continuation: AsyncStream<Input>.Continuation) -> [Task<Void, Never>] {
    let actions = TimedAction.inOrder(command.actions)
    startsToCome = actions.count { if case .startStream = $0.action { true } else { false } }
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
    case .pictureInPicture(let event): handle(event)
    case .background(let isInBackground): setBackground(isInBackground)
    case .action(let action): perform(action)
    case .startFailed(let error):
      for id in engine.streamIDs { failed[id] = error }
      hasFailed = true
      report(DemoError(error))
      outcome = .failed
    case .durationOver: outcome = .duration
    case .interrupt: outcome = .interrupted
    case .key(let key): Keys.action(for: key).map(perform)
    case .tick:
      statusLine.update(
        statistics, table: router.table, seconds: seconds, converted: surfaces.convertedFrameCount)
    }
  }

  private func handle(_ event: EngineEvent) {
    if handleAudio(event) { return }
    switch event {
    case .stateChanged, .customVideoRenderChanged, .cameraStateChanged, .microphoneStateChanged, .decodingSuspended,
      .buffering:
      break
    case .streamStateChanged(let id, let state): follow(id, state)
    case .formatChanged(let id, let format):
      statusLine.say("stream \"\(id)\": \(format)")
      guard router.streamIDs.contains(id) else { break }
      surfaces.streamDidChange(id, to: .playing)
    case .warning(let element, let message, let detail):
      statusLine.say("warning: element \"\(element)\": \(message)\(detail.map { " (\($0))" } ?? "")".visible)
    case .framesSkipped(let id, let caps):
      statusLine.say("warning: stream \"\(id)\" has frames that cannot be read and are left out: \(caps)")
    case .abandoned(let ids):
      let streams = "stream\(ids.count == 1 ? "" : "s") \(ids.map { "\"\($0)\"" }.joined(separator: ", "))"
      statusLine.say("warning: the pipeline of \(streams) does not stop and is given up: one of its elements blocks")
    case .finished: finishIfNothingIsToCome()
    default: break
    }
  }

  /// Every stream has ended. A run that waits for streams goes on: for those of `start` actions, and, where all are
  /// another process's, for those.
  private func finishIfNothingIsToCome() {
    if startsToCome == 0, !(command.dbus && engine.streamIDs.isEmpty) { outcome = .finished }
  }

  /// As by its key.
  func quit() { continuation.yield(.action(.quit)) }

  private func perform(_ action: TimedAction.Action) {
    do throws(PipSinkError) {
      switch action {
      case .pictureInPicture(let id): try enterPictureInPicture(id)
      case .source(let id): try controller.setSource(streamID: id)
      case .normal: controller.stop()
      case .close: controller.perform(.close)
      case .startStream(let id):
        startsToCome -= 1
        try startStream(id)
      case .stopStream(let id): try stopStream(id)
      case .background: setBackground(true)
      case .foreground: setBackground(false)
      case .toggle:
        if pictureInPictureStreamID != nil || controller.isWaitingForPicture {
          controller.stop()
        } else {
          try controller.startWhenReady()
        }
      case .next: try enterPictureInPicture(nextStreamID)
      case .pause: isPaused.toggle()
      case .mute: setMuted(!engine.audioSession.isMuted)
      case .volume(let volume): engine.audioSession.volume = volume
      case .fullscreen: (surfaces as? WindowSurfaces)?.toggleFullscreen()
      case .help: showHelp()
      case .snapshot: try writeSnapshots()
      case .quit: outcome = .quit
      }
    } catch {
      report(DemoError(error))
      // No stream will tell of its end where it has not begun.
      if case .startStream = action, engine.streams.allSatisfy(\.state.isOver) { finishIfNothingIsToCome() }
    }
  }

  private func showHelp() {
    if let windows = surfaces as? WindowSurfaces {
      windows.toggleHelp()
    } else {
      statusLine.say(Keys.help)
    }
  }

  func writeSnapshots() throws(PipSinkError) {
    let patience = pictureInPictureStreamID == nil ? 0.0 : 2
    _ = controller.displayLayer.waitUntilPresented(by: .now.advanced(bySeconds: patience))
    try snapshots?.write(surfaces.images(pipStream: pictureInPictureStreamID), at: seconds)
  }

  func report(_ error: DemoError, about prefix: String = "") {
    if errors.count < Self.errorLimit { errors.append(error) }
    statusLine.say("pipsink-demo: \(prefix)\(error.message)")
  }

  private static let errorLimit = 1000

  var seconds: Double { Double(MonotonicTime.now.nanoseconds(since: start)) / 1e9 }

  var statistics: [(id: StreamID, statistics: StreamStatistics)] {
    router.streamIDs.compactMap { id in router.statistics(of: id).map { (id, $0) } }
  }
}
