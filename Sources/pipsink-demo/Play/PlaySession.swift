import ArgumentParser
import PipSink
import PipSinkCommandLine
import PipSinkDBus
import PipSinkWindows

/// One run of the demo, from the start to the report. It connects the command line, the keys and the terminal with a
/// session. One loop handles everything that happens, in order.
@MainActor
final class PlaySession {
  /// What to do about something that has happened.
  typealias Input = @MainActor (PlaySession) -> Void

  let command: PlayCommand
  let session: PictureInPictureSession
  var pictureInPictureEvents: [Report.PictureInPictureEventRecord] = []
  let snapshots: SnapshotFolder?
  private let inputs: AsyncStream<Input>
  let continuation: AsyncStream<Input>.Continuation
  /// What to report about streams that were stopped.
  var stopped = StoppedStreams()
  let statusLine = StatusLine()
  /// Counts the frames that custom rendering gets.
  let customFrames = FrameTally()
  var dbus: SessionService?
  private var accessibility: AccessibilityService?
  var publications: [Publication]
  /// The tokens of the streams' servers.
  let tokens: [StreamID: String]
  /// Keeps the screen on; nil without windows, and where the user lets it go off.
  var idleInhibitor: IdleInhibitor?
  /// Hides picture-in-picture while the user's session is locked; nil without windows.
  var loginMonitor: LoginMonitor?
  var start = MonotonicTime.now
  var outcome: Report.Outcome?
  private var isInterrupted = false
  private var hasSaidThatThereIsNoSound = false
  var failed: [StreamID: PipSinkError] = [:]
  /// The number of starts that are still to come: `start` actions, and the start of the session's streams.
  var startsToCome = 1
  /// Whether a stream has failed or has never delivered a frame. It may have been stopped since.
  var hasFailed = false
  /// Why streams have delivered no frame, where that is known at the end.
  var silences: [StreamID: String] = [:]
  /// Why streams are not shown whose surfaces have failed and not recovered.
  var notShown: [StreamID: PipSinkError] = [:]
  var errors: [CommandError] = []
  /// Whether the run is ending, and its report is being made.
  var isFinishing = false

  var engine: VideoEngine { session.engine }
  var router: FrameRouter { session.router }
  var controller: PictureInPictureController { session.controller }

