/// Whether the app is in the background, and whether the controller has reacted to that.
struct PictureInPictureBackground {
  /// How far the controller has reacted to the last change.
  enum Update {
    /// There is nothing left to do.
    case done
    /// There is something to do, when what is in progress has ended.
    case due
    /// The controller waits to see whether the change persists.
    case waiting
  }

  var isInBackground = false
  var startsAutomatically = false
  var update = Update.due
  /// Whether the last stream has ended, so that the controller reacts again when there is another one.
  var awaitsStream = false

  /// Notes that something has changed.
  mutating func invalidate() {
    if update == .done { update = .due }
  }
}

/// Starting and stopping with the app's background.
extension PictureInPictureController {
  /// Whether picture-in-picture starts by itself when the app goes to the background, and stops when the app returns.
  /// When it is set while picture-in-picture is starting or active, it applies from the next start on. After a failed
  /// set-up it is remembered, and applies when ``initialize()`` succeeds. It is false at first and after
  /// ``uninitialize()``.
  ///
  /// AVKit calls it `canStartPictureInPictureAutomaticallyFromInline`.
  public var startsAutomatically: Bool {
    get { background.startsAutomatically }
    set {
      guard newValue != background.startsAutomatically else { return }
      background.startsAutomatically = newValue
      reportState()
      guard newValue else { return }
      background.invalidate()
      updateForBackground()
    }
  }

  /// Tells the controller that the app cannot be seen any more. A session does that by itself; an app without one has
  /// to call it.
  public func applicationDidEnterBackground() { noteBackground(true) }

  /// Tells the controller that the app can be seen again. A session does that by itself; an app without one has to call
  /// it.
  public func applicationWillEnterForeground() { noteBackground(false) }

  private func noteBackground(_ isInBackground: Bool) {
    guard isInBackground != background.isInBackground else { return }
    background.isInBackground = isInBackground
    background.invalidate()
    if !isInBackground { updateVisibility() }
    updateForBackground()
  }

  /// Reacts to the app's state after a short delay. If it changes several times, only the last change counts.
  func updateForBackground() {
    guard background.update == .due else { return }
    background.update = .waiting
    after(configuration.backgroundDelay) { controller in
      controller.background.update = .due
      controller.applyBackground()
      controller.updateVisibility()
    }
  }

  private func applyBackground() {
    let isInBackground = background.isInBackground
    switch phase {
    // What is in progress ends first, and calls this again.
    case .starting, .stopping: return
    case .settingUp, .unavailable, .idle, .uninitialized:
      background.update = .done
      guard isInBackground, startsAutomatically else { return }
      background.awaitsStream = endsWithItsStream
      // It starts when the stream has a picture.
      if !background.awaitsStream, (try? begin(isAutomatic: true)) == nil { background.invalidate() }
    case .active(let run):
      background.update = .done
      if run.isAutomatic, !isInBackground {
        end(.foreground)
      } else {
        updateRun { $0.isMinimized = isInBackground }
      }
    }
  }

  /// Tells the engine which streams can be seen.
  func updateVisibility() {
    guard let engine, let router = handover.router else { return }
    var visible = Set(router.table.entries.values.map(\.streamID))
    let isAlone = configuration.decodesOnlyPictureInPictureStream && !visible.isEmpty
    guard background.isInBackground || isAlone else {
      engine.visibleStreamIDs = nil
      return
    }
    if isSuspended { visible.subtract(streamSelector.places.map(\.streamID)) }
    engine.visibleStreamIDs = visible
  }
}
