/// Whether the app can be seen, and whether what follows from that has been done.
struct PictureInPictureBackground {
  enum Settling {
    case settled
    /// Something is to be done, once what is under way has come to its end.
    case due
    /// It is being waited whether the change holds.
    case waiting
  }

  var isInBackground = false
  var startsAutomatically = false
  var settling = Settling.due

  mutating func unsettle() {
    if settling == .settled { settling = .due }
  }
}

/// The app in the background.
extension PictureInPictureController {
  /// Whether it starts by itself when the app goes to the background, and stops when the app comes back. Set while it is
  /// starting or active, it holds for the next time, and what is active stays. After an error of set-up it is
  /// remembered, and holds from when ``initialize()`` succeeds. False at first, and after ``uninitialize()``.
  ///
  /// AVKit calls it `canStartPictureInPictureAutomaticallyFromInline`.
  public var startsAutomatically: Bool {
    get { background.startsAutomatically }
    set {
      guard newValue != background.startsAutomatically else { return }
      background.startsAutomatically = newValue
      tellState()
      guard newValue else { return }
      background.unsettle()
      settle()
    }
  }

  /// The app cannot be seen any more. Whoever knows it says it: a session's display, or the app.
  public func applicationDidEnterBackground() { noteBackground(true) }

  /// The app can be seen again.
  public func applicationWillEnterForeground() { noteBackground(false) }

  private func noteBackground(_ isInBackground: Bool) {
    guard isInBackground != background.isInBackground else { return }
    background.isInBackground = isInBackground
    background.unsettle()
    if !isInBackground { updateVisibility() }
    settle()
  }

  /// Does, a moment later, what follows from where the app is then: of quick changes only the last counts.
  func settle() {
    guard background.settling == .due else { return }
    background.settling = .waiting
    after(configuration.backgroundDelay) { controller in
      controller.background.settling = .due
      controller.settleNow()
      controller.updateVisibility()
    }
  }

  private func settleNow() {
    let isInBackground = background.isInBackground
    switch phase {
    // What is under way comes to its end first, and calls again.
    case .starting, .stopping: return
    case .settingUp, .unavailable, .idle, .uninitialized:
      background.settling = .settled
      guard isInBackground, startsAutomatically else { return }
      do throws(PipSinkError) {
        try begin(isAutomatic: true)
      } catch {
        // It starts when the stream has a picture.
        background.unsettle()
      }
    case .active(let run):
      background.settling = .settled
      if run.isAutomatic, !isInBackground {
        end(.foreground)
      } else {
        updateRun { $0.isMinimized = isInBackground }
      }
    }
  }

  /// Tells the engine which streams somebody can see.
  func updateVisibility() {
    guard let engine, let router = handover.router else { return }
    var visible = Set(router.table.entries.values.map(\.streamID))
    let isAlone = configuration.decodesOnlyPictureInPictureStream && !visible.isEmpty
    guard background.isInBackground || isAlone else {
      engine.visibleStreamIDs = nil
      return
    }
    if isSuspended { visible.subtract([streamID, secondStreamID].compactMap(\.self)) }
    engine.visibleStreamIDs = visible
  }
}
