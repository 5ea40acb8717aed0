/// What an app does about picture-in-picture. Every method is called on the main actor, in the order that
/// ``PictureInPictureEvent`` describes. Methods that are not implemented do nothing.
@MainActor
public protocol PictureInPictureControllerDelegate: AnyObject {
  /// Called when picture-in-picture begins to start.
  func pictureInPictureControllerWillStart(_ controller: PictureInPictureController)
  /// Called when the window shows a picture, or no picture came in time.
  func pictureInPictureControllerDidStart(_ controller: PictureInPictureController)
  /// Called when picture-in-picture did not start. All streams go on in the app.
  func pictureInPictureController(_ controller: PictureInPictureController, failedToStartWith error: PipSinkError)
  /// Called when picture-in-picture begins to stop.
  func pictureInPictureControllerWillStop(_ controller: PictureInPictureController)
  /// Called when picture-in-picture has stopped and the window is closed.
  func pictureInPictureController(
    _ controller: PictureInPictureController, didStopBecause reason: PictureInPictureStopReason)
  /// Shows the app's window again, because the user went back to the app.
  ///
  /// - Returns: whether the window is shown. Picture-in-picture ends in either case, and also when there is no answer
  ///   within ``PictureInPictureController/Configuration/restoreTimeout``.
  func pictureInPictureControllerRestoreUserInterface(_ controller: PictureInPictureController) async -> Bool
  /// Called when the window has a new size, in pixels.
  func pictureInPictureController(
    _ controller: PictureInPictureController, didTransitionToRenderSize size: PictureSize)
  /// Called when ``PictureInPictureController/currentStreamID`` has changed.
  func pictureInPictureController(
    _ controller: PictureInPictureController, didChangeSourceFrom old: StreamID, to new: StreamID)
  /// Called when the user has used a control that the app handles (``PictureInPictureController/handledActions``).
  func pictureInPictureController(_ controller: PictureInPictureController, didReceive action: PictureInPictureAction)
}

extension PictureInPictureControllerDelegate {
  /// Does nothing.
  public func pictureInPictureControllerWillStart(_ controller: PictureInPictureController) {}
  /// Does nothing.
  public func pictureInPictureControllerDidStart(_ controller: PictureInPictureController) {}
  /// Does nothing.
  public func pictureInPictureController(
    _ controller: PictureInPictureController, failedToStartWith error: PipSinkError
  ) {}
  /// Does nothing.
  public func pictureInPictureControllerWillStop(_ controller: PictureInPictureController) {}
  /// Does nothing.
  public func pictureInPictureController(
    _ controller: PictureInPictureController, didStopBecause reason: PictureInPictureStopReason
  ) {}
  /// Returns true.
  public func pictureInPictureControllerRestoreUserInterface(
    _ controller: PictureInPictureController
  ) async -> Bool { true }
  /// Does nothing.
  public func pictureInPictureController(
    _ controller: PictureInPictureController, didTransitionToRenderSize size: PictureSize
  ) {}
  /// Does nothing.
  public func pictureInPictureController(
    _ controller: PictureInPictureController, didChangeSourceFrom old: StreamID, to new: StreamID
  ) {}
  /// Does nothing.
  public func pictureInPictureController(
    _ controller: PictureInPictureController, didReceive action: PictureInPictureAction
  ) {}
}

extension PictureInPictureControllerDelegate {
  /// Calls the method for an event.
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
