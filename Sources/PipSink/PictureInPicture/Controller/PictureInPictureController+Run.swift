/// Starting, stopping and trying again.
extension PictureInPictureController {
  /// Opens the window and shows the source there. Events report the outcome. It does nothing while picture-in-picture
  /// is starting or active.
  ///
  /// - Throws: ``impossibility``. Nothing has changed then.
  public func start() throws(PipSinkError) { try begin(isAutomatic: false) }

  /// Starts picture-in-picture now, or as soon as the source has a picture.
  ///
  /// - Throws: ``impossibility``, unless the only obstacle is that the source has no picture yet.
  package func startWhenReady() throws(PipSinkError) {
    if let refusal { throw refusal }
    chooseForStart(isAutomatic: false)
    guard case .idle = phase, !isReady else { return try start() }
    isPatienceOver = false
    become(.idle(.picture))
    after(configuration.firstPictureTimeout) { controller in
      controller.isPatienceOver = true
      controller.updateSituation()
    }
  }

  /// Brings the frames back to the app and closes the window.
  ///
  /// - Returns: false where there was nothing to stop: no window, and no start that waited for a picture or for another
  ///   attempt.
  @discardableResult
  public func stop() -> Bool {
    let stopsSomething = phase.isOpen || isWaiting
    if case .idle = phase { become(.idle(.nothing)) }
    if phase.run == nil { handover.forgetRouting() }
    end(.requested)
    return stopsSomething
  }

  /// Stops picture-in-picture where it is starting or active, and starts it otherwise.
  ///
  /// - Throws: ``impossibility``. Nothing has changed then.
  public func toggle() throws(PipSinkError) {
    if phase.run == nil { try start() } else { stop() }
  }

  /// Ends picture-in-picture and refuses it until ``initialize()`` is called. It does not start by itself any more, and
  /// a window that waits for the app to restore itself closes at once.
  public func uninitialize() {
    startsAutomatically = false
    end(.uninitialized)
    if case .stopping(let run, let reason) = phase { finish(run, .uninitialized, reporting: .didStop(reason)) }
    guard phase != .uninitialized else { return }
    handover.forgetRouting()
    become(.uninitialized)
  }

  /// Sets up picture-in-picture again, after ``uninitialize()`` or after a failed set-up. A new controller does this by
  /// itself, and where picture-in-picture has been set up, nothing happens.
  ///
  /// - Throws: ``PipSinkError/PictureInPicture/unsupported(reason:)`` where picture-in-picture is not possible here.
  public func initialize() throws(PipSinkError) {
    if phase == .unavailable || phase == .uninitialized {
      setUp()
      background.invalidate()
      updateForBackground()
    }
    if let unsupportedReason { throw .pictureInPicture(.unsupported(reason: unsupportedReason)) }
  }

  /// Sets up picture-in-picture and reports the outcome.
  func setUp() {
    become(.settingUp)
    // An observer may have called `uninitialize()` at once.
    guard phase == .settingUp else { return }
    become(unsupportedReason == nil ? .idle(.nothing) : .unavailable)
  }

  /// Whether a start waits for a picture or for another attempt.
  private var isWaiting: Bool {
    if case .idle(let plan) = phase { plan != .nothing } else { false }
  }

  /// Starts a run.
  ///
  /// - Parameters:
  ///   - isAutomatic: whether the app's going to the background starts it.
  ///   - attempt: how many attempts in a row have failed before.
  func begin(isAutomatic: Bool, attempt: Int = 0) throws(PipSinkError) {
    defer { endChoosing() }
    // An observer of this choice may start picture-in-picture, too.
    if !phase.isOpen, refusal == nil { chooseForStart(isAutomatic: isAutomatic) }
    guard !phase.isOpen else {
      // What the user has asked for does not end by itself.
      guard !isAutomatic else { return }
      updateRun { $0.isAutomatic = false }
      // The user has minimised the window, and wants to see it again.
      if phase.run?.isSuspended == true { try openWindow() }
      return
    }
    if let impossibility { throw impossibility }
    runCount += 1
    let (number, requestedAt) = (runCount, MonotonicTime.now)
    streamAspectRatio = handover.latest(of: streamID)?.displayAspectRatio ?? streamAspectRatio
    become(
      .starting(.init(number: number, streamID: streamID, attempt: attempt, isAutomatic: isAutomatic)),
      reporting: .willStart)
    do throws(PipSinkError) {
      // An observer of the start or of the window may have stopped it.
      guard phase.run?.number == number else { return }
      try openWindow()
      guard phase.run?.number == number else { return }
      try handover.enter(window.renderer, streamID) { [weak self] moment in
        let latency = requestedAt.duration(to: moment)
        Task { @MainActor in self?.didPresent(run: number, latency: latency) }
      }
    } catch {
      // The background does not start it again at once, as it does after other ends.
      if let run = phase.run, run.number == number { finish(run, .failed(error), reporting: .failedToStart(error)) }
      return
    }
    after(configuration.firstPictureTimeout) { $0.didPresent(run: number, latency: nil) }
    updateRun(reporting: isScreenLocked ? .suspendedChanged(true) : nil) { run in
      run.hasWindow = true
      if isScreenLocked { run.isSuspended = true }
    }
  }

