import PipSink

/// What the window does itself of its controls: it fills the monitor, and takes another size.
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
}
