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
