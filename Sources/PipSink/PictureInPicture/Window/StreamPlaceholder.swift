/// What is shown instead of a stream's picture, in the app and in picture-in-picture.
public enum StreamPlaceholder: Hashable, Sendable {
  /// No frame has arrived yet.
  case waiting
  /// The camera is off.
  case cameraOff
  /// The stream has sound and no picture.
  case audioOnly
  /// The frames have stopped, and are expected to return.
  case reconnecting
  /// In the app alone: the stream is shown in picture-in-picture instead.
  case inPictureInPicture
  /// The stream has ended.
  case ended
  /// The stream has failed and is not tried again. The reason is for the user.
  case failed(String)
}

extension StreamPlaceholder {
  /// The text that is shown in place of the stream's picture, as ``ShownTexts/current`` has it now. An app that shows
  /// its streams itself shows it, too.
  public var text: String {
    let texts = ShownTexts.current
    return switch self {
    case .waiting: texts.waiting
    case .cameraOff: texts.cameraOff
    case .audioOnly: texts.audioOnly
    case .reconnecting: texts.reconnecting
    case .inPictureInPicture: texts.inPictureInPicture
    case .ended: texts.ended
    case .failed(let reason): texts.failed.replacing("{reason}", with: reason)
    }
  }
}
