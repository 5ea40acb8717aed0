/// The life of a run: how it starts, ends and is tried again.
extension PictureInPictureController {
  /// Opens the window and sends the frames there. What becomes of it is reported by events. Does nothing while it is
  /// starting or active.
  ///
  /// - Throws: ``impossibility``, and then nothing has changed.
  public func start() throws(PipSinkError) { try begin(isAutomatic: false) }

  /// ``start()`` now, or as soon as the source has a picture.
  ///
  /// - Throws: ``impossibility``, if it is another than that there is no picture yet.
  public func startWhenReady() throws(PipSinkError) {
    if case .idle = phase, case .pictureInPicture(.sourceNotReady) = impossibility {
      become(.idle(.picture))
    } else {
      try start()
    }
  }

  /// Brings the frames back to the app and takes the window away.
  ///
  /// - Returns: false where there was nothing to stop: no window, and no start that waited for a picture or a pause.
  @discardableResult
  public func stop() -> Bool {
    let stopsSomething = phase.isOpen || isWaiting
    if case .idle = phase { become(.idle(.nothing)) }
    if phase.run == nil { handover.forgetRouting() }
    end(.requested)
    return stopsSomething
  }

  /// - Throws: as ``start()``.
  public func toggle() throws(PipSinkError) {
    if phase.run == nil { try start() } else { stop() }
  }

  /// Gives picture-in-picture up: it ends, does not start by itself any more, and is refused until ``initialize()``. A
  /// window that waits for the app to restore itself goes at once. ZEGO calls it `uninit`.
  public func uninitialize() {
    startsAutomatically = false
    end(.uninitialized)
    if case .stopping(let run, let reason) = phase { finish(run, .uninitialized, telling: .didStop(reason)) }
    guard phase != .uninitialized else { return }
    handover.forgetRouting()
    become(.uninitialized)
  }

  /// Sets picture-in-picture up again, after ``uninitialize()`` or where it could not be had. A controller begins with it
  /// by itself; where it has been set up, nothing happens.
  ///
  /// - Throws: ``PipSinkError/PictureInPicture/unsupported(reason:)`` where picture-in-picture cannot be had here.
  public func initialize() throws(PipSinkError) {
    if phase == .unavailable || phase == .uninitialized {
      setUp()
      background.unsettle()
      settle()
    }
    if let unsupportedReason { throw .pictureInPicture(.unsupported(reason: unsupportedReason)) }
  }

  func setUp() {
    become(.settingUp)
    // Whoever was told may have given it up at once.
    guard phase == .settingUp else { return }
    become(unsupportedReason == nil ? .idle(.nothing) : .unavailable)
  }

  /// Whether it is to start with the first picture, or after a pause.
  private var isWaiting: Bool {
    if case .idle(let plan) = phase { plan != .nothing } else { false }
  }

  /// - Parameter attempt: how many tries in a row have failed before.
  func begin(isAutomatic: Bool, attempt: Int = 0) throws(PipSinkError) {
    guard !phase.isOpen else {
      // What the user asked for does not end by itself.
      if !isAutomatic { updateRun { $0.isAutomatic = false } }
      return
    }
    if let impossibility { throw impossibility }
    runCount += 1
    let (number, requestedAt) = (runCount, MonotonicTime.now)
    streamAspectRatio = handover.latest(of: streamID)?.displayAspectRatio ?? streamAspectRatio
    become(
      .starting(.init(number: number, streamID: streamID, attempt: attempt, isAutomatic: isAutomatic)),
      telling: .willStart)
    do throws(PipSinkError) {
      // Whoever was told, of the start or of the window, may have stopped it.
      guard phase.run?.number == number else { return }
      showOrHideSecondStream()
      try window.open(presentation)
      guard phase.run?.number == number else { return }
      try handover.enter(window.renderer, streamID) { [weak self] moment in
        let latency = requestedAt.duration(to: moment)
        Task { @MainActor in self?.didPresent(run: number, latency: latency) }
      }
    } catch {
      // The background does not try again at once, as it does after other ends.
      if let run = phase.run, run.number == number { finish(run, .failed(error), telling: .failedToStart(error)) }
      return
    }
    after(configuration.firstPictureTimeout) { $0.didPresent(run: number, latency: nil) }
    updateRun { $0.hasWindow = true }
  }

