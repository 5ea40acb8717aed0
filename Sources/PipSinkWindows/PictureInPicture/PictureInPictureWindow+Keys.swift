import CWindows
import PipSink

/// What the wheel and the keys do in the window.
extension PictureInPictureWindow {
  /// Makes the window larger or smaller by a tenth, in the direction that the wheel was turned.
  func scroll(_ deltaY: Double) {
    guard deltaY != 0 else { return }
    noteChange()
    resize(toWidth: placement.width(scrolledBy: deltaY < 0 ? 1 : -1))
    snap(to: placement.corner)
    remember()
  }

  func press(_ key: WindowKey) {
    if let command = key.command, perform(command) {
      handledKey = key.symbol
    } else if !key.isRepeat || key.symbol != handledKey {
      // A key that is held goes where its press went.
      handledKey = nil
      otherKeyPressed?(key)
    }
  }

  /// Does what a key means.
  ///
  /// - Returns: whether it means anything now.
  private func perform(_ keysym: UInt32) -> Bool {
    if keyPressed?(keysym) == true { return true }
    let actions = presentation?.actions ?? []
    guard let action = PictureInPictureAction(key: keysym, among: actions), actions.contains(action) else {
      return false
    }
    eventHandler?(.action(action))
    return true
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
