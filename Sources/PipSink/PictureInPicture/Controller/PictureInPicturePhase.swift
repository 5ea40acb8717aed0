/// Where picture-in-picture stands.
///
/// This is the one truth of a ``PictureInPictureController``: whether it is active, who is in it, whether it can be
/// started and which of ZEGO's states it is in are all read from here.
enum PictureInPicturePhase: Equatable {
  case settingUp
  /// The set-up failed, because no window could be shown here.
  case unavailable
  case idle(Plan)
  /// From `willStart` until the window shows its first picture.
  case starting(Run)
  /// From `didStart` to `willStop`.
  case active(Run)
  /// From `willStop` to `didStop`. The window may still be there.
  case stopping(Run, PictureInPictureStopReason)
  /// Nothing starts before it is set up again.
  case uninitialized

  /// What makes an idle controller start by itself, besides the background.
  enum Plan: Equatable {
    case nothing
    /// The first picture of its stream.
    case picture
    /// The end of the pause after this run, whose window could not be made or died.
    case retry(Run)
  }

  /// One picture-in-picture, from `willStart` to `didStop` or `failedToStart`.
  struct Run: Equatable {
    /// No other run of the controller has this number.
    let number: Int
    /// The stream in the window. One that is chosen while it is being closed is the next run's.
    var streamID: StreamID
    /// How many tries in a row have failed before.
    var attempt: Int
    /// Whether the app's going to the background started it, and its coming back ends it.
    var isAutomatic: Bool
    /// Whether the window could be opened.
    var hasWindow = false
    /// Whether it is known that the app is in the background.
    var isMinimized = false
    /// Whether the user cannot see the window.
    var isSuspended = false
    /// Whether the window's stream has ended and a placeholder keeps its place.
    var keepsPlaceOfEndedStream = false
  }

  var run: Run? {
    switch self {
    case .starting(let run), .active(let run), .stopping(let run, _): run
    case .settingUp, .unavailable, .idle, .uninitialized: nil
    }
  }

  /// Whether a window shows a stream, or is about to.
  var isOpen: Bool { if case .stopping = self { false } else { run != nil } }

  /// The same phase, with what is known of its run now.
  func with(_ run: Run) -> PictureInPicturePhase {
    switch self {
    case .stopping(_, let reason): .stopping(run, reason)
    case .active: .active(run)
    default: .starting(run)
    }
  }

  /// Which of ZEGO's states this is.
  ///
  /// - Parameters:
  ///   - last: the state that was told last. The diagram leads from PIPActive to PIPEnabled, and from there only to
  ///     another start, but from AppMinimized to Initialized; so an idle controller is where the last run left it.
  ///   - startsAutomatically: whether going to the background starts it.
  func state(after last: PictureInPictureState, startsAutomatically: Bool) -> PictureInPictureState {
    switch self {
    case .settingUp: .initializing
    case .unavailable: .error
    case .active(let run): run.isMinimized ? .appMinimized : .active
    case .uninitialized: .uninitialized
    // The app has come back before the window goes. What had started by itself may do so again: that is told instead.
    case .stopping(let run, .backToApp) where !run.isAutomatic: .enabled
    // The user's own start has been prepared, also if it is cancelled then.
    case .starting(let run) where run.hasWindow && !run.isAutomatic: .enabled
    case .idle, .starting, .stopping:
      switch last {
      case .enabled, .active: .enabled
      case .error: .error
      case .uninitialized, .initializing, .initialized, .background, .appMinimized:
        startsAutomatically ? .background : .initialized
      }
    }
  }
}