  private func didPresent(run number: Int, latency: Duration?) {
    guard case .starting(var run) = phase, run.number == number else { return }
    run.attempt = 0
    // What starts by itself does so because the app is in the background.
    run.isMinimized = background.isInBackground || run.isAutomatic
    become(.active(run), telling: .didStart(latency: latency))
    settle()
  }

  func end(_ reason: PictureInPictureStopReason) {
    switch phase {
    case .settingUp, .unavailable, .idle, .stopping, .uninitialized: break
    case .starting(let run):
      let error = if case .failed(let error) = reason { error } else { PipSinkError.pictureInPicture(.cancelled) }
      finish(run, reason, telling: .failedToStart(error))
      settle()
    case .active(let run):
      become(.stopping(run, reason), telling: .willStop(reason))
      if reason == .backToApp { restoreUserInterface(run) } else { finishStopping(run: run.number) }
    }
  }

  private func restoreUserInterface(_ run: PictureInPicturePhase.Run) {
    guard phase.run?.number == run.number else { return }
    emit(.restoreUserInterface)
    guard let delegate else { return finishStopping(run: run.number) }
    Task { [weak self] in
      guard let controller = self else { return }
      let isThere = await delegate.pictureInPictureControllerRestoreUserInterface(controller)
      controller.finishRestoring(run, isThere ? nil : "the app said that it cannot show it")
    }
    let patience = configuration.restoreTimeout
    after(patience) { $0.finishRestoring(run, "the app did not answer within \(patience / .seconds(1)) s") }
  }

  /// - Parameter failure: why the app's user interface is not there; nil where it is.
  private func finishRestoring(_ run: PictureInPicturePhase.Run, _ failure: String?) {
    guard case .stopping(let current, _) = phase, current.number == run.number else { return }
    if let failure { emit(.restoreFailed(.pictureInPicture(.notRestored(reason: failure)))) }
    finishStopping(run: run.number)
  }

  /// - Parameter number: the run's that may be finished; nil for any.
  func finishStopping(run number: Int? = nil) {
    guard case .stopping(let run, let reason) = phase, number ?? run.number == run.number else { return }
    finish(run, reason, telling: .didStop(reason))
    settle()
  }

  private func finish(
    _ run: PictureInPicturePhase.Run, _ reason: PictureInPictureStopReason, telling event: PictureInPictureEvent
  ) {
    handover.leave()
    leaveSecondStream()
    window.close()
    become(reason == .uninitialized ? .uninitialized : .idle(plan(after: run, reason)), telling: event)
    leaveEndedStream()
  }

  private func plan(
    after ended: PictureInPicturePhase.Run, _ reason: PictureInPictureStopReason
  ) -> PictureInPicturePhase.Plan {
    var run = ended
    run.attempt += 1
    guard case .failed = reason, let pause = configuration.retryPolicy?.pause(before: run.attempt) else {
      return .nothing
    }
    after(pause) { [run] controller in
      // A start or stop in between has taken its place.
      guard controller.phase == .idle(.retry(run)) else { return }
      // What started by the background is not started again when the app has come back.
      guard !run.isAutomatic || controller.background.isInBackground else { return controller.become(.idle(.nothing)) }
      do throws(PipSinkError) {
        try controller.begin(isAutomatic: run.isAutomatic, attempt: run.attempt)
      } catch {
        controller.become(.idle(controller.plan(after: run, reason)))
      }
    }
    return .retry(run)
  }

  /// Does something later, unless the controller has gone by then.
  func after(_ pause: Duration, _ body: @escaping @MainActor (PictureInPictureController) -> Void) {
    let (clock, moment) = (clock, clock.moment(in: pause))
    Task { [weak self] in
      guard (try? await clock.sleep(until: moment)) != nil, let self else { return }
      body(self)
    }
  }
}
