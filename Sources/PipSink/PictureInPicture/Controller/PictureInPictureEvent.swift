/// What a ``PictureInPictureController`` reports.
///
/// The order is guaranteed. A run begins with `willStart`, followed by either `failedToStart` or `didStart`. Only after
/// `didStart` come `willStop`, possibly `restoreUserInterface` and `restoreFailed`, and `didStop`, and only then the
/// next `willStart`. All other events come during a run (the window's first `renderSizeChanged` comes before its first
/// picture), except for `stateChanged`, `sourceChanged`, `layoutChanged` and `clickThroughChanged`, which may come at any
/// time.
public enum PictureInPictureEvent: Equatable, Sendable {
  /// Picture-in-picture begins to start.
  case willStart
  /// The window shows a picture. `latency` is the time since the start was requested; it is nil when no picture came in
  /// time, or before the user went back to the app.
  case didStart(latency: Duration?)
  /// Picture-in-picture did not start. All streams go on in the app.
  case failedToStart(PipSinkError)
  /// Picture-in-picture begins to stop.
  case willStop(PictureInPictureStopReason)
  /// The user wants to go back to the app, and the app is asked to show its window again.
  case restoreUserInterface
  /// The app cannot show its window, or has not answered in time
  /// (``PipSinkError/PictureInPicture/notRestored(reason:)``). Picture-in-picture stops all the same.
  case restoreFailed(PipSinkError)
  /// Picture-in-picture has stopped, and the window is closed.
  case didStop(PictureInPictureStopReason)
  /// The window has a new size, in pixels.
  case renderSizeChanged(PictureSize)
  /// ``PictureInPictureController/currentStreamID`` is another stream now. It is in the window or, while the window is
  /// closed, will be shown by the next start.
  case sourceChanged(from: StreamID, to: StreamID)
  /// One transition in the diagram of ``PictureInPictureState``. When one change causes several transitions, each is reported, while
  /// ``PictureInPictureController/state`` is already the last of them.
  case stateChanged(PictureInPictureState)
  /// The user cannot see the window any more, or can see it again.
  case suspendedChanged(Bool)
  /// The window arranges its streams in another way (``PictureInPictureController/Configuration/layout``).
  case layoutChanged(PictureInPictureLayout)
  /// The window lets presses through to what is below it, or takes them again
  /// (``PictureInPictureController/Configuration/isClickThrough``).
  case clickThroughChanged(Bool)
  /// The user has used a control that the app or its session handles.
  case action(PictureInPictureAction)
}

/// Why picture-in-picture ended.
public enum PictureInPictureStopReason: Equatable, Sendable {
  /// The app asked for it.
  case requested
  /// The user went back to the app.
  case backToApp
  /// The user closed the window.
  case closed
  /// Picture-in-picture had started automatically, and the app returned to the foreground.
  case foreground
  /// No stream is left to show, or the stream in the window ended and ``PictureInPictureEndAction/stop`` applies.
  case sourceEnded
  /// The window died.
  case failed(PipSinkError)
  /// ``PictureInPictureController/uninitialize()`` was called.
  case uninitialized
}