  /// Notes that the first picture has been shown, or has not come in time.
  private func didPresent(run number: Int, latency: Duration?) {
    guard case .starting(var run) = phase, run.number == number else { return }
    run.attempt = 0
    // An automatic start means that the app is in the background.
    run.isMinimized = background.isInBackground || run.isAutomatic
    become(.active(run), reporting: .didStart(latency: latency))
    hideDarkPicture()
    updateForBackground()
  }

  /// Ends the current run.
  func end(_ reason: PictureInPictureStopReason) {
    switch phase {
    case .settingUp, .unavailable, .idle, .stopping, .uninitialized: break
    case .starting(let run) where run.hasWindow && reason == .backToApp:
      // The user sees the window already, although it has no picture yet.
      didPresent(run: run.number, latency: nil)
      end(reason)
    case .starting(let run):
      let error = if case .failed(let error) = reason { error } else { PipSinkError.pictureInPicture(.cancelled) }
      finish(run, reason, reporting: .failedToStart(error))
      updateForBackground()
    case .active(let run):
      become(.stopping(run, reason), reporting: .willStop(reason))
      if reason == .backToApp { restoreUserInterface(run) } else { finishStopping(run: run.number) }
    }
  }

  /// Asks the app to show its window again, and waits for the answer.
  private func restoreUserInterface(_ run: PictureInPicturePhase.Run) {
    guard phase.run?.number == run.number else { return }
    emit(.restoreUserInterface)
    guard let restoreUserInterface else { return finishStopping(run: run.number) }
    Task { [weak self] in
      let isThere = await restoreUserInterface()
      self?.finishRestoring(run, isThere ? nil : "the app could not show it")
    }
    let patience = configuration.restoreTimeout
    after(patience) { $0.finishRestoring(run, "the app did not answer within \(patience / .seconds(1)) s") }
  }

  /// Notes the app's answer.
  ///
  /// - Parameter failure: why the app's user interface is not shown; nil where it is.
  private func finishRestoring(_ run: PictureInPicturePhase.Run, _ failure: String?) {
    guard case .stopping(let current, _) = phase, current.number == run.number else { return }
    if let failure { emit(.restoreFailed(.pictureInPicture(.notRestored(reason: failure)))) }
    finishStopping(run: run.number)
  }

  /// Closes the window of a run that is stopping.
  ///
  /// - Parameter number: the number of the run; nil for any run.
  func finishStopping(run number: Int? = nil) {
    guard case .stopping(let run, let reason) = phase, number ?? run.number == run.number else { return }
    finish(run, reason, reporting: .didStop(reason))
    updateForBackground()
  }

  /// Takes the frames back, closes the window, and reports the end of the run.
  private func finish(
    _ run: PictureInPicturePhase.Run, _ reason: PictureInPictureStopReason, reporting event: PictureInPictureEvent
  ) {
    handover.leave()
    for other in others.values { other.leave() }
    window.close()
    // In the background it starts again with the next picture, which it does not where the user has ended it.
    background.awaitsStream = reason == .sourceEnded
    become(reason == .uninitialized ? .uninitialized : .idle(plan(after: run, reason)), reporting: event)
  }

  /// Plans another attempt after a failed run, where the retry policy allows one.
  private func plan(
    after ended: PictureInPicturePhase.Run, _ reason: PictureInPictureStopReason
  ) -> PictureInPicturePhase.Plan {
    var run = ended
    run.attempt += 1
    guard case .failed = reason, let pause = configuration.retryPolicy?.pause(before: run.attempt) else {
      return .nothing
    }
    after(pause) { [run] controller in
      // A start or stop in the meantime has replaced the plan.
      guard controller.phase == .idle(.retry(run)) else { return }
      // A run that the background started is not started again when the app has returned.
      guard !run.isAutomatic || controller.background.isInBackground else { return controller.become(.idle(.nothing)) }
      do throws(PipSinkError) {
        try controller.begin(isAutomatic: run.isAutomatic, attempt: run.attempt)
      } catch {
        controller.become(.idle(controller.plan(after: run, reason)))
      }
    }
    return .retry(run)
  }

  /// Calls `body` after a pause, unless the controller has been released by then.
  func after(_ pause: Duration, _ body: @escaping @MainActor (PictureInPictureController) -> Void) {
    let (clock, moment) = (clock, clock.moment(in: pause))
    Task { [weak self] in
      guard (try? await clock.sleep(until: moment)) != nil, let self else { return }
      body(self)
    }
  }
}
