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
    if controls.focused != nil, useControl(keysym) { return true }
    if keyPressed?(keysym) == true { return true }
    let actions = presentation?.actions ?? []
    if let isAfter = Self.isForNext(keysym) {
      controls.moveFocus(isAfter: isAfter)
      return true
    }
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

/// Using the controls without a pointer.
extension PictureInPictureWindow {
  package var focusedAction: PictureInPictureAction? { controls.focused }

  package func takeKeyboard() -> Bool {
    guard isOpen, let native, native.takeKeyboard() else { return false }
    if hasKeyboard { controls.focusFirst() } else { awaitsKeyboard = true }
    return true
  }

  /// Called when the window has got the keyboard or has lost it.
  func didChangeKeyboard(_ isHere: Bool) {
    hasKeyboard = isHere
    guard isHere else { return controls.endFocus() }
    if awaitsKeyboard { controls.focusFirst() }
    awaitsKeyboard = false
  }

  /// Whether a key leads to the next control, or to the one before, also where the keyboard uses none; nil for other keys.
  static func isForNext(_ keysym: UInt32) -> Bool? {
    switch Int32(bitPattern: keysym) {
    case XKB_KEY_Tab, XKB_KEY_F6: true
    case XKB_KEY_ISO_Left_Tab: false
    default: nil
    }
  }

  /// How far the keys go on the bar for seeking, in seconds.
  private static let seekStep = 5.0

  /// Does what a key means while the keyboard uses a control.
  ///
  /// - Returns: whether it means anything.
  private func useControl(_ keysym: UInt32) -> Bool {
    guard let focused = controls.focused else { return false }
    switch Int32(bitPattern: keysym) {
    case XKB_KEY_Escape where !isFullscreen, XKB_KEY_F6:
      controls.endFocus()
      native?.returnKeyboard()
    case XKB_KEY_Tab: controls.moveFocus(isAfter: true)
    case XKB_KEY_ISO_Left_Tab: controls.moveFocus(isAfter: false)
    case XKB_KEY_Left, XKB_KEY_Right:
      let direction = keysym == UInt32(XKB_KEY_Right) ? 1 : -1
      guard focused == .seek else {
        controls.moveFocus(x: direction, y: 0)
        break
      }
      seek(by: Self.seekStep * Double(direction))
    case XKB_KEY_Up: controls.moveFocus(x: 0, y: -1)
    case XKB_KEY_Down: controls.moveFocus(x: 0, y: 1)
    case XKB_KEY_Return, XKB_KEY_KP_Enter, XKB_KEY_space:
      if focused != .seek { eventHandler?(.action(focused)) }
    default: return false
    }
    return true
  }

  private func seek(by seconds: Double) {
    guard let progress = presentation?.progress else { return }
    let target = max(0, min(progress.position.seconds + seconds, progress.duration.seconds))
    eventHandler?(.seek(to: MediaTime(seconds: target)))
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
      case .toggleCaptions: self = .captions
      case .toggleMute: self = actions.contains(.microphone) && !actions.contains(.mute) ? .microphone : .mute
      default: return nil
      }
    }
  }
}
