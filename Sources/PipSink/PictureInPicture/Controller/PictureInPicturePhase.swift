/// The phase of picture-in-picture.
///
/// It is the single source of truth of a ``PictureInPictureController``: whether it is active, which stream it shows,
/// whether it can be started and which ``PictureInPictureState`` it is in all follow from it.
enum PictureInPicturePhase: Equatable {
  /// The controller finds out whether a window can be shown here.
  case settingUp
  /// The set-up failed, because no window can be shown here.
  case unavailable
  /// There is no window.
  case idle(Plan)
  /// From `willStart` until the window shows its first picture.
  case starting(Run)
  /// From `didStart` to `willStop`.
  case active(Run)
  /// From `willStop` to `didStop`. The window may still be open.
  case stopping(Run, PictureInPictureStopReason)
  /// Nothing starts before picture-in-picture is set up again.
  case uninitialized

  /// What makes an idle controller start by itself, apart from the background.
  enum Plan: Equatable {
    /// Nothing does.
    case nothing
    /// It starts with the first picture of its stream.
    case picture
    /// It starts again after a pause, because the window of this run could not be created or died.
    case retry(Run)
  }

  /// One run of picture-in-picture, from `willStart` to `didStop` or `failedToStart`.
  struct Run: Equatable {
    /// The run's number, unique within the controller.
    let number: Int
    /// The stream in the window. A stream that is chosen while the window is being closed belongs to the next run.
    var streamID: StreamID
    /// How many attempts in a row have failed before.
    var attempt: Int
    /// Whether it started because the app went to the background. If so, it ends when the app returns.
    var isAutomatic: Bool
    /// Whether the window is open.
    var hasWindow = false
    /// Whether the controller knows that the app is in the background.
    var isMinimized = false
    /// Whether the user cannot see the window.
    var isSuspended = false
  }

  /// The current run; nil while there is none.
  var run: Run? {
    switch self {
    case .starting(let run), .active(let run), .stopping(let run, _): run
    case .settingUp, .unavailable, .idle, .uninitialized: nil
    }
  }

  /// Whether the window shows a stream, or is about to.
  var isOpen: Bool { if case .stopping = self { false } else { run != nil } }

  /// The same phase with other data of its run.
  func with(_ run: Run) -> PictureInPicturePhase {
    switch self {
    case .stopping(_, let reason): .stopping(run, reason)
    case .active: .active(run)
    default: .starting(run)
    }
  }

  /// The corresponding state for apps.
  ///
  /// - Parameters:
  ///   - last: the state that was reported last. An idle controller stays where the last run left it: the diagram leads
  ///     from PIPActive to PIPEnabled, and from there only to another start, but from AppMinimized to Initialized.
  ///   - startsAutomatically: whether the app's going to the background starts picture-in-picture.
  func state(after last: PictureInPictureState, startsAutomatically: Bool) -> PictureInPictureState {
    switch self {
    case .settingUp: .initializing
    case .unavailable: .error
    case .active(let run): run.isMinimized ? .appMinimized : .active
    case .uninitialized: .uninitialized
    // The app is in the foreground before the window closes. After an automatic start, picture-in-picture may start
    // automatically again, and that state is reported instead.
    case .stopping(let run, .backToApp) where !run.isAutomatic: .enabled
    // A start by the user has been prepared, even if it is cancelled then.
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
