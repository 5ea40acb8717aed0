import Logging

/// How start and stop go along the arrows of ``PictureInPictureStateMachine``.
extension PictureInPictureController {
  /// Takes one arrow.
  func advance(_ trigger: PictureInPictureTrigger) throws(PipSinkError) {
    try machine.apply(trigger)
    Logger(visible: "pipsink.pip").debug("\(trigger): \(machine.state)")
    emit(.stateChanged(machine.state))
  }

  /// Takes arrows that are there, by what the controller knows of its state.
  func go(_ triggers: PictureInPictureTrigger...) {
    for trigger in triggers {
      do throws(PipSinkError) {
        try advance(trigger)
      } catch {
        Logger(visible: "pipsink.pip").error("\(error)")
      }
    }
  }

  /// Prepares picture-in-picture without starting it.
  ///
  /// - Throws: ``PipSinkError/illegalTransition(state:trigger:)`` unless it is Initialized.
  public func enable() throws(PipSinkError) { try advance(.enable) }

  func goActive() {
    switch machine.state {
    case .initialized: go(.enable, .userTriggers)
    case .background where isAutomatic: go(.appGoesBackground)
    case .background: go(.cancelBackground, .enable, .userTriggers)
    case .enabled: go(.userTriggers)
    default: break
    }
    if isInBackground, machine.state == .active { go(.systemMinimizes) }
  }

  func goInactive(_ reason: PictureInPictureStopReason) {
    switch machine.state {
    case .active: go(.userExits)
    case .appMinimized where reason == .foreground || reason == .backToApp: go(.userClicks, .userExits)
    case .appMinimized:
      go(.userCloses)
      if isBackgroundEnabled { go(.enableWhenBackground) }
    default: break
    }
  }
}

/// The app in the background.
extension PictureInPictureController {
  /// Starts by itself when the app goes to the background from now on, and stops when it comes back. While it is
  /// starting or active that holds for the next time.
  ///
  /// - Throws: ``PipSinkError/illegalTransition(state:trigger:)`` after an error of set-up.
  public func enableWhenBackground() throws(PipSinkError) {
    guard machine.state != .error else {
      throw .illegalTransition(state: machine.state, trigger: .enableWhenBackground)
    }
    guard !isBackgroundEnabled else { return }
    isBackgroundEnabled = true
    if machine.state == .initialized { go(.enableWhenBackground) }
    settledBackground = false
    settle()
  }

  /// It does not start by itself any more. What is active stays.
  public func cancelBackground() {
    isBackgroundEnabled = false
    if machine.state == .background { go(.cancelBackground) }
  }

  /// AVKit's name for ``enableWhenBackground()`` and ``cancelBackground()``.
  public var canStartPictureInPictureAutomaticallyFromInline: Bool {
    get { isBackgroundEnabled }
    set { if newValue { try? enableWhenBackground() } else { cancelBackground() } }
  }

  /// The app cannot be seen any more. Whoever knows it says it: PipSinkGTK's `BackgroundMonitor`, or the app.
  public func applicationDidEnterBackground() { noteBackground(true) }

  /// The app can be seen again.
  public func applicationWillEnterForeground() { noteBackground(false) }

  private func noteBackground(_ isInBackground: Bool) {
    guard isInBackground != self.isInBackground else { return }
    self.isInBackground = isInBackground
    settledBackground = false
    if !isInBackground { updateVisibility() }
    settle()
  }

  /// Does, a moment later, what follows from where the app is then: of quick changes only the last counts.
  func settle() {
    guard !settledBackground, !isSettling else { return }
    isSettling = true
    after(configuration.backgroundDelay) { controller in
      controller.isSettling = false
      controller.settleNow()
    }
  }

  private func settleNow() {
    defer { updateVisibility() }
    switch phase {
    // What is under way comes to its end first, and calls again.
    case .starting, .stopping: return
    case .idle:
      settledBackground = true
      guard isInBackground, isBackgroundEnabled else { return }
      do throws(PipSinkError) {
        try begin(isAutomatic: true)
      } catch {
        // It starts when the stream has a picture.
        settledBackground = false
      }
    case .active:
      settledBackground = true
      if isInBackground, machine.state == .active { go(.systemMinimizes) }
      guard !isInBackground else { return }
      if isAutomatic {
        end(.foreground)
      } else if machine.state == .appMinimized {
        go(.userClicks)
      }
    }
  }

  /// Tells the engine which streams somebody can see.
  func updateVisibility() {
    guard let engine, let router = handover.router else { return }
    var visible = Set(router.table.entries.values.map(\.streamID))
    let isAlone = configuration.decodesOnlyPictureInPictureStream && !visible.isEmpty
    guard isInBackground || isAlone else {
      engine.visibleStreamIDs = nil
      return
    }
    if isSuspended { visible.remove(streamID) }
    engine.visibleStreamIDs = visible
  }
}
