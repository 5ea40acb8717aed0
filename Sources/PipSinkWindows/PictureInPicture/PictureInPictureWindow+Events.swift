import PipSink

/// What the window does about the events of its display server.
extension PictureInPictureWindow {
  func handle(_ event: WindowEvent) {
    guard let native else { return }
    switch event {
    case .resized: didResize(native)
    case .exposed: draw()
    case .pressed(let button, let place, let time):
      // The keyboard comes because of the press now.
      awaitsKeyboard = false
      pointer.press(button, place, time)
    case .released(let button, let place): pointer.release(button, place)
    case .moved(let place): pointer.move(place)
    case .entered: pointer.enter()
    case .scrolled(let place, let deltaX, let deltaY):
      if !pointer.scroll(place, deltaX, deltaY) { scroll(deltaY) }
    case .left:
      controls.leave()
      pointer.leave()
      scrollRest = 0
    case .keyboard(let isHere): didChangeKeyboard(isHere)
    case .key(let key): press(key)
    case .closeRequested: eventHandler?(.action(.close))
    case .stateChanged:
      noteFullscreen()
      if isOpen { eventHandler?(.visibilityChanged(!native.isMinimized)) }
    case .screenChanged:
      // The window's monitor may have been disconnected, or a panel may have appeared in the window's place.
      if isOpen, !pointer.isActive { returnToMonitor() }
    case .dragLost: pointer.cancel()
    case .lost: lose()
    }
  }

  /// Called when the display server has gone or has destroyed the window.
  private func lose() {
    let wasOpen = isOpen
    let hasServer = (try? makeNative { _ in }) != nil
    close()
    letGo()
    guard wasOpen else { return }
    let reason = hasServer ? "it was killed" : "the display server has gone"
    eventHandler?(.lost(.pictureInPicture(.windowLost(reason: reason))))
  }

  private func didResize(_ native: any NativePictureInPictureWindow) {
    let isNew = size != native.size
    size = native.size
    if follow(native) {
      draw()
      if isOpen, !pointer.isActive {
        resize(toWidth: placement.width)
        snap(to: placement.corner)
      }
    }
    if isNew {
      divide()
      if isOpen { eventHandler?(.renderSizeChanged(size)) }
    }
    guard isOpen else { return }
    if isNew { noteAnswer() }
    // The user may still be moving or resizing the window.
    settling?.cancel()
    settling = Task { [weak self] in
      try? await Task.sleep(for: Self.settlingTime)
      if !Task.isCancelled { self?.acceptPlace() }
    }
  }

  /// Takes over a place and a size that the desktop has given the window.
  private func acceptPlace() {
    settling = nil
    noteChange()
  }
}
