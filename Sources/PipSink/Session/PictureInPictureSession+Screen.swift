/// Whether the screen stays on for what the session shows, and what follows when the machine has slept.
extension PictureInPictureSession {
  /// Whether somebody may be watching: a stream that plays can be seen, and its picture is shown. That is not so while
  /// the user's session is locked, or while everything is paused.
  private var isWatched: Bool {
    guard !isScreenLocked, !isPlaybackPaused else { return false }
    return known.contains { id, stream in
      stream.state == .playing && !stream.isPaused && stream.placeholder == nil
        && engine.info(of: id).map { $0.demand != .hidden } == true
    }
  }

  /// Tells everybody whether the screen has to stay on, after anything has changed on which that depends.
  func updateWatched() {
    let isKeptOn = keepsScreenOn && isWatched
    guard isKeptOn != isScreenKeptOn else { return }
    isScreenKeptOn = isKeptOn
    (display as? any ScreenKeepingDisplay)?.keepScreenOn(isKeptOn)
    screenBroadcast.send(isKeptOn)
  }

  /// Starts the streams at once that wait for another attempt, because the machine has slept and the network is back.
  /// Those that only seem to play stall, and follow then.
  package func didWake() { engine.retryNow() }

  /// Calls `observer` on the main actor with whether the screen has to stay on: now, and whenever that changes.
  package func observeScreen(_ observer: @escaping @MainActor (Bool) -> Void) {
    screenBroadcast.observe { isKeptOn in MainActor.assumeIsolated { observer(isKeptOn) } }
    observer(isScreenKeptOn)
  }
}

/// A display whose windows can keep the screen on themselves.
@MainActor
package protocol ScreenKeepingDisplay: SessionDisplay {
  /// Keeps the screen on while one of the windows can be seen, or lets it go off again.
  func keepScreenOn(_ isKeptOn: Bool)
}
