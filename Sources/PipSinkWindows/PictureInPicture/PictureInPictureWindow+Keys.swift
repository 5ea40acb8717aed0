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
    guard steps != 0, !isFullscreen else { return }
    scrollRest = (scrollRest - steps).truncatingRemainder(dividingBy: 1)
    noteChange()
    resize(toWidth: placement.width(scrolledBy: -Int(steps)))
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
    if keysym == UInt32(XKB_KEY_Escape), isFullscreen {
      eventHandler?(.action(.fullscreen))
      return true
    }
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
      case .toggleFullscreen: self = .fullscreen
      case .toggleMute: self = actions.contains(.microphone) && !actions.contains(.mute) ? .microphone : .mute
      default: return nil
      }
    }
  }
}
