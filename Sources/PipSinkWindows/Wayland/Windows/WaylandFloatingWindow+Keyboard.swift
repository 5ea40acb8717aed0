import PipSink

/// What a layer knows of the keyboard.
struct LayerKeyboard {
  /// Whether the layer accepts keys.
  var isAccepted = false
  /// Whether the keyboard was taken without a press, so that it does not depend on the pointer.
  var isKept = false
  /// Whether the layer has the keyboard.
  var isHere = false
  /// The callback that is awaited after the layer has asked for the keyboard or given it back.
  var question: WaylandProxy?
}

/// Taking the keyboard and giving it back.
extension WaylandFloatingWindow {
  /// Sets whether a layer has the keyboard, which it gets by a press, or because the user wants to use it without a
  /// pointer.
  ///
  /// A layer that accepts keys on demand gets them in sway 1.7 as soon as it appears or the pointer is on it, and in
  /// newer versions only by a press after that. So the layer accepts none until it should have the keyboard, and then
  /// demands it for a moment, which every compositor grants at once. A compositor that takes it away when the moment is
  /// over, as sway 1.10 does, is asked for it until the layer gives it back.
  func acceptKeys(_ isAccepted: Bool) {
    // Before version 4 of layer-shell, a layer could only have the keyboard exclusively.
    guard let layer, layer.version >= 4, isAccepted != keyboard.isAccepted else { return }
    keyboard.isAccepted = isAccepted
    setInteractivity(isAccepted ? [.exclusive, .onDemand] : [.none])
    keyboard.question = nil
    if isAccepted { askForKeyboard() }
    flush()
  }

  private func setInteractivity(_ values: [ZWLRLayerSurface.KeyboardInteractivity]) {
    for value in values {
      layer?.setKeyboardInteractivity(value)
      surface?.commit()
    }
  }

  private func askForKeyboard() {
    keyboard.question = connection.loop.ask { [signals] in signals.append(.keyboardSettled) }
  }

  /// Called when the compositor has done what was asked about the keyboard.
  func keyboardDidSettle() {
    keyboard.question = nil
    if keyboard.isAccepted, !keyboard.isHere {
      setInteractivity([.exclusive])
      return flush()
    }
    if !keyboard.isAccepted, keyboard.isHere {
      // KWin leaves the keyboard to a layer that does not accept keys any more, until the layer goes.
      takeAway()
      appear()
    }
    report(.keyboard(keyboard.isHere))
  }

  func takeKeyboard() -> Bool {
    guard role == .layer else {
      guard globals.activation != nil else { return false }
      Task { await self.activate() }
      return true
    }
    guard let layer else { return false }
    keyboard.isKept = true
    guard layer.version < 4 else {
      // The compositor may have given the keyboard to another window since.
      keyboard.isAccepted = false
      acceptKeys(true)
      return true
    }
    setInteractivity([.exclusive])
    flush()
    return true
  }

  func returnKeyboard() {
    guard keyboard.isKept else { return }
    (keyboard.isKept, keyboard.isAccepted) = (false, false)
    setInteractivity([.none])
    askForKeyboard()
    flush()
  }

  /// Notes that the layer has got the keyboard or has lost it.
  ///
  /// - Returns: whether the window's owner is told now. While the compositor has not answered, it is not certain who has
  ///   the keyboard.
  func note(hasKeys: Bool) -> Bool {
    keyboard.isHere = hasKeys
    guard keyboard.question == nil else { return false }
    // The user has chosen another window.
    if !hasKeys {
      keyboard.isKept = false
      acceptKeys(false)
    }
    return true
  }
}
