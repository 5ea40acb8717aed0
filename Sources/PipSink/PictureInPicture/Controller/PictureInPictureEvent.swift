/// What a ``PictureInPictureController`` reports.
///
/// The order is guaranteed: `willStart`, then either `failedToStart` or `didStart`; after `didStart`, and only then,
/// `willStop`, perhaps `restoreUserInterface` and `restoreFailed`, and `didStop`; only then the next `willStart`. The others come between
/// `willStart` and the end of the run (the window's first `renderSizeChanged` before its first picture), but `stateChanged`
/// and `sourceChanged` at any time.
public enum PictureInPictureEvent: Equatable, Sendable {
  case willStart
  /// The window shows a picture. `latency` is the time from the request to that; nil when no picture came in time.
  case didStart(latency: Duration?)
  /// Everything goes on in the app.
  case failedToStart(PipSinkError)
  case willStop(PictureInPictureStopReason)
  /// The user wants to go back to the app; it is asked to show its window again.
  case restoreUserInterface
  /// The app has answered that it cannot show its window, or has not answered in time
  /// (``PipSinkError/PictureInPicture/notRestored(reason:)``). Picture-in-picture stops all the same.
  case restoreFailed(PipSinkError)
  case didStop(PictureInPictureStopReason)
  /// In pixels.
  case renderSizeChanged(PictureSize)
  /// Another stream is ``PictureInPictureController/currentStreamID``: it is in the window from now on, or, where there is
  /// none, the next start shows it.
  case sourceChanged(from: StreamID, to: StreamID)
  /// One transition of ZEGO's diagram. Where one thing brings about several, each is told, and
  /// ``PictureInPictureController/state`` is already the last of them.
  case stateChanged(PictureInPictureState)
  /// Whether the user can see the window.
  case suspendedChanged(Bool)
  /// The user chose a control that is the app's business.
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
  /// It had started by itself, and the app came back.
  case foreground
  /// There is no stream left to show.
  case sourceEnded
  /// The window died.
  case failed(PipSinkError)
  /// Picture-in-picture was given up (``PictureInPictureController/uninitialize()``).
  case uninitialized
}