  /// Checks everything that can be checked before anything runs.
  ///
  /// - Parameters:
  ///   - description: the pipeline of the session's streams; nil when all streams are started later.
  ///   - isCall: whether the streams of the pipeline are local.
  init(_ command: PlayCommand, description: PipelineDescription?, isCall: Bool) throws {
    let engine = if let description { try VideoEngine(description) } else { try VideoEngine() }
    var command = command
    if isCall {
      command.localStreams += engine.streamIDs
      command.pipControls = command.pipControls ?? .call
    }
    self.command = command
    let known = engine.streamIDs + command.ownStreams.map(\.streamID)
    for id in command.wantedStreams where !known.contains(id) {
      throw PipSinkError.stream(.unknown(id, known: known))
    }
    publications = try Self.publications(command, of: known)
    tokens = try command.sending.readTokens()
    snapshots = try command.snapshots.map { try SnapshotFolder($0) }
    (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
    session = try PictureInPictureSession(
      engine, Self.makeDisplay(command.surface, command, statusLine), try command.sessionConfiguration)
    let audio = engine.audioSession
    audio.applicationName = "PipSink"
    audio.category = command.audio.audioCategory
    if let series = command.customRender {
      engine.setCustomVideoRender(.pixelBuffers(customFrames), formatSeries: series)
    }
    audio.interruptionPolicy = command.audio.interruptionPolicy
    audio.volume = command.audio.volume
    session.isMuted = command.audio.mute
    session.showsCaptions = !command.noCaptions
    for control in session.controller.configuration.controls { handle(control.action) }
  }

  private static func makeDisplay(
    _ surface: PlayCommand.Surface, _ command: PlayCommand, _ statusLine: StatusLine
  ) throws(PipSinkError) -> any SessionDisplay {
    switch surface {
    case .none: return NoDisplay()
    case .offscreen:
      return try OffscreenDisplay(
        inAppSize: command.windowSize ?? PictureSize(width: 640, height: 360),
        pictureInPictureSize: command.pipSize ?? PictureSize(width: 320, height: 180),
        isSplit: command.layout == .split)
    case .window:
      return try WindowDisplay(
        title: "PipSink", size: command.windowSize ?? PictureSize(width: 960, height: 540),
        layout: command.layout == .split ? .split : .grid, placement: command.pipPlacement,
        renderer: command.renderer ?? .fromEnvironment)
    case .auto:
      do throws(PipSinkError) {
        return try makeDisplay(.window, command, statusLine)
      } catch {
        statusLine.say("Showing the streams offscreen: no display can be reached.")
        return try makeDisplay(.offscreen, command, statusLine)
      }
    }
  }

  /// - Throws: the ExitCode of a run that has failed, after everything was reported.
  func run() async throws {
    try writeMetrics()
    try startDBus()
    if session.display is WindowDisplay {
      accessibility = AccessibilityService(for: session)
      if !command.allowIdle { idleInhibitor = IdleInhibitor(for: session, applicationName: "PipSink") }
      loginMonitor = LoginMonitor(for: session)
    }
    let continuation = continuation
    let signals = SignalSources { Task { @MainActor in self.interrupt() } }
    let keys = TerminalKeys { key in continuation.yield { $0.performKey(key) } }
    // Events are recorded at once, so that the report has those just before the end, too.
    session.observeEvents { [weak self] event in
      self?.record(event)
      continuation.yield { $0.handle(event) }
    }
    start = .now
    if command.autoPip { startAutomatically() }
    let tasks = [startSession()] + timers(continuation) + (command.metrics == nil ? [] : [metricsTimer()])
    startsToCome += command.initialStreams.count
    for id in engine.streamIDs { publish(id) }
    for stream in command.initialStreams { perform(.startStream(stream.streamID)) }
    for await input in inputs {
      input(self)
      if outcome != nil { break }
    }
    for task in tasks { task.cancel() }
    keys?.cancel()
    await finish(within: isInterrupted ? Self.patienceAfterSignal : .seconds(command.stopTimeout))
    signals.cancel()
    if let error = errors.first { throw error.status.exitCode }
  }

  private func startDBus() throws(PipSinkError) {
    guard command.dbus else { return }
    let continuation = continuation
    // Another process quits the run as the key does.
    let service = try SessionService(exporting: session) { continuation.yield { $0.perform(.quit) } }
    statusLine.say("On the session bus as \(service.busNames.joined(separator: " and ")).")
    dbus = service
  }

  private func startAutomatically() {
    if let reason = controller.unsupportedReason {
      report(CommandError(PipSinkError.pictureInPicture(.unsupported(reason: reason))))
    } else {
      session.startsAutomatically = true
    }
  }

  /// Starts the session in a task of its own, because an element may block the start, and everything else must continue
  /// meanwhile.
  private func startSession() -> Task<Void, Never> {
    let (session, continuation) = (session, continuation)
    return Task.immediate {
      do throws(PipSinkError) {
        try await session.start()
      } catch {
        continuation.yield { $0.startFailed(error) }
      }
      continuation.yield { $0.noteStarted() }
    }
  }

  /// Notes that the session's streams have started, or that their start has failed.
  private func noteStarted() {
    startsToCome -= 1
    if engine.hasFinished || engine.streams.allSatisfy(\.state.isOver) { finishIfNothingIsToCome() }
  }

  /// The time that pipelines have to stop after Ctrl-C.
  static let patienceAfterSignal = Duration.seconds(1)

  private func timers(_ continuation: AsyncStream<Input>.Continuation) -> [Task<Void, Never>] {
    let actions = TimedAction.inOrder(command.actions)
    startsToCome += actions.count { if case .startStream = $0.action { true } else { false } }
    let clock = ContinuousClock()
    let begin = clock.now
    let interval = statusLine.interval
    var tasks = [
      Task {
        for timed in actions {
          guard (try? await clock.sleep(until: begin + .seconds(timed.seconds))) != nil else { return }
          continuation.yield { $0.perform(timed.action) }
        }
      },
      Task {
        while (try? await clock.sleep(for: .seconds(interval))) != nil {
          continuation.yield { $0.statusLine.update($0.session, seconds: $0.seconds) }
        }
      },
    ]
    if let duration = command.duration {
      tasks.append(
        Task {
          guard (try? await clock.sleep(until: begin + .seconds(duration))) != nil else { return }
          continuation.yield { $0.outcome = .duration }
        })
    }
    return tasks
  }

  // MARK: - What happens

  /// Ends the run after Ctrl-C, SIGTERM, or the loss of the terminal.
  private func interrupt() {
    isInterrupted = true
    continuation.yield { $0.outcome = .interrupted }
    // At the end of a run, the wait for the pipelines becomes shorter.
    if isFinishing { Task { await stopAll(within: Self.patienceAfterSignal) } }
  }

  /// Ends the run after the pipeline could not be started.
  private func startFailed(_ error: PipSinkError) {
    for id in engine.streamIDs { failed[id] = error }
    hasFailed = true
    report(CommandError(error))
    outcome = .failed
  }

  private func handle(_ event: SessionEvent) {
    switch event {
    case .engine(let event): handle(event)
    case .pictureInPicture(.failedToStart(let error), _) where error != .pictureInPicture(.cancelled):
      statusLine.say("picture-in-picture did not start: \(error)")
    case .pictureInPicture(.didStop(.failed(let error)), _), .pictureInPicture(.restoreFailed(let error), _):
      statusLine.say("\(error)")
    case .display(.closeRequested): outcome = .quit
    case .display(.windowLost(let error)): windowLost(error)
    // The session itself performs the actions of its keys.
    case .display(.key(let key)) where SessionAction(key: key) == nil: TimedAction.Action(key: key).map(perform)
    case .surfaceFailed(let id, let error):
      notShown[id] = .stream(.notShown(id, reason: error.description))
      statusLine.say("stream \"\(id)\" cannot be shown: \(error)")
    case .surfaceRecovered(let id):
      notShown[id] = nil
      statusLine.say("stream \"\(id)\" is shown again")
    case .refused(let error): report(CommandError(error))
    case .streamAdded(let id): (failed[id], notShown[id]) = (nil, nil)
    case .streamRemoved, .nameChanged, .pictureInPicture, .playbackChanged, .durationChanged, .demandChanged, .seeked,
      .display:
      break
    }
  }

  private func windowLost(_ error: PipSinkError) {
    let hasServer = (try? WindowSystem.current()) != nil
    report(CommandError(.unavailable, hasServer ? "\(error)" : "the display server has gone, and the windows with it"))
    outcome = .failed
  }

  private func handle(_ event: EngineEvent) {
    switch event {
    case .streamStateChanged(let id, let state): follow(id, state)
    case .formatChanged(let id, let format): statusLine.say("stream \"\(id)\": \(format)")
    case .warning(let element, let message, let detail):
      statusLine.say("warning: element \"\(element)\": \(message)\(detail.map { " (\($0))" } ?? "")".visible)
    case .framesSkipped(let id, let caps):
      statusLine.say("warning: stream \"\(id)\" has frames that cannot be read and are left out: \(caps)")
    case .abandoned(let ids):
      let streams = "stream\(ids.count == 1 ? "" : "s") \(ids.map { "\"\($0)\"" }.joined(separator: ", "))"
      statusLine.say("warning: the pipeline of \(streams) does not stop and is abandoned: one of its elements blocks")
    case .streamHasNoVideo(let id):
      // The stream goes on with its sound.
      noteFailure(of: id, .stream(.hasNoVideo(id)), about: "")
    case .audioFailed(let error):
      // The message appears once for all streams and all of their retries.
      guard !hasSaidThatThereIsNoSound else { break }
      hasSaidThatThereIsNoSound = true
      statusLine.say("no sound: \(error); is a sound server running? The pictures go on.")
    case .audioInterruptionBegan(let interruption):
      statusLine.say("interrupted by another app's sound (\(interruption == .pause ? "paused" : "quieter"))")
    case .customVideoRenderChanged(let isEnabled):
      statusLine.say("custom rendering is \(isEnabled ? "on" : "off")")
    case .audioInterruptionEnded: statusLine.say("the interruption has ended")
    // Another stream may have been started since.
    case .finished where engine.hasFinished: finishIfNothingIsToCome()
    case .finished, .stateChanged, .cameraStateChanged, .microphoneStateChanged,
      .decodingSuspended, .durationChanged, .buffering, .audioLevel, .caption:
      break
    }
  }

  private func follow(_ id: StreamID, _ state: StreamPlayState) {
    // The stream may have been stopped since.
    guard router.streamIDs.contains(id) else { return }
    switch state {
    case .reconnecting(let attempt, let pause, let error):
      statusLine.say("stream \"\(id)\": \(error); try \(attempt) in \((pause / .milliseconds(100)).rounded() / 10) s")
    case .failed(let error): noteFailure(of: id, error)
    case .stopped, .requesting, .playing, .stalled, .ended: break
    }
  }

  func noteFailure(of id: StreamID, _ error: PipSinkError, about prefix: String? = nil) {
    failed[id] = error
    hasFailed = true
    report(CommandError(error), about: prefix ?? "stream \"\(id)\" failed: ")
  }

  /// Ends the run after every stream has ended, unless it waits for others: for those of `start` actions or, when it
  /// has none of its own, for those that other processes start.
  func finishIfNothingIsToCome() {
    if startsToCome == 0, !(command.dbus && engine.streamIDs.isEmpty) { outcome = .finished }
  }

  func report(_ error: CommandError, about prefix: String = "") {
    if errors.count < Self.errorLimit { errors.append(error) }
    statusLine.say("pipsink-demo: \(prefix)\(error.message)")
  }

  private static let errorLimit = 1000

  var seconds: Double { start.duration(to: .now) / .seconds(1) }
}
