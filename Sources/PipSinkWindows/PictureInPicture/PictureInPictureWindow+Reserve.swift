import PipSink

/// How the window keeps out of the user's way, and fills the monitor when the user wants that.
extension PictureInPictureWindow: DesktopPictureInPictureHost {
  package var abilities: Set<PictureInPictureAction> {
    var abilities: Set<PictureInPictureAction> = [.changeSize]
    if native?.canBeFullscreen == true { abilities.insert(.fullscreen) }
    if native?.canLetPointerThrough == true { abilities.insert(.clickThrough) }
    return abilities
  }

  package var isFullscreen: Bool { native?.isFullscreen ?? false }

  package func toggleFullscreen() {
    guard isOpen, let native, native.canBeFullscreen else { return }
    noteChange()
    pointer.cancel()
    native.setFullscreen(!native.isFullscreen)
    noteFullscreen()
  }

  /// Called when the window may fill its monitor now, or not any more. The user may have ended that through the desktop.
  func noteFullscreen() {
    guard isOpen, isFullscreen != wasFullscreen else { return }
    wasFullscreen = isFullscreen
    guard !isFullscreen else { return forgetRequest() }
    resize(toWidth: placement.width)
    snap(to: placement.corner)
    native?.flush()
  }

  package func changeSize() {
    guard isOpen, let native, !native.isFullscreen else { return }
    noteChange()
    resize(toWidth: WindowPlacement.width(after: placement.width, in: native.workArea))
    snap(to: placement.corner)
    remember()
  }

  /// Whether the window would go out of the way of a pointer that comes. A pointer that follows it is meant for it.
  var mayStepAside: Bool {
    guard let presentation, presentation.stepsAside, !presentation.isClickThrough, isOpen, !pointer.isActive,
      !isFullscreen
    else { return false }
    return steppedAside.map { .now - $0 >= followingTime } ?? true
  }

  /// Goes to the corner beside the window's own one, where that is wanted, because the pointer has come. A window that
  /// opens under a pointer which rests stays there: an Xwayland also believes that the pointer is where it was last.
  ///
  /// - Returns: whether it went there.
  func stepAside() -> Bool {
    guard mayStepAside else { return false }
    steppedAside = .now
    noteChange()
    snap(to: placement.corner.beside)
    native?.flush()
    return true
  }
}
