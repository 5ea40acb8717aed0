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

/// What an app does about picture-in-picture. All calls come on the main actor, in the order of
/// ``PictureInPictureEvent``; a method that is not written does nothing.
@MainActor
public protocol PictureInPictureControllerDelegate: AnyObject {
  func pictureInPictureControllerWillStart(_ controller: PictureInPictureController)
  func pictureInPictureControllerDidStart(_ controller: PictureInPictureController)
  func pictureInPictureController(_ controller: PictureInPictureController, failedToStartWith error: PipSinkError)
  func pictureInPictureControllerWillStop(_ controller: PictureInPictureController)
  func pictureInPictureController(
    _ controller: PictureInPictureController, didStopBecause reason: PictureInPictureStopReason)
  /// Shows the app's window again.
  ///
  /// - Returns: whether it could. Picture-in-picture ends either way; without an answer within five seconds, too.
  func pictureInPictureControllerRestoreUserInterface(_ controller: PictureInPictureController) async -> Bool
  func pictureInPictureController(
    _ controller: PictureInPictureController, didTransitionToRenderSize size: PictureSize)
  func pictureInPictureController(
    _ controller: PictureInPictureController, didChangeSourceFrom old: StreamID, to new: StreamID)
  /// The user chose mute, or play and pause of a source without a playback delegate.
  func pictureInPictureController(_ controller: PictureInPictureController, didReceive action: PictureInPictureAction)
}

extension PictureInPictureControllerDelegate {
  public func pictureInPictureControllerWillStart(_ controller: PictureInPictureController) {}
  public func pictureInPictureControllerDidStart(_ controller: PictureInPictureController) {}
  public func pictureInPictureController(
    _ controller: PictureInPictureController, failedToStartWith error: PipSinkError
  ) {}
  public func pictureInPictureControllerWillStop(_ controller: PictureInPictureController) {}
  public func pictureInPictureController(
    _ controller: PictureInPictureController, didStopBecause reason: PictureInPictureStopReason
  ) {}
  public func pictureInPictureControllerRestoreUserInterface(
    _ controller: PictureInPictureController
  ) async -> Bool { true }
  public func pictureInPictureController(
    _ controller: PictureInPictureController, didTransitionToRenderSize size: PictureSize
  ) {}
  public func pictureInPictureController(
    _ controller: PictureInPictureController, didChangeSourceFrom old: StreamID, to new: StreamID
  ) {}
  public func pictureInPictureController(
    _ controller: PictureInPictureController, didReceive action: PictureInPictureAction
  ) {}
}

extension PictureInPictureControllerDelegate {
  func receive(_ event: PictureInPictureEvent, from controller: PictureInPictureController) {
    switch event {
    case .willStart: pictureInPictureControllerWillStart(controller)
    case .didStart: pictureInPictureControllerDidStart(controller)
    case .failedToStart(let error): pictureInPictureController(controller, failedToStartWith: error)
    case .willStop: pictureInPictureControllerWillStop(controller)
    case .didStop(let reason): pictureInPictureController(controller, didStopBecause: reason)
    case .renderSizeChanged(let size): pictureInPictureController(controller, didTransitionToRenderSize: size)
    case .sourceChanged(let old, let new): pictureInPictureController(controller, didChangeSourceFrom: old, to: new)
    case .action(let action): pictureInPictureController(controller, didReceive: action)
    case .restoreUserInterface, .restoreFailed, .stateChanged, .suspendedChanged: break
    }
  }
}
