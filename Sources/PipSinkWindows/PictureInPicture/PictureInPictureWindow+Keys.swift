import CWindows
import PipSink

/// What the wheel and the keys do in the window.
extension PictureInPictureWindow {
  /// Makes the window larger or smaller, by a tenth for each step of the wheel.
  func scroll(_ deltaY: Double) {
    // A touchpad sends small parts of a step. Those in the other direction begin a step of their own.
    if deltaY * scrollRest < 0 { scrollRest = 0 }
    scrollRest += deltaY
    // What one event asks for is limited, because the display server may send any number.
    let steps = max(-10, min(scrollRest.rounded(.towardZero), 10))
    guard steps != 0 else { return }
    scrollRest = (scrollRest - steps).truncatingRemainder(dividingBy: 1)
    findMonitor()
    resize(toWidth: placement.width(scrolledBy: -Int(steps)))
    snap(to: placement.corner)
    remember()
  }

  func press(key: UInt32) {
    if keyPressed?(key) == true { return }
    let actions = presentation?.actions ?? []
    guard let action = PictureInPictureAction(key: key, among: actions), actions.contains(action) else {
      otherKeyPressed?(key)
      return
    }
    eventHandler?(.action(action))
  }
}

extension PictureInPictureAction {
  /// Finds the action of one of the window's keys. It is nil for a key that the window does not know.
  ///
  /// - Parameters:
  ///   - key: a keysym.
  ///   - actions: the actions that are available now.
  package init?(key: UInt32, among actions: Set<PictureInPictureAction>) {
    switch Int32(bitPattern: key) {
    case XKB_KEY_Escape: self = .close
    case XKB_KEY_Return: self = .backToApp
    case XKB_KEY_Left: self = actions.contains(.skipBackward) ? .skipBackward : .previousStream
    case XKB_KEY_Right: self = actions.contains(.skipForward) ? .skipForward : .nextStream
    default:
      switch Character(keysym: key).flatMap({ SessionAction(key: $0) }) {
      case .togglePause: self = .playPause
      case .toggleMute: self = .mute
      default: return nil
      }
    }
  }
}

extension Character {
  /// The ASCII character of a keysym, which has the same number; nil for other keys.
  package init?(keysym: UInt32) {
    guard keysym < 128, let scalar = Unicode.Scalar(keysym) else { return nil }
    self.init(scalar)
  }
}
